//! Protocols that are composed when they are loaded: IP, UDP or TCP, and applications.

use drystone_extension::handler::{Image, Machine, Verdict};

use crate::objects::{compiled_in, datagram, payload};
use crate::{compare_all, engines, with_damaged};

fn fragments<const COUNT: usize>(names: [&str; COUNT]) -> Option<Vec<Vec<u8>>> {
    names.into_iter().map(|name| compiled_in("fragments", name)).collect()
}

fn folded(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum()
}

/// With right checksums, those of what is above IP, too, where they stand at `at` in it.
fn summed(mut packet: Vec<u8>, at: usize) -> Vec<u8> {
    packet[24..26].fill(0);
    let head = !folded(sum(&packet[14..34]));
    packet[24..26].copy_from_slice(&head.to_be_bytes());
    packet[34 + at..36 + at].fill(0);
    let length = packet.len() as u32 - 34;
    let all = sum(&packet[26..34]) + u32::from(packet[23]) + length + sum(&packet[34..]);
    packet[34 + at..36 + at].copy_from_slice(&(!folded(all)).to_be_bytes());
    packet
}

#[test]
fn datagrams_are_counted_above_udp_above_ip() {
    let Some(objects) = fragments(["ip", "udp", "datagrams"]) else { return };
    let mut engines = engines("datagrams", &objects);
    let five = summed(datagram(7000, &5u64.to_be_bytes()), 6);
    for (which, engine) in &mut engines {
        let (verdict, answer) = engine.arrives(&five);
        assert_eq!((verdict, &payload(&answer)[..]), (Verdict::Transmit, &5u64.to_be_bytes()[..]), "{which}");
    }
    let messages = with_damaged(|random| summed(datagram(7000, &random.bytes(60)), 6));
    compare_all("datagrams", &mut engines, &messages, &[], "");
}

#[test]
fn without_a_fragment_its_protocol_is_passed_on() {
    let Some(objects) = fragments(["ip", "tcp"]) else { return };
    for (which, engine) in &mut engines("ip and tcp", &objects) {
        assert_eq!(engine.arrives(&summed(datagram(7000, b"12345678"), 6)).0, Verdict::Pass, "{which}");
    }
}

/// What a segment from port 9 of 10.0.0.1 to port 8 of 10.0.0.2 says: sequence number, acknowledged, flags, window.
type Head = (u32, u32, u8, u16);

fn segment((sequence, acknowledged, flags, window): Head, data: &[u8]) -> Vec<u8> {
    let mut bytes = datagram(8, data);
    let length = 40 + data.len() as u16;
    bytes[16..18].copy_from_slice(&length.to_be_bytes());
    bytes[23] = 6;
    let tcp = [
        &[0, 9, 0, 8][..],
        &sequence.to_be_bytes(),
        &acknowledged.to_be_bytes(),
        &[0x50, flags],
        &window.to_be_bytes(),
        &[0; 4],
        data,
    ];
    bytes.truncate(34);
    bytes.extend(tcp.concat());
    summed(bytes, 16)
}

const ACK: u8 = 0x10;

/// The control block of that connection, in the order of `drystone/tcp.h`: 1000 is expected, and 500 to 600 was sent.
fn block() -> Vec<u8> {
    let addresses =
        u64::from(u32::from_ne_bytes([10, 0, 0, 2])) << 32 | u64::from(u32::from_ne_bytes([10, 0, 0, 1]));
    let ports = u64::from(u16::from_ne_bytes([0, 8])) << 16 | u64::from(u16::from_ne_bytes([0, 9]));
    let words = [0, 1, addresses, ports, 1000, 500, 600, 600, 3000, 0, 65530, 65530, 0];
    words.into_iter().flat_map(u64::to_ne_bytes).collect()
}

/// The counter of that number in the control block.
fn number(region: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(region[8 * at..8 * at + 8].try_into().expect("8 bytes"))
}

