//! A handler of which nothing is known: an object file that is any bytes, or one of which some instructions are others.
//! It is refused, or does the same in both engines, ends, and changes nothing outside its message and its own memory.

#![no_main]

use drystone_extension::bytecode::Slot;
use drystone_extension::handler::{Ended, Frame, Handler, Image, Machine, Settings};

/// Bytes that no handler may have.
const AROUND: usize = 64;
/// Room before and behind a message.
const ROOM: usize = 256;
const UNTOUCHED: u8 = 0xa5;
/// Memory that a machine under test has for each handler.
const MOST: u64 = 1 << 20;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(([changes, frame], rest)) = bytes.split_first_chunk() else { return };
    let Some((changes, rest)) = rest.split_at_checked(usize::from(*changes % 16) * 4) else { return };
    let Some((message, object)) = rest.split_at_checked((*frame).into()) else { return };
    let Ok(mut image) = Image::read(object, None, Machine::Drystone) else { return };
    changes.as_chunks().0.iter().for_each(|change| self::change(&mut image.slots, *change));
    if memory_of(&image) > MOST {
        return;
    }
    let made =
        [false, true].map(|interpreted| Handler::of(&image, Settings { budget: 1000, key: 7, interpreted }));
    let [Ok(mut compiled), Ok(mut interpreted)] = made else {
        let [compiled, interpreted] = made.map(Result::err);
        assert_eq!(compiled, interpreted, "one engine refuses it");
        return;
    };
    for now in 0..3 {
        let [one, other] = [&mut compiled, &mut interpreted].map(|handler| run(handler, message, now));
        assert_eq!(one, other);
        assert_eq!(compiled.sent(), interpreted.sent());
        assert!(compiled.region() == interpreted.region());
    }
});

/// How it ends, and the message afterwards.
fn run(handler: &mut Handler, message: &[u8], now: u64) -> (Ended, Vec<u8>) {
    let mut memory = vec![UNTOUCHED; message.len() + 2 * (ROOM + AROUND)];
    let end = memory.len() - AROUND;
    let begin = AROUND + ROOM;
    memory[begin..begin + message.len()].copy_from_slice(message);
    let mut frame = Frame::new(&mut memory[AROUND..end], ROOM, ROOM + message.len());
    let ended = handler.run(&mut frame, (1, 0), now);
    let (range, after) = (frame.range(), frame.bytes().to_vec());
    if let Ended::Stopped(_) = ended {
        assert_eq!((range, &after[..]), (ROOM..ROOM + message.len(), message), "it is as it came");
    }
    assert!(
        [&memory[..AROUND], &memory[end..]].concat().iter().all(|byte| *byte == UNTOUCHED),
        "it was let out"
    );
    (ended, after)
}

/// Another byte in an instruction.
fn change(slots: &mut [Slot], [low, high, byte, value]: [u8; 4]) {
    if slots.is_empty() {
        return;
    }
    let at = usize::from(u16::from_le_bytes([low, high])) % slots.len();
    let mut bytes = slots[at].bytes();
    bytes[usize::from(byte % 8)] = value;
    slots[at] = Slot::read(bytes);
}

fn memory_of(image: &Image) -> u64 {
    let definitions = image.maps.iter().map(Image::definition);
    let of_tables = definitions.map(|it| u64::from(it.entries) * (u64::from(it.key) + u64::from(it.value)));
    of_tables.sum::<u64>() + image.region_bytes()
}
