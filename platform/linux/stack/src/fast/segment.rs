//! TCP segments in Ethernet frames.

use std::net::SocketAddrV4;

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpProtocol, Ipv4Packet, Ipv4Repr,
    TcpPacket, TcpRepr,
};

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub hardware: [u8; 6],
    pub address: SocketAddrV4,
}

/// Reads a frame with correct checksums: its two ends and its segment.
pub(super) fn read(frame: &[u8]) -> Option<(End, End, TcpRepr<'_>)> {
    let sums = ChecksumCapabilities::default();
    let frame = EthernetFrame::new_checked(frame).ok()?;
    if frame.ethertype() != EthernetProtocol::Ipv4 {
        return None;
    }
    let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
    let head = Ipv4Repr::parse(&packet, &sums).ok()?;
    if head.next_header != IpProtocol::Tcp || packet.more_frags() || packet.frag_offset() != 0 {
        return None;
    }
    let segment = TcpPacket::new_checked(packet.payload()).ok()?;
    let segment = TcpRepr::parse(&segment, &head.src_addr.into(), &head.dst_addr.into(), &sums).ok()?;
    let end = |hardware: EthernetAddress, address, port| End {
        hardware: hardware.0,
        address: SocketAddrV4::new(address, port),
    };
    let from = end(frame.src_addr(), head.src_addr, segment.src_port);
    Some((from, end(frame.dst_addr(), head.dst_addr, segment.dst_port), segment))
}

/// Makes a frame with a segment, with the ends' ports.
pub(super) fn frame(from: &End, to: &End, segment: &TcpRepr<'_>) -> Vec<u8> {
    let segment = TcpRepr { src_port: from.address.port(), dst_port: to.address.port(), ..*segment };
    let sums = ChecksumCapabilities::default();
    let packet = Ipv4Repr {
        src_addr: *from.address.ip(),
        dst_addr: *to.address.ip(),
        next_header: IpProtocol::Tcp,
        payload_len: segment.buffer_len(),
        hop_limit: 64,
    };
    let ethernet = EthernetRepr {
        src_addr: EthernetAddress(from.hardware),
        dst_addr: EthernetAddress(to.hardware),
        ethertype: EthernetProtocol::Ipv4,
    };
    let mut bytes = vec![0; ethernet.buffer_len() + packet.buffer_len() + segment.buffer_len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes);
    ethernet.emit(&mut frame);
    let mut out = Ipv4Packet::new_unchecked(frame.payload_mut());
    packet.emit(&mut out, &sums);
    let mut out = TcpPacket::new_unchecked(out.payload_mut());
    segment.emit(&mut out, &packet.src_addr.into(), &packet.dst_addr.into(), &sums);
    bytes
}
