//! Filters by names of protocol fields, for packets that begin with an Ethernet header. Each protocol has methods for
//! its fields: `Filter::ethernet().ipv4().source([10, 0, 0, 1]).udp().destination_port(53)`.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::filter::Filter;
use super::test::{Cell, Condition, Size, Test};

const VLAN: u32 = 0x8100;
const IPV4: u32 = 0x800;
const ARP: u32 = 0x806;
const IPV6: u32 = 0x86dd;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Ethernet packets.
#[derive(Clone, Debug)]
pub struct Ethernet {
    filter: Filter,
    /// The offset of the type field.
    type_at: u32,
}

/// ARP packets for IPv4.
#[derive(Clone, Debug)]
pub struct Arp {
    filter: Filter,
    begin: u32,
}

/// IP packets, with addresses of so many bytes: [`Ipv4`] or [`Ipv6`].
#[derive(Clone, Debug)]
pub struct Ip<const BYTES: usize> {
    filter: Filter,
    /// The offset of the addresses, of which the source's is first.
    addresses_at: u32,
    /// The offset of the protocol's number.
    protocol_at: u32,
    /// The ports, for protocols that have them, and the tests for packets with ports.
    ports: (Cell, Cell, Option<Test>),
}

/// IPv4 packets.
pub type Ipv4 = Ip<4>;

/// IPv6 packets without extension headers.
pub type Ipv6 = Ip<16>;

/// Packets of a protocol with ports.
#[derive(Clone, Debug)]
pub struct Ports {
    filter: Filter,
    source: Cell,
    destination: Cell,
    /// Tests for packets that have ports.
    is_first_fragment: Option<Test>,
}

impl Filter {
    /// All packets that begin with an Ethernet header.
    pub fn ethernet() -> Ethernet {
        Ethernet { filter: Filter::everything(), type_at: 12 }
    }

    /// Adds a test.
    fn and(self, test: Test) -> Filter {
        let with = |tests: &Vec<Test>| tests.iter().copied().chain([test]).collect();
        Filter::any_of(self.alternatives().iter().map(with).collect())
    }

    /// Adds a test for the first bits of an address at an offset.
    fn and_address(self, offset: u32, address: &[u8], bits: u32) -> Filter {
        address.chunks_exact(4).zip((0u32..).step_by(4)).fold(self, |filter, (word, at)| {
            let value = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
            let mask = match bits.saturating_sub(8 * at) {
                0 => return filter,
                bits => u32::MAX << (32 - bits.min(32)),
            };
            filter.and(Test::is(Cell::word(offset + at), value & mask).masked(mask))
        })
    }
}

impl Ethernet {
    /// To this station.
    pub fn destination(self, address: [u8; 6]) -> Ethernet {
        self.station(0, address)
    }

    /// From this station.
    pub fn source(self, address: [u8; 6]) -> Ethernet {
        self.station(6, address)
    }

    /// In this virtual network. Fields named after this are those of the packet in it.
    pub fn vlan(self, number: u16) -> Ethernet {
        let type_at = self.type_at;
        let tag = Test::is(Cell::half(type_at + 2), number.into()).masked(0xfff);
        Ethernet { filter: self.of_type(VLAN).and(tag), type_at: type_at + 4 }
    }

    /// With this type field.
    pub fn ethernet_type(self, number: u16) -> Filter {
        self.of_type(number.into())
    }

    /// ARP requests and replies.
    pub fn arp(self) -> Arp {
        let begin = self.type_at + 2;
        Arp { filter: self.of_type(ARP), begin }
    }

    /// IPv4 packets.
    pub fn ipv4(self) -> Ipv4 {
        let begin = self.type_at + 2;
        let port = |offset| Cell::Behind { header: begin, offset, size: Size::Half };
        let is_first_fragment = Test::is(Cell::half(begin + 6), 0).masked(0x1fff);
        let ports = (port(begin), port(begin + 2), Some(is_first_fragment));
        Ip { filter: self.of_type(IPV4), addresses_at: begin + 12, protocol_at: begin + 9, ports }
    }

    /// IPv6 packets.
    pub fn ipv6(self) -> Ipv6 {
        let begin = self.type_at + 2;
        let ports = (Cell::half(begin + 40), Cell::half(begin + 42), None);
        Ip { filter: self.of_type(IPV6), addresses_at: begin + 8, protocol_at: begin + 6, ports }
    }

    fn of_type(self, number: u32) -> Filter {
        self.filter.and(Test::is(Cell::half(self.type_at), number))
    }

    fn station(self, at: u32, [a, b, c, d, e, f]: [u8; 6]) -> Ethernet {
        let first = Test::is(Cell::word(at), u32::from_be_bytes([a, b, c, d]));
        let rest = Test::is(Cell::half(at + 4), u16::from_be_bytes([e, f]).into());
        Ethernet { filter: self.filter.and(first).and(rest), ..self }
    }
}

impl Arp {
    /// With this operation: 1 is a request, 2 a reply.
    pub fn operation(self, number: u16) -> Arp {
        let cell = Cell::half(self.begin + 6);
        self.and(Test::is(cell, number.into()))
    }

    /// From the station with this address.
    pub fn sender(self, address: [u8; 4]) -> Arp {
        let cell = Cell::word(self.begin + 14);
        self.and(Test::is(cell, u32::from_be_bytes(address)))
    }

