//! Peers that do not keep to the rules.

use drystone_component::wire::{Arrival, Connection, Event, Limits, Role};
use proptest::prelude::*;

use crate::connections::talk;

fn frame(kind: u16, number: u16, communication: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
    bytes.extend(kind.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend(communication.to_be_bytes());
    bytes.extend(body);
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn hello() -> Vec<u8> {
    frame(1, 1, 0x4472_7973, &words(&[16, 1000, 1000, 100]))
}

/// Bytes of a frame before its body.
const HEADER: usize = 12;

/// Asks for talk.
fn open(number: u32) -> Vec<u8> {
    let body = [&talk().fingerprint.to_bytes()[..], &words(&[4]), b"talk"].concat();
    frame(2, 0, number, &body)
}

fn server() -> Connection {
    let limits = Limits { messages: 2, bytes: 100, largest: 1000, communications: 3, sum: 1000 };
    Connection::new(Role::Acceptor, limits)
}

/// What a server says to all this.
fn said(frames: &[Vec<u8>]) -> String {
    let mut server = server();
    for frame in frames {
        server.feed(frame);
        while let Some(event) = server.poll() {
            if let Event::Offered { handle, .. } = event {
                server.accept(handle, talk(), 0);
            }
        }
    }
    let failure = server.failure().unwrap_or("nothing").to_string();
    let tells = server.output().windows(failure.len()).any(|bytes| bytes == failure.as_bytes());
    assert!(tells || failure == "nothing", "the other side is told");
    failure
}

#[test]
fn whoever_does_not_keep_to_the_rules_is_told_so() {
    let stranger = "the other side does not speak Drystone's protocol";
    assert_eq!(said(&[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()]), stranger);
    assert_eq!(said(&[open(0)]), stranger);
    assert_eq!(said(&[frame(1, 0, 0x4472_7973, &[0; 16])]), "version 0 of the protocol is not spoken here");
    assert_eq!(said(&[frame(1, 9, 0x4472_7973, &[0; 16])]), "the other side takes no messages");
    assert_eq!(said(&[hello(), hello()]), "a second hello has come");
    assert_eq!(said(&[hello(), frame(4, 0, 0, &[])]), "there is no communication 0");
    assert_eq!(said(&[hello(), open(1)]), "the other side gives numbers that are this side's");
    let number = "a number was given to a communication that it must not have";
    assert_eq!(said(&[hello(), open(2)]), number);
    assert_eq!(said(&[hello(), open(0), open(0)]), number);
    let many = [hello(), open(0), open(2), open(4), open(6)];
    assert_eq!(said(&many), "more than 3 communications have been begun");
    assert_eq!(said(&many[..4]), "nothing");
    let message = frame(4, 0, 0, &[0; 4]);
    let three = [hello(), open(0), message.clone(), message.clone(), message];
    assert_eq!(said(&three[..4]), "nothing");
    assert_eq!(said(&three), "more messages have come than were granted");
    let long = frame(4, 0, 0, &[0; 1000]);
    assert_eq!(said(&[hello(), open(0), long.clone()]), "nothing");
    assert_eq!(said(&[hello(), open(0), long.clone(), long]), "more messages have come than were granted");
    let longer = frame(4, 0, 0, &[0; 1001]);
    assert_eq!(said(&[hello(), open(0), longer]), "a message of 1001 bytes has come, of more than 1000");
    assert_eq!(said(&[hello(), words(&[1 << 20, 8 << 16, 0])]), "a frame of 1048576 bytes is too long");
    assert_eq!(said(&[hello(), open(0), frame(5, 0, 0, &words(&[u32::MAX, 0]))]), "too much is granted");
    assert_eq!(said(&[hello(), open(0), frame(5, 0, 0, &[0; 5])]), "the credit is cut off");
    assert_eq!(
        said(&[hello(), open(0), frame(3, 0, 0, &[])]),
        "a communication was accepted that was not asked for"
    );
    assert_eq!(
        said(&[hello(), open(0), frame(6, 0, 0, &[]), frame(6, 0, 0, &[])]),
        "a communication was closed twice"
    );
    assert_eq!(said(&[hello(), frame(8, 0, 1, &[])]), "a description has come that was not asked for");
    assert_eq!(said(&[hello(), frame(99, 0, 1, &[1, 2, 3])]), "nothing");
}

#[test]
fn a_farewell_is_the_end_with_a_reason_fit_to_print() {
    let mut server = server();
    server.feed(&[hello(), frame(11, 0, 0, b"good\x07bye"), frame(99, 0, 0, &[])].concat());
    assert_eq!(server.failure(), Some("good bye"));
}

#[test]
fn whoever_asks_without_reading_is_not_answered() {
    let mut server = server();
    server.feed(&hello());
    let pings = frame(9, 0, 0, &[0; 4096]).repeat(100);
    for _ in 0..30 {
        server.feed(&pings);
    }
    assert_eq!(server.failure(), Some("the other side asks without reading the answers"));
    assert!(server.output().len() < 9 << 20);
}

/// What a stranger can make a server hold that takes nothing: bytes of frames, and what stops it. Each communication
/// that it begins gets messages whose frames have these lengths, and is ended if it shall `close`.
fn held(limits: Limits, lengths: &[usize], close: bool) -> (usize, String) {
    let mut server = Connection::new(Role::Acceptor, limits);
    server.feed(&hello());
    let mut sum = 0;
    for number in 0.. {
        server.feed(&open(2 * number));
        while let Some(event) = server.poll() {
            if let Event::Offered { handle, .. } = event {
                server.accept(handle, talk(), 0);
            }
        }
        for length in lengths {
            server.feed(&frame(4, 0, 2 * number, &vec![0; *length - HEADER]));
            if let Some(failure) = server.failure() {
                return (sum, failure.to_string());
            }
            sum += length;
        }
        if close {
            server.feed(&frame(6, 0, 2 * number, &[]));
        }
    }
    unreachable!("nothing stops it");
}

#[test]
fn what_a_stranger_sends_is_bounded_in_sum() {
    let limits = Limits { messages: 100, bytes: 4096, largest: 1 << 16, communications: 512, sum: 1 << 20 };
    // All that is granted to each, to begin with.
    let many = "more than 512 communications have been begun";
    assert_eq!(held(limits, &[512, 512], false), (1 << 19, many.to_string()));
    // To close them makes no room for others while nobody has taken what came.
    assert_eq!(held(limits, &[512, 512], true), (1 << 19, many.to_string()));
    // Messages without anything in them take what they take here.
    let (sum, why) = held(limits, &[HEADER; 87], false);
    assert_eq!((sum, why.as_str()), (86 * HEADER, "more messages have come than were granted"));
    // One message that is as long as may be for each: the third would be the one too many.
    let longest = (1 << 16) + HEADER;
    let (sum, why) = held(limits, &[longest], false);
    assert_eq!((sum, why.as_str()), (2 * longest, "more bytes have come than were granted"));
    // As much as may be of both.
    let (sum, why) = held(limits, &[1020, (1 << 12) + 4], true);
    assert_eq!(why, "more bytes have come than were granted");
    assert!(sum < (1 << 20) + (2 << 16), "{sum}");
}

#[test]
fn many_questions_at_once_have_answers_only_while_they_are_read() {
    let mut server = server();
    server.feed(&hello());
    server.feed(&frame(7, 0, 1, b"talk").repeat(200_000));
    while let Some(event) = server.poll() {
        let Event::Asked { request, .. } = event else { panic!("not asked") };
        server.answer(request, Ok(talk()));
    }
    assert_eq!(server.failure(), Some("the other side asks without reading the answers"));
    assert!(server.output().len() < 9 << 20);
}

#[test]
fn whoever_sends_without_reading_is_granted_nothing_more() {
    let mut server = server();
    [hello(), open(0)].iter().for_each(|frame| server.feed(frame));
    let Some(Event::Offered { handle, .. }) = server.poll() else { panic!("not asked") };
    server.accept(handle, talk(), 0);
    let message = frame(4, 0, 0, &[0; 4]);
    for _ in 0..200_000 {
        server.feed(&message);
        server.arrival(handle);
        server.take(handle, |_| ());
        // Nothing of it can be sent.
        server.output();
    }
    assert_eq!(server.failure(), Some("more messages have come than were granted"));
    assert!(server.output().len() < 2 << 20);
}

#[test]
fn a_message_that_does_not_exist_ends_its_communication() {
    let mut server = server();
    for frame in [hello(), open(0), frame(4, 1, 0, &[])] {
        server.feed(&frame);
    }
    let Some(Event::Offered { handle, .. }) = server.poll() else { panic!("not asked") };
    server.accept(handle, talk(), 0);
    let why = "message 1 has come, which the other side does not send";
    assert_eq!(server.arrival(handle), Arrival::Lost(why.into()));
    assert_eq!(server.arrival(handle), Arrival::Lost(why.into()));
    assert_eq!(server.failure(), None);
    server.close(handle);
    server.feed(&frame(6, 0, 0, &[]));
    assert_eq!(server.communications(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 5 } else { 2000 })
    })]

    /// Frames that are nearly right do no harm; see also the fuzzer `wire`.
    #[test]
    fn any_frames_do_no_harm(
        frames in prop::collection::vec((0..13u16, 0..4u16, 0..6u32, prop::collection::vec(0..4u8, 0..24)), 0..40),
        role in prop::sample::select(vec![Role::Dialer, Role::Acceptor]),
        pieces in 1..50usize,
    ) {
        let limits = Limits { messages: 2, bytes: 30, largest: 20, communications: 3, sum: 100 };
        let mut connection = Connection::new(role, limits);
        let mut handles = vec![connection.open(b"talk", talk(), 0), connection.open(b"talk", talk(), 0)];
        let bytes: Vec<u8> = hello().into_iter()
            .chain(
                frames
                    .iter()
                    .flat_map(|(kind, number, communication, body)| frame(*kind, *number, *communication, body)),
            )
            .collect();
        for piece in bytes.chunks(pieces) {
            connection.feed(piece);
            while let Some(event) = connection.poll() {
                if let Event::Offered { handle, .. } = event {
                    connection.accept(handle, talk(), 0);
                    handles.push(handle);
                }
            }
            for handle in &handles {
                while let Arrival::Message(_) = connection.arrival(*handle) {
                    connection.take(*handle, |_| ());
                }
            }
        }
        connection.lost("over");
        handles.into_iter().for_each(|handle| connection.close(handle));
        prop_assert_eq!(connection.communications(), 0);
    }
}