#[test]
fn what_is_predicted_is_received_and_acknowledged() {
    let Some(objects) = fragments(["ip", "tcp", "increment"]) else { return };
    for (which, engine) in &mut engines("increment", &objects) {
        engine.write(&block());
        let (verdict, answer) = engine.arrives(&segment((1000, 600, ACK, 4000), &41u32.to_le_bytes()));
        assert_eq!(verdict, Verdict::Transmit, "{which}");
        let expected = segment((600, 1004, 0x18, 65535), &42u32.to_le_bytes());
        assert_eq!(&answer[38..48], &expected[38..48], "{which}: what it says");
        assert_eq!(&answer[54..58], &42u32.to_le_bytes(), "{which}");
        assert_eq!(summed(answer[..58].to_vec(), 16), answer[..58], "{which}: its checksums are right");
        // An acknowledgement of that.
        assert_eq!(engine.arrives(&segment((1004, 604, ACK, 4000), b"")).0, Verdict::Drop, "{which}");
        // Again, out of order, with other flags, of what was never sent: the library sees to it.
        for head in [(1000, 604, ACK), (1008, 604, ACK), (1004, 604, 0x11), (1004, 605, ACK)] {
            let (sequence, acknowledged, flags) = head;
            let came = segment((sequence, acknowledged, flags, 4000), b"1234");
            assert_eq!(engine.arrives(&came), (Verdict::Pass, came.clone()), "{which}: {head:?}");
        }
        let region = engine.region();
        assert_eq!([4, 5, 6, 7].map(|at| number(&region, at)), [1004, 604, 604, 604], "{which}");
        assert_eq!([13, 14, 15, 16, 17].map(|at| number(&region, at)), [2, 4, 0, 0, 1], "{which}: counted");
    }
}

#[test]
fn who_has_the_control_block_or_no_room_is_left_alone() {
    let Some(objects) = fragments(["ip", "tcp"]) else { return };
    for (which, engine) in &mut engines("aborts", &objects) {
        for (at, value, counter) in [(0, 2, 15), (11, 10, 16), (1, 0, 14)] {
            let mut block = block();
            block[8 * at..8 * at + 8].copy_from_slice(&u64::to_ne_bytes(value));
            engine.write(&block);
            let before = number(&engine.region(), counter);
            let came = segment((1000, 600, ACK, 4000), &[7; 100]);
            assert_eq!(engine.arrives(&came), (Verdict::Pass, came.clone()), "{which}");
            assert_eq!(number(&engine.region(), counter), before + 1, "{which}: counted");
        }
    }
}

#[test]
fn segments_are_the_same_in_all_engines() {
    let Some(objects) = fragments(["ip", "tcp", "increment"]) else { return };
    let mut engines = engines("segments", &objects);
    for (_, engine) in &mut engines {
        engine.write(&block());
    }
    let mut next = 1000u32;
    let messages = with_damaged(|random| {
        let length = if random.below(2) == 0 { 4 } else { random.below(1400) };
        let data = random.bytes(length);
        let sequence = next;
        // Sometimes it is lost, or comes twice: from then on nothing is as predicted, until the sequence numbers meet
        // again.
        next += [data.len() as u32, data.len() as u32, data.len() as u32, 0][random.below(4)];
        segment((sequence, 600 + random.below(3) as u32, ACK | (random.below(2) as u8 * 8), 4000), &data)
    });
    compare_all("segments", &mut engines, &messages, &[], "events");
}

#[test]
fn what_two_files_have_or_none_is_said() {
    let Some(objects) = fragments(["udp", "tcp", "increment"]) else { return };
    let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    let said = |files: &[&[u8]], entry| {
        Image::composed(files, Some(entry), Machine::Linux).expect_err("it can't be")
    };
    let twice = said(&[objects[1], objects[2], objects[2]], "tcp_arrived");
    assert!(twice.ends_with("`stream_arrived` is in two of the files"), "{twice}");
    let none = said(&[objects[2]], "stream_arrived");
    assert!(none.ends_with("`stream` is declared, but not in this file"), "{none}");
}
