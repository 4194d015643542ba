//! The packets of ARP for Ethernet and IPv4 (RFC 826), which RARP uses, too.

use std::net::Ipv4Addr;

use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr,
};

/// Ethernet's header, then ARP's packet.
const LENGTH: usize = 14 + 28;

pub(crate) const EVERYBODY: [u8; 6] = [0xff; 6];

/// A machine's hardware address and IP address.
pub(crate) type Addresses = ([u8; 6], Ipv4Addr);

/// Reads a frame of this protocol: the operation, the sender's addresses, and the target's.
pub(crate) fn read(protocol: EthernetProtocol, frame: &[u8]) -> Option<(ArpOperation, Addresses, Addresses)> {
    let frame = EthernetFrame::new_checked(frame).ok().filter(|frame| frame.ethertype() == protocol)?;
    let packet = ArpPacket::new_checked(frame.payload()).ok()?;
    match ArpRepr::parse(&packet).ok()? {
        ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr,
            source_protocol_addr,
            target_hardware_addr,
            target_protocol_addr,
        } => {
            let source = (source_hardware_addr.0, source_protocol_addr);
            Some((operation, source, (target_hardware_addr.0, target_protocol_addr)))
        }
        _ => None,
    }
}

/// Makes a frame to one hardware address, or to all.
pub(crate) fn written(
    protocol: EthernetProtocol,
    operation: ArpOperation,
    source: Addresses,
    target: Addresses,
    to: [u8; 6],
) -> Vec<u8> {
    let mut bytes = vec![0; LENGTH];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes);
    let head = EthernetRepr {
        src_addr: EthernetAddress(source.0),
        dst_addr: EthernetAddress(to),
        ethertype: protocol,
    };
    head.emit(&mut frame);
    let arp = ArpRepr::EthernetIpv4 {
        operation,
        source_hardware_addr: EthernetAddress(source.0),
        source_protocol_addr: source.1,
        target_hardware_addr: EthernetAddress(target.0),
        target_protocol_addr: target.1,
    };
    arp.emit(&mut ArpPacket::new_unchecked(frame.payload_mut()));
    bytes
}
