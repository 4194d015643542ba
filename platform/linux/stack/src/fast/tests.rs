//! Whatever segments arrive, a connection stays consistent.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use drystone_handlers::Region;
use proptest::prelude::*;
use smoltcp::wire::{TcpControl, TcpRepr};

use super::block::{BYTES, Block, COMING, Word};
use super::connection::{Connection, State, sequence};
use super::segment::{End, frame, read};

fn end(last: u8, port: u16) -> End {
    let address = SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, last), port);
    End { hardware: [2, 0, 0, 0, 9, last], address }
}

const FIRST: u32 = u32::MAX - 700;
const THEIRS: u32 = u32::MAX - 900;

fn segment(
    control: TcpControl,
    from: u32,
    acknowledged: u32,
    window_len: u16,
    payload: &[u8],
) -> TcpRepr<'_> {
    TcpRepr {
        src_port: 0,
        dst_port: 0,
        control,
        seq_number: sequence(from),
        ack_number: Some(sequence(acknowledged)),
        window_len,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload,
    }
}

/// An established connection, which has sent SYN. The sequence numbers of both sides wrap around soon.
fn open() -> (Connection, Block) {
    let block = Block::new(Region::new(None, BYTES).expect("there is room"));
    let mut connection = Connection::new(block.clone(), end(2, 8), Some(end(1, 9)), FIRST);
    let answer = segment(TcpControl::Syn, THEIRS, FIRST.wrapping_add(1), 4000, &[]);
    connection.arrive(&frame(&end(1, 9), &end(2, 8), &answer));
    assert_eq!(connection.state, State::Open);
    (connection, block)
}

#[test]
fn what_comes_in_order_is_taken_and_acknowledged() {
    let (mut connection, block) = open();
    let mut next = THEIRS.wrapping_add(1);
    for round in 0..10u8 {
        connection.take_out();
        let data = [round; 300];
        let came = frame(
            &end(1, 9),
            &end(2, 8),
            &segment(TcpControl::None, next, FIRST.wrapping_add(1), 4000, &data),
        );
        assert!(connection.is_for(&came));
        connection.arrive(&came);
        next = next.wrapping_add(300);
        let out = connection.take_out();
        let (_, _, answer) = read(&out[0]).expect("it is a segment");
        assert_eq!(answer.ack_number, Some(sequence(next)));
        let mut come = [0; 400];
        assert_eq!((block.take_come(&mut come), &come[..300]), (300, &data[..]));
    }
}

#[test]
fn what_is_damaged_is_nothing() {
    let (mut connection, block) = open();
    let next = THEIRS.wrapping_add(1);
    let came = frame(
        &end(1, 9),
        &end(2, 8),
        &segment(TcpControl::None, next, FIRST.wrapping_add(1), 4000, b"hello"),
    );
    connection.take_out();
    for at in 14..came.len() {
        let mut damaged = came.clone();
        damaged[at] ^= 0x10;
        connection.arrive(&damaged);
        assert_eq!((block.get(Word::Come), connection.take_out().len()), (0, 0), "byte {at}");
        connection.arrive(&came[..at]);
    }
    assert_eq!(block.get(Word::Come), 0);
}

proptest! {
    #[test]
    fn whatever_comes_its_numbers_make_sense(
        steps in prop::collection::vec((0..5usize, -2000..2000i32, -2000..2000i32, any::<u16>(), 0..1400usize), 1..40)
    ) {
        let (mut connection, block) = open();
        let mut now = Instant::now();
        for (control, from, acknowledged, window, length) in steps {
            let controls = [TcpControl::None, TcpControl::Psh, TcpControl::Fin, TcpControl::Syn, TcpControl::Rst];
            let data = vec![7; length];
            let near = |number: u32, by: i32| if by % 3 == 0 { number } else { number.wrapping_add_signed(by) };
            let (next, sent) = (block.number(Word::Next), block.number(Word::Sent));
            let came = segment(controls[control], near(next, from), near(sent, acknowledged), window, &data);
            connection.arrive(&frame(&end(1, 9), &end(2, 8), &came));
            block.say(&data);
            now += Duration::from_millis(100);
            connection.work(now);
            connection.take_out();
            let word = |word| block.number(word);
            let outstanding = word(Word::Sent).wrapping_sub(word(Word::Acknowledged));
            let waiting = word(Word::Said).wrapping_sub(word(Word::Acknowledged));
            prop_assert!(outstanding <= waiting && waiting <= 1 << 16, "{outstanding} of {waiting}");
            prop_assert!(block.get(Word::Come) - block.get(Word::Taken) <= COMING as u64);
        }
    }

    #[test]
    fn frames_of_any_bytes_are_read_or_not(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        read(&bytes);
        let (mut connection, _) = open();
        connection.is_for(&bytes);
        connection.arrive(&[&[2, 0, 0, 0, 9, 2, 2, 0, 0, 0, 9, 1, 8, 0, 0x45][..], &bytes].concat());
    }
}
