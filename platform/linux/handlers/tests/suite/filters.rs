//! Demultiplexers compiled for Linux's kernel agree with those here.

use drystone_extension::bytecode::{OWN_LICENCE, assemble};
use drystone_extension::demux::{Cell, Condition, Demultiplexer, Filter, Instruction, NoCode, Size, Test};
use drystone_handlers::bpf;

use crate::behind::to_port;
use crate::objects::datagram;
use crate::{Random, with_damaged};

/// The kernel's program, which answers the number; none where there is no right to.
fn loaded(demultiplexer: &Demultiplexer<u16, NoCode>) -> Option<std::os::fd::OwnedFd> {
    let text = demultiplexer.classifier().to_ebpf(|number| *number).expect("it can be");
    let slots = assemble(&(text + "mov %r0, %r7\nexit")).expect("it is a program");
    match bpf::load_xdp("finds", OWN_LICENCE, &slots) {
        Ok(program) => Some(program),
        Err(why) if why.contains("not permitted") => {
            println!("skipped: filters: {why}");
            None
        }
        Err(why) => panic!("{} slots: {why}", slots.len()),
    }
}

/// Whether kernel and demultiplexer say the same; whose packets there were.
fn compare(demultiplexer: &Demultiplexer<u16, NoCode>, packets: &[Vec<u8>]) -> Option<Vec<u32>> {
    let program = loaded(demultiplexer)?;
    let found = packets.iter().map(|packet| {
        let expected = demultiplexer.classify(packet).copied().unwrap_or(0).into();
        let (found, ..) = bpf::run(&program, packet, 1).expect("it runs");
        assert_eq!(found, expected, "of {} filters, {packet:02x?}", demultiplexer.len());
        found
    });
    Some(found.collect())
}

/// A test of a place where datagrams have something.
fn test(random: &mut Random) -> Test {
    let size = [Size::Byte, Size::Half, Size::Word][random.below(3)];
    let offset = random.below(50) as u32;
    let cell = match random.below(6) {
        0 => Cell::Length,
        1 => Cell::Behind { header: 14, offset: 10 + random.below(20) as u32, size },
        2 => Cell::Behind { header: 15 + random.below(3) as u32, offset: 10, size },
        _ => Cell::At { offset, size },
    };
    // What such a packet has there, or nearly so.
    let here = cell.read(&datagram(7000, &[0; 8])).unwrap_or(0);
    let near = here.wrapping_add(random.below(3) as u32);
    let condition = match random.below(5) {
        0 => Condition::IsNot(near),
        1 => Condition::Between(here.saturating_sub(5), near),
        2 => Condition::Between(near, u32::MAX),
        _ => Condition::Is(near),
    };
    let mask = [cell.mask(), cell.mask(), 0xff, 0x0f0f_0f0f, 0][random.below(5)];
    Test { cell, mask, condition }
}

/// Ranges of both ports, of which one is found behind one header, and the other behind another.
fn ranges_behind_two_headers(random: &mut Random) -> Filter {
    let behind = |header, offset| Cell::Behind { header, offset, size: Size::Half };
    let to = 7000 + random.below(8) as u32;
    let from = 12345 + random.below(2) as u32;
    let more = 1 + random.below(5) as u32;
    let tests = [
        // What tells most of them apart, and of some doesn't, so that one after the other is asked: a checksum of 0.
        Test::is(behind(14, 20), random.below(2) as u32),
        Test::between(behind(14, 16), to, to + more),
        // The byte before the packet's length is 0, so this isn't behind anything.
        Test::between(behind(15, 34), from, from + more),
    ];
    Filter::all_of(tests)
}

fn any_filter(random: &mut Random) -> Filter {
    let port = 7000 + random.below(8) as u16;
    let ipv4 = || Filter::ethernet().ipv4();
    match random.below(7) {
        0 => to_port(port),
        1 => ipv4().destination([10, 0, 0, random.below(3) as u8]).udp().destination_port(port).into(),
        2 => ipv4().source_net([10, 0, 0, 0], 8 + random.below(20) as u32).into(),
        3 => ipv4().udp().destination_ports(port..=port + random.below(4) as u16).into(),
        4 => ranges_behind_two_headers(random),
        5 => to_port(port).or(to_port(port + 1)),
        _ => {
            let count = 1 + random.below(4);
            Filter::all_of((0..count).map(|_| test(random)).collect::<Vec<_>>())
        }
    }
}

