//! Compares demultiplexers with asking all filters one after the other, while filters are inserted and removed.

use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::super::linear::Linear;
use super::super::*;
use super::guarded::Guarded;
use super::packets::*;
use crate::engine::jit::Pages;

/// What is done with filters.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Insert(i32, Filter),
    Remove(usize),
}

fn protocol_filter() -> impl Strategy<Value = Filter> {
    let ethernet = (prop::option::of(station()), prop::option::of(0..2u16)).prop_map(|(to, network)| {
        let filter = Filter::ethernet();
        let filter = match to {
            Some(to) => filter.destination(to),
            None => filter,
        };
        network.map_or(filter.clone(), |network| filter.vlan(network))
    });
    let ethernet = prop_oneof![4 => Just(Filter::ethernet()), 1 => ethernet];
    let content = prop_oneof![
        8 => (prop::option::of((address(), 0..33u32)), prop::option::of((address(), 30..33u32)), transport())
            .prop_map(|(from, to, transport)| Content::Ipv4(from, to, transport)),
        3 => (prop::option::of((long_address(), 0..129u32)), transport())
            .prop_map(|(from, transport)| Content::Ipv6(from, transport)),
        1 => prop::option::of(address()).prop_map(Content::Arp),
    ];
    (ethernet, content).prop_map(|(ethernet, content)| match content {
        Content::Ipv4(from, to, transport) => {
            let filter = ethernet.ipv4();
            let filter = from.into_iter().fold(filter, |filter, (from, bits)| filter.source_net(from, bits));
            let filter = to.into_iter().fold(filter, |filter, (to, bits)| filter.destination_net(to, bits));
            match transport {
                None => filter.into(),
                Some(it) => with_ports(if it.is_tcp { filter.tcp() } else { filter.udp() }, it),
            }
        }
        Content::Ipv6(from, transport) => {
            let filter = ethernet.ipv6();
            let filter = from.into_iter().fold(filter, |filter, (from, bits)| filter.source_net(from, bits));
            match transport {
                None => filter.into(),
                Some(it) => with_ports(if it.is_tcp { filter.tcp() } else { filter.udp() }, it),
            }
        }
        Content::Arp(None) => ethernet.arp().operation(1).into(),
        Content::Arp(Some(target)) => ethernet.arp().target(target).into(),
    })
}

enum Content {
    Ipv4(Option<([u8; 4], u32)>, Option<([u8; 4], u32)>, Option<Transport>),
    Ipv6(Option<([u8; 16], u32)>, Option<Transport>),
    Arp(Option<[u8; 4]>),
}

impl core::fmt::Debug for Content {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        f.write_str("content")
    }
}

#[derive(Clone, Debug)]
struct Transport {
    is_tcp: bool,
    from: Option<u16>,
    to: Option<(u16, u16)>,
}

fn transport() -> impl Strategy<Value = Option<Transport>> {
    let ports = (port(), prop_oneof![4 => Just(0u16), 1 => 1..900u16]);
    let transport = (any::<bool>(), prop::option::of(port()), prop::option::of(ports))
        .prop_map(|(is_tcp, from, to)| Transport { is_tcp, from, to });
    prop::option::weighted(0.8, transport)
}

fn with_ports(filter: Ports, Transport { from, to, .. }: Transport) -> Filter {
    let filter = from.into_iter().fold(filter, Ports::source_port);
    to.into_iter().fold(filter, |filter, (low, more)| filter.destination_ports(low..=low + more)).into()
}

/// Tests of any cells, many of which are where packets have something.
pub(super) fn tests() -> impl Strategy<Value = Vec<Test>> {
    let size = prop_oneof![Just(Size::Byte), Just(Size::Half), Just(Size::Word)];
    let cell = prop_oneof![
        6 => (0..60u32, size.clone()).prop_map(|(offset, size)| Cell::At { offset, size }),
        3 => (prop_oneof![Just(14u32), Just(18)], 10..30u32, size)
            .prop_map(|(header, offset, size)| Cell::Behind { header, offset, size }),
        1 => Just(Cell::Length),
    ];
    let known = &[0x800u32, 0x86dd, 0x8100, 80][..];
    let number = || prop_oneof![4 => 0..70u32, 1 => any::<u32>(), 1 => prop::sample::select(known)];
    let condition = prop_oneof![
        3 => number().prop_map(Condition::Is),
        2 => number().prop_map(Condition::IsNot),
        3 => (number(), number()).prop_map(|(low, high)| Condition::Between(low.min(high), high)),
        1 => (number(), number()).prop_map(|(low, high)| Condition::Between(low, high)),
    ];
    let shifted = (0..16u32).prop_map(|bits| !0 << bits);
    let mask = prop_oneof![3 => Just(u32::MAX), 2 => number(), 1 => Just(0u32), 1 => shifted];
    let test = (cell, mask, condition).prop_map(|(cell, mask, condition)| Test { cell, mask, condition });
    prop::collection::vec(test, 0..5)
}

