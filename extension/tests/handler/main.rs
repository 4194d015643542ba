//! Handlers compiled by clang, in the engines of this crate. `platform/linux/handlers` compares them with Linux.

mod flows;
mod objects;
mod responder;

use drystone_extension::engine::Stop;
use drystone_extension::handler::{Ended, Frame, Handler, Settings, Verdict};
use objects::{compiled, datagram, payload};

/// A handler of one of the files beside this, in both engines. None, and says so, where there is no clang for it.
fn handlers(name: &str) -> Option<[Handler; 2]> {
    let object = compiled(name)?;
    Some([false, true].map(|interpreted| {
        let settings = Settings { interpreted, key: 7, ..Settings::default() };
        Handler::new(&object, None, settings).unwrap_or_else(|why| panic!("{name}: {why}"))
    }))
}

/// What becomes of a message, and how it looks then.
fn arrives(handler: &mut Handler, message: &[u8]) -> (Ended, Vec<u8>) {
    let mut buffer = [&[0; 256], message, &[0; 256]].concat();
    let mut frame = Frame::new(&mut buffer, 256, 256 + message.len());
    let ended = handler.run(&mut frame, (1, 0), 5);
    (ended, frame.bytes().to_vec())
}

#[test]
fn a_counter_is_added_to_and_answers() {
    let Some(handlers) = handlers("increment") else { return };
    for mut handler in handlers {
        for round in 1..=3u64 {
            let (ended, answer) = arrives(&mut handler, &datagram(7000, &5u64.to_be_bytes()));
            assert_eq!(ended, Ended::With(Verdict::Transmit));
            assert_eq!(payload(&answer), (5 * round).to_be_bytes());
            assert_eq!(answer[..12], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
        }
        assert_eq!(handler.region()[..16], [15u64.to_le_bytes(), 3u64.to_le_bytes()].concat());
        let other = datagram(7001, &[0; 8]);
        assert_eq!(arrives(&mut handler, &other), (Ended::With(Verdict::Pass), other));
        for length in 0..50 {
            let short = &datagram(7000, &[0; 8])[..length];
            assert_eq!(arrives(&mut handler, short).0, Ended::With(Verdict::Pass), "{length}");
        }
    }
}

#[test]
fn what_a_message_carries_is_put_where_it_says() {
    let Some(handlers) = handlers("place") else { return };
    for mut handler in handlers {
        let mut write = |at: u32, length: u32, bytes: &[u8]| {
            let message = datagram(7001, &[&at.to_be_bytes(), &length.to_be_bytes(), bytes].concat());
            arrives(&mut handler, &message).0
        };
        assert_eq!(write(1000, 13, b"Hello, world!"), Ended::With(Verdict::Transmit));
        assert_eq!(write(32760, 8, b"the end."), Ended::With(Verdict::Transmit));
        assert_eq!(write(32761, 8, b"too far."), Ended::With(Verdict::Drop));
        assert_eq!(write(0, 14, b"too short"), Ended::With(Verdict::Drop));
        let region = handler.region();
        assert_eq!((&region[1000..1014], &region[32760..32768]), (&b"Hello, world!\0"[..], &b"the end."[..]));
        assert_eq!(region[32768..32772], [2, 0, 0, 0]);
    }
}

#[test]
fn tables_hold_what_handlers_and_applications_put_there() {
    let Some(handlers) = handlers("cache") else { return };
    for mut handler in handlers {
        let ask = |what: u32, key: &[u8; 8], more: &[u8]| {
            datagram(7002, &[&what.to_be_bytes(), &key[..], more].concat())
        };
        assert_eq!(arrives(&mut handler, &ask(0, b"absent..", b"")).0, Ended::With(Verdict::Pass));
        let (ended, answer) = arrives(&mut handler, &ask(1, b"present.", &77u64.to_le_bytes()));
        assert_eq!((ended, payload(&answer)), (Ended::With(Verdict::Transmit), b"\0\0\0\0present.".to_vec()));
        let (ended, answer) = arrives(&mut handler, &ask(0, b"present.", b""));
        assert_eq!(ended, Ended::With(Verdict::Transmit));
        assert_eq!(payload(&answer)[12..], 77u64.to_le_bytes());
        for key in [b"second..", b"third...", b"fourth..", b"fifth..."] {
            let (_, answer) = arrives(&mut handler, &ask(1, key, &[1; 8]));
            let full = if key == b"fifth..." { -7i32 } else { 0 };
            assert_eq!(payload(&answer)[..4], full.to_le_bytes(), "{key:?}");
        }
        let (_, answer) = arrives(&mut handler, &ask(2, b"second..", b""));
        assert_eq!(payload(&answer)[..4], 0i32.to_le_bytes());
        let (_, answer) = arrives(&mut handler, &ask(2, b"second..", b""));
        assert_eq!(payload(&answer)[..4], (-2i32).to_le_bytes());
        assert_eq!(arrives(&mut handler, &ask(3, b"present.", b"")).0, Ended::With(Verdict::Drop));

        let values = handler.table("values").expect("it has it");
        assert_eq!(values.keys().len(), 3);
        assert_eq!(values.get(b"present.").expect("it is there")[8..12], 1u32.to_le_bytes());
        let counts = handler.table("counts").expect("it has it");
        let count = |number: u32| counts.get(&number.to_le_bytes()).map(|value| value.to_vec());
        let counts: Vec<_> = (0..4).map(count).collect();
        assert_eq!(counts[..3], [2u64, 5, 2].map(|count| Some(count.to_le_bytes().to_vec())));
        assert_eq!(counts[3], None);
        let Some(drystone_extension::handler::tables::Table::Ring(missed)) = handler.table("missed") else {
            panic!()
        };
        assert_eq!((missed.hear(), missed.hear()), (Some(b"absent..".to_vec()), None));
    }
}

#[test]
fn who_goes_round_for_too_long_is_stopped_and_leaves_the_message_as_it_was() {
    let Some(handlers) = handlers("spin") else { return };
    for mut handler in handlers {
        let message = datagram(9, &1000u64.to_be_bytes());
        let (ended, after) = arrives(&mut handler, &message);
        assert_eq!((ended, handler.sent().len()), (Ended::With(Verdict::Drop), 1));
        assert_eq!(payload(&after), 499_500u64.to_le_bytes());
        assert_eq!(handler.sent()[0][..42], message[..42]);
        let message = datagram(9, &u64::MAX.to_be_bytes());
        let (ended, after) = arrives(&mut handler, &message);
        assert_eq!(ended, Ended::Stopped(Stop::Budget));
        assert_eq!((after, handler.sent().len()), (message, 0));
    }
}

/// What the file `pipes.c` does, in Rust.
fn through(which: u8, key: u64, data: &[u8]) -> (Vec<u8>, [u64; 2]) {
    let (mut kept, width) = ([key, 0u64], [4, 1, 2, 8, 4][usize::from(which)]);
    let mut out = Vec::new();
    for piece in data.chunks(width) {
        let mut bytes = [0; 8];
        bytes[..piece.len()].copy_from_slice(piece);
        let word = u64::from_le_bytes(bytes);
        let given = match which {
            0 => {
                let sum = kept[1].wrapping_add(word);
                kept[1] = (sum & 0xffff_ffff) + (sum >> 32);
                word ^ key
            }
            1 if !(65..91).contains(&word) => word,
            1 => {
                kept[0] = kept[0].wrapping_add(1);
                word + 32
            }
            2 => {
                if word > kept[1] && (word & 1 == 1 || kept[0] == 0) {
                    kept[1] = word;
                }
                kept[0] = kept[0].wrapping_mul(31).wrapping_add(word);
                word.wrapping_sub(kept[0] >> 7)
            }
            3 => {
                kept[0] = kept[0].max(word);
                word
            }
            _ => u64::from((word as u32).swap_bytes()),
        };
        out.extend(&given.to_le_bytes()[..piece.len()]);
    }
    (out, kept)
}

#[test]
fn data_goes_through_pipes_on_its_way() {
    let Some(handlers) = handlers("pipes") else { return };
    let text: Vec<u8> = (0..1400u32).map(|at| (at * at / 7 + at) as u8).collect();
    for mut handler in handlers {
        for (which, over) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 1), (4, 0)] {
            for key in [5, 0xdead_beef, u64::MAX] {
                for length in (0..70).chain([255, 256, 1000, 1399, 1400]) {
                    let data = &text[..length];
                    let head = [which, over, 0, 0, 0, 0, 0, 0];
                    let message = datagram(7005, &[&head, &key.to_le_bytes()[..], data].concat());
                    let (ended, answer) = arrives(&mut handler, &message);
                    let what = format!("pipe {which}, over: {over}, key {key:x}, {length} bytes");
                    assert_eq!(ended, Ended::With(Verdict::Transmit), "{what}");
                    let (expected, kept) = through(which, key, data);
                    let answer = payload(&answer);
                    assert_eq!(answer[..16], kept.map(u64::to_le_bytes).concat(), "{what}");
                    let place = if over == 1 { &answer[16..] } else { &handler.region()[..length] };
                    assert_eq!(place, expected, "{what}");
                }
            }
        }
    }
}