    /// About the station with this address.
    pub fn target(self, address: [u8; 4]) -> Arp {
        let cell = Cell::word(self.begin + 24);
        self.and(Test::is(cell, u32::from_be_bytes(address)))
    }

    fn and(self, test: Test) -> Arp {
        Arp { filter: self.filter.and(test), ..self }
    }
}

impl<const BYTES: usize> Ip<BYTES> {
    /// From this address.
    pub fn source(self, address: [u8; BYTES]) -> Self {
        self.source_net(address, u32::MAX)
    }

    /// To this address.
    pub fn destination(self, address: [u8; BYTES]) -> Self {
        self.destination_net(address, u32::MAX)
    }

    /// From a network: the first bits are those of this address.
    pub fn source_net(self, address: [u8; BYTES], bits: u32) -> Self {
        Ip { filter: self.filter.and_address(self.addresses_at, &address, bits), ..self }
    }

    /// To a network: the first bits are those of this address.
    pub fn destination_net(self, address: [u8; BYTES], bits: u32) -> Self {
        let at = self.addresses_at + BYTES as u32;
        Ip { filter: self.filter.and_address(at, &address, bits), ..self }
    }

    /// With this protocol number.
    pub fn protocol(self, number: u8) -> Self {
        Ip { filter: self.filter.and(Test::is(Cell::byte(self.protocol_at), number.into())), ..self }
    }

    /// TCP segments.
    pub fn tcp(self) -> Ports {
        self.ports(TCP)
    }

    /// UDP datagrams.
    pub fn udp(self) -> Ports {
        self.ports(UDP)
    }

    fn ports(self, protocol: u8) -> Ports {
        let (source, destination, is_first_fragment) = self.ports;
        Ports { filter: self.protocol(protocol).filter, source, destination, is_first_fragment }
    }
}

impl Ports {
    /// From this port.
    pub fn source_port(self, port: u16) -> Ports {
        self.source_ports(port..=port)
    }

    /// To this port.
    pub fn destination_port(self, port: u16) -> Ports {
        self.destination_ports(port..=port)
    }

    /// From one of these ports.
    pub fn source_ports(self, ports: RangeInclusive<u16>) -> Ports {
        let cell = self.source;
        self.port(cell, ports)
    }

    /// To one of these ports.
    pub fn destination_ports(self, ports: RangeInclusive<u16>) -> Ports {
        let cell = self.destination;
        self.port(cell, ports)
    }

    fn port(self, cell: Cell, ports: RangeInclusive<u16>) -> Ports {
        let condition = Condition::Between((*ports.start()).into(), (*ports.end()).into());
        let filter = self.filter.and(Test { cell, mask: 0xffff, condition });
        let filter = self.is_first_fragment.into_iter().fold(filter, Filter::and);
        Ports { filter, ..self }
    }
}

/// Protocols are filters, and can be inserted as such.
macro_rules! filters {
    ($($name:ident)*) => {
        $(impl From<$name> for Filter {
            fn from(it: $name) -> Filter {
                it.filter
            }
        })*
    };
}

filters!(Ethernet Arp Ipv4 Ipv6 Ports);

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> [u8; 42] {
        let mut packet = [0; 42];
        packet[..6].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        packet[12..14].copy_from_slice(&[8, 0]);
        packet[14] = 0x45;
        packet[23] = 17;
        packet[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 1, 2, 3]);
        packet[34..38].copy_from_slice(&[0x10, 0, 0, 53]);
        packet
    }

    #[test]
    fn fields_are_where_the_protocols_have_them() {
        let wants = |filter: Filter, expected| assert_eq!(filter.wants(&packet()), expected, "{filter:?}");
        let ipv4 = || Filter::ethernet().destination([1, 2, 3, 4, 5, 6]).ipv4();
        wants(ipv4().source([10, 0, 0, 1]).destination_net([10, 1, 0, 0], 16).udp().into(), true);
        wants(ipv4().udp().source_port(4096).destination_port(53).into(), true);
        wants(ipv4().udp().destination_ports(50..=52).into(), false);
        wants(ipv4().tcp().into(), false);
        wants(ipv4().source_net([11, 0, 0, 0], 7).into(), true);
        wants(ipv4().source_net([77, 0, 0, 0], 0).into(), true);
        wants(Filter::ethernet().ipv6().into(), false);
        wants(Filter::ethernet().arp().into(), false);
        wants(Filter::ethernet().ethernet_type(0x800), true);
    }

    #[test]
    fn later_fragments_have_no_ports() {
        let mut packet = packet();
        packet[21] = 1;
        let udp = || Filter::ethernet().ipv4().udp();
        assert!(Filter::from(udp()).wants(&packet));
        assert!(!Filter::from(udp().destination_port(53)).wants(&packet));
    }

    #[test]
    fn a_virtual_network_moves_what_is_in_it() {
        let packet = packet();
        let mut tagged = packet[..12].to_vec();
        tagged.extend([0x81, 0, 0xe0, 7]);
        tagged.extend(&packet[12..]);
        let dns = |network| Filter::from(Filter::ethernet().vlan(network).ipv4().udp().destination_port(53));
        assert!(dns(7).wants(&tagged) && !dns(8).wants(&tagged) && !dns(7).wants(&packet));
    }
}