fn filter() -> impl Strategy<Value = Filter> {
    let one = prop_oneof![
        6 => protocol_filter(),
        2 => tests().prop_map(Filter::all_of),
        1 => super::classic::instructions().prop_map(|it| Filter::from_classic(&it).unwrap()),
    ];
    prop::collection::vec(one, 1..3).prop_map(|all| all.into_iter().reduce(Filter::or).unwrap())
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let priority = prop_oneof![5 => Just(0), 1 => -1..2i32];
    let action = prop_oneof![
        3 => (priority, filter()).prop_map(|(priority, filter)| Action::Insert(priority, filter)),
        1 => any::<usize>().prop_map(Action::Remove),
    ];
    prop::collection::vec(action, 1..40)
}

pub(super) struct All {
    linear: Linear,
    walking: Demultiplexer<u32, NoCode>,
    compiled: Demultiplexer<u32, Pages>,
    inserted: u32,
    guarded: Guarded,
}

impl All {
    pub fn new() -> All {
        All {
            linear: Linear::default(),
            walking: Demultiplexer::walking(1),
            compiled: Demultiplexer::compiled(2),
            inserted: 0,
            guarded: Guarded::new(),
        }
    }

    pub fn act(&mut self, action: &Action) {
        match action {
            Action::Insert(priority, filter) => {
                let id = self.walking.insert_with_priority(*priority, filter.clone(), self.inserted).unwrap();
                let other = self.compiled.insert_with_priority(*priority, filter.clone(), self.inserted);
                assert_eq!(other, Ok(id));
                self.linear.0.push((id, *priority, filter.clone()));
                self.inserted += 1;
            }
            Action::Remove(_) if self.linear.0.is_empty() => {}
            Action::Remove(index) => {
                let (id, ..) = self.linear.0.remove(index % self.linear.0.len());
                assert_eq!(self.walking.remove(id), Some(id.0 as u32));
                assert_eq!(self.compiled.remove(id), Some(id.0 as u32));
                assert_eq!(self.walking.remove(id), None);
            }
        }
        assert_eq!(self.compiled.len(), self.linear.0.len());
    }

    pub fn agree_on(&mut self, packet: &[u8]) -> TestCaseResult {
        let expected = self.linear.find(packet);
        prop_assert_eq!(self.walking.find(packet).map(|(id, _)| id), expected, "walked, {:?}", packet);
        let packet = self.guarded.place(packet);
        prop_assert_eq!(self.compiled.find(packet).map(|(id, _)| id), expected, "compiled, {:?}", packet);
        prop_assert_eq!(self.compiled.classify(packet).copied(), expected.map(|id| id.0 as u32));
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::cases()))]

    #[test]
    fn who_wins_is_who_would_in_a_list(actions in actions(), packets in prop::collection::vec(packet(), 1..30)) {
        let mut all = All::new();
        for action in &actions {
            all.act(action);
            for packet in packets.iter().take(3) {
                all.agree_on(packet)?;
            }
        }
        for packet in &packets {
            all.agree_on(packet)?;
        }
        let wanted = packets.iter().any(|packet| all.linear.find(packet).is_some());
        let asked_in_turn = all.linear.0.iter().any(|(_, _, it)| it.programs() > 0);
        prop_assert!(!wanted || all.compiled.classifier().is_compiled() || asked_in_turn);
    }

    #[test]
    fn the_simplest_form_says_the_same(tests in tests(), packets in prop::collection::vec(packet(), 1..50)) {
        let simplest = conjunction::Conjunction::of(&tests).map(|it| it.tests());
        let again = simplest.as_ref().map(|tests| conjunction::Conjunction::of(tests).unwrap().tests());
        prop_assert_eq!(&again, &simplest);
        for packet in packets {
            let holds = |tests: &[Test]| tests.iter().all(|test| test.holds(&packet));
            prop_assert_eq!(simplest.as_deref().is_some_and(holds), holds(&tests), "{:?} {:?}", simplest, packet);
        }
    }
}

#[test]
fn filters_that_differ_in_a_port_are_told_apart() {
    let mut all = All::new();
    let to_port = |port| Filter::ethernet().ipv4().udp().destination_port(port).into();
    for port in 1..1001 {
        all.act(&Action::Insert(0, to_port(port)));
    }
    let mut packet = [0; 42];
    packet[12..15].copy_from_slice(&[8, 0, 0x45]);
    packet[23] = 17;
    for port in [0, 1, 53, 1000, 1001] {
        packet[36..38].copy_from_slice(&u16::to_be_bytes(port));
        all.agree_on(&packet).unwrap();
        assert_eq!(all.compiled.classify(&packet).is_some(), (1..1001).contains(&port));
        all.agree_on(&packet[..37]).unwrap();
    }
    for _ in 0..1000 {
        all.act(&Action::Remove(0));
    }
    assert!(all.compiled.is_empty() && all.compiled.classify(&packet).is_none());
}