#[test]
fn the_kernel_finds_what_is_found_here() {
    let mut random = Random(7);
    let mut hits = 0;
    for round in 0..150 {
        let mut demultiplexer = Demultiplexer::walking(3);
        let mut inserted = Vec::new();
        for number in 1..=1 + random.below(25) as u16 {
            let priority = random.below(5) as i32 / 4;
            let filter = any_filter(&mut random);
            inserted.push(demultiplexer.insert_with_priority(priority, filter, number).expect("it can be"));
        }
        for _ in 0..random.below(inserted.len()) {
            demultiplexer.remove(inserted.swap_remove(random.below(inserted.len())));
        }
        let mut packets = with_damaged(|random| datagram(7000 + random.below(9) as u16, &random.bytes(20)));
        let turn = round * 60 % packets.len();
        packets.rotate_left(turn);
        packets.truncate(60);
        let Some(found) = compare(&demultiplexer, &packets) else { return };
        hits += found.iter().filter(|number| **number != 0).count();
    }
    assert!(hits > 1000, "only {hits} packets were somebody's");
}

/// Families multiply nothing: the verifier would follow 200 * 200 * 200 ways, and take longer than it may.
#[test]
fn many_filters_of_several_shapes_are_accepted() {
    let mut demultiplexer = Demultiplexer::walking(3);
    for number in 0..200u16 {
        let ipv4 = || Filter::ethernet().ipv4();
        let [high, low] = number.to_be_bytes();
        let here: Filter = ipv4().destination([10, 0, high, low]).udp().destination_port(7000).into();
        let there: Filter = ipv4().source([10, 1, high, low]).into();
        for (filter, more) in [(to_port(7000 + number), 1), (here, 201), (there, 401)] {
            demultiplexer.insert(filter, number + more).expect("it can be");
        }
    }
    let mut packets: Vec<Vec<u8>> = (0..300).map(|port| datagram(6950 + port, &[0; 8])).collect();
    for (number, packet) in packets.iter_mut().enumerate() {
        packet[33] = (number % 7) as u8;
        packet[27] = (number % 2) as u8;
    }
    let Some(found) = compare(&demultiplexer, &packets) else { return };
    assert_eq!(found.iter().filter(|number| **number == 0).count(), 50, "half of those to no port");
}

/// As many as a dispatcher has.
#[test]
fn thousands_of_filters_are_accepted() {
    let mut demultiplexer = Demultiplexer::walking(3);
    for number in 1..4096 {
        demultiplexer.insert(to_port(7000 + number), number).expect("it can be");
    }
    let packets: Vec<Vec<u8>> = (0..500).map(|more| datagram(6900 + 9 * more, &[0; 8])).collect();
    let Some(found) = compare(&demultiplexer, &packets) else { return };
    assert_eq!(found.iter().filter(|number| **number != 0).count(), 455);
}

#[test]
fn what_no_program_can_say_is_refused() {
    let said = |filter: Filter| {
        let mut demultiplexer = Demultiplexer::walking(3);
        demultiplexer.insert(filter, 1u16).expect("it can be");
        demultiplexer.classifier().to_ebpf(|number| *number).expect_err("it can't be")
    };
    let far = Filter::all_of([Test::is(Cell::half(40_000), 1)]);
    assert!(said(far).contains("beyond 32000"));
    // The packet's first two bytes are the same.
    let program = [
        (0x30, 0, 0, 0),
        (0x07, 0, 0, 0),
        (0x30, 0, 0, 1),
        (0x1d, 0, 1, 0),
        (0x06, 0, 0, 0),
        (0x06, 0, 0, 1),
    ];
    let program = program.map(|(code, jt, jf, k)| Instruction { code, jt, jf, k });
    let program = Filter::from_classic(&program).expect("it is a program");
    assert_eq!(program.programs(), 1);
    assert!(said(program).contains("can't be made tests of"));
}
