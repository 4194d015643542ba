//! Generates packets: of real protocols, truncated, and with some bytes changed.

use alloc::vec::Vec;

use proptest::prelude::*;

/// Values are few, so that filters and packets meet.
pub(super) fn port() -> impl Strategy<Value = u16> {
    prop_oneof![Just(53u16), Just(80), Just(1000), 1024..1030u16]
}

pub(super) fn address() -> impl Strategy<Value = [u8; 4]> {
    prop_oneof![Just([10, 0, 0, 1]), Just([10, 0, 0, 2]), Just([10, 1, 0, 1]), Just([192, 168, 0, 1])]
}

pub(super) fn long_address() -> impl Strategy<Value = [u8; 16]> {
    (0..2u8, 0..2u8).prop_map(|(first, last)| {
        let mut address = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        (address[4], address[15]) = (first, last);
        address
    })
}

pub(super) fn station() -> impl Strategy<Value = [u8; 6]> {
    (0..2u8).prop_map(|last| [2, 0, 0, 0, 0, last])
}

/// Any packet, real or not.
pub(super) fn packet() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let length = prop_oneof![3 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)];
    (real(), changes, length).prop_map(|(mut packet, changes, length)| {
        for (at, byte) in changes {
            *at.get_mut(&mut packet) = byte;
        }
        if let Some(length) = length {
            packet.truncate(length.index(packet.len() + 1));
        }
        packet
    })
}

fn real() -> impl Strategy<Value = Vec<u8>> {
    let content = prop_oneof![4 => ipv4(), 2 => ipv6(), 1 => arp()];
    let tag = prop::option::of((0..2u16).prop_map(|number| 0xe000 | number));
    (station(), station(), tag, content).prop_map(|(to, from, tag, (kind, content))| {
        let mut packet = [to, from].concat();
        if let Some(tag) = tag {
            packet.extend([0x81, 0]);
            packet.extend(tag.to_be_bytes());
        }
        packet.extend(kind.to_be_bytes());
        packet.extend(content);
        packet
    })
}

fn ipv4() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let fragment = prop_oneof![5 => Just(0u16), 1 => Just(0x2000), 1 => 1..3u16];
    (5..8u8, 56..80u8, (address(), address()), protocol(), fragment, ports()).prop_map(
        |(words, lives, (from, to), protocol, fragment, ports)| {
            let mut packet = alloc::vec![0; usize::from(words) * 4];
            packet[0] = 0x40 | words;
            packet[6..8].copy_from_slice(&fragment.to_be_bytes());
            packet[8] = lives;
            packet[9] = protocol;
            packet[12..16].copy_from_slice(&from);
            packet[16..20].copy_from_slice(&to);
            packet.extend(ports);
            (0x800, packet)
        },
    )
}

fn ipv6() -> impl Strategy<Value = (u16, Vec<u8>)> {
    (long_address(), long_address(), protocol(), ports()).prop_map(|(from, to, protocol, ports)| {
        let mut packet = alloc::vec![0x60, 0, 0, 0, 0, 8, protocol, 64];
        packet.extend(from);
        packet.extend(to);
        packet.extend(ports);
        (0x86dd, packet)
    })
}

fn arp() -> impl Strategy<Value = (u16, Vec<u8>)> {
    (1..3u8, address(), address()).prop_map(|(operation, from, to)| {
        let mut packet = alloc::vec![0, 1, 8, 0, 6, 4, 0, operation, 2, 0, 0, 0, 0, 1];
        packet.extend(from);
        packet.extend([0; 6]);
        packet.extend(to);
        (0x806, packet)
    })
}

fn protocol() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(6u8), 3 => Just(17), 1 => Just(1)]
}

/// With some bytes behind them: TCP's flags are among them.
fn ports() -> impl Strategy<Value = Vec<u8>> {
    (port(), port(), prop::collection::vec(0..32u8, 4..20)).prop_map(|(from, to, rest)| {
        let mut bytes = Vec::new();
        bytes.extend(from.to_be_bytes());
        bytes.extend(to.to_be_bytes());
        bytes.extend(rest);
        bytes
    })
}
