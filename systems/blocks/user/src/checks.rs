//! Checks arrays and page frames: that they work, and that everything wrong is refused.

use crate::arrays::{Array, command};
use crate::frames::AT;
use crate::shipping::{REFUSED, SLOWLY};
use users::attacks::{PLACES, touch};
use users::calls::{self, Number, call, call_anything};
use users::say;

/// A command that moves words, instead of a call's number.
pub const MOVE: u64 = 40;
const NOTHING: u64 = Number::Nothing as u64;
const SERVER: u64 = Number::Server as u64;
/// The address of the page of array 24.
const PAGES: u64 = 0x80_0000_0000 + (96 << 30);

/// An array that runs while another thread changes it.
static mut CHANGING: Option<Array> = None;

/// Changes what the array passes, and calls it, too, meanwhile: the server is busy. Then registers another array in its
/// place, with the same calls first.
extern "C" fn change() {
    // SAFETY: it is there.
    let array = unsafe { (*&raw const CHANGING).as_ref().unwrap_unchecked() };
    while array.get(403) != 42 {
        calls::give_way();
    }
    assert_eq!(array.call(), 3);
    array.pass(2, [1, 50, u64::MAX, u64::MAX]);
    array.pass(3, [u64::MAX; 4]);
    assert_eq!(array.give_back(), 0);
    assert!(Array::new(25, &[command(NOTHING, 403), command(SERVER, 400), command(SERVER, 401)]).is_ok());
}

pub fn arrays() {
    users::wait_for_server();
    // An answer goes to where a later call has it; words are moved.
    let array =
        Array::new(24, &[command(SERVER, 5), command(SERVER, 400), command(MOVE, 401)]).expect("it is kept");
    array.pass(0, [1, 6, 0, 0]);
    array.pass(1, [1, 0, 0, 0]);
    array.pass(2, [400, 500, 1, 0]);
    assert_eq!((array.call(), array.get(5), array.get(400), array.get(500)), (0, 7, 8, 8));
    for words in [
        [0, 512, 1, 0],
        [512, 0, 1, 0],
        [0, 1, 2, 511 << 32],
        [1, 0, 2, 511],
        [0, 0, 513, 0],
        [0, 0, u64::MAX, 0],
        [u64::MAX, 0, 2, 1],
        [0, 0, 3, u64::MAX],
    ] {
        array.pass(2, words);
        assert_eq!((array.call(), array.get(401) as i64), (1, REFUSED), "{words:?}");
    }
    // Commands that make no array.
    let fine = command(NOTHING, 0);
    let not_for_arrays = [
        0,
        1,
        3,
        4,
        6,
        7,
        8,
        9,
        14,
        16,
        17,
        18,
        19,
        20,
        21,
        22,
        23,
        24,
        31,
        32,
        33,
        39,
        41,
        1 << 16,
        u32::MAX as u64,
    ];
    for number in not_for_arrays {
        assert_eq!(Array::new(25, &[fine, command(number, 0)]).err(), Some(-2), "{number}");
    }
    for answer in [512, 513, 1 << 20, u32::MAX as u64] {
        assert_eq!(Array::new(25, &[command(NOTHING, answer)]).err(), Some(-1), "{answer}");
    }
    assert_eq!(call_anything(Number::Keep as u64, [25, &raw const fine as u64, 0, 0]), -1);
    assert_eq!(Array::new(25, &[fine; 101]).err(), Some(-101));
    for number in [0, 1, 15, 22, 23, 24, 32, 1 << 32, u64::MAX] {
        assert_eq!(Array::new(number, &[fine]).err(), Some(REFUSED), "{number}");
    }
    for place in PLACES {
        assert_eq!(call_anything(Number::Keep as u64, [25, place, 100, 0]), REFUSED);
        assert!(call_anything(Number::Keep as u64, [25, place, u64::MAX, 0]) < 0);
    }
    // The page stays mapped, and nothing else can be mapped over it.
    for (at, pages) in [(PAGES, 1), (PAGES - 4096, 2), (PAGES, 8), (PAGES + 4096, 1)] {
        assert_eq!((call(Number::Unmap, at, pages), call(Number::Map, at, pages)), (REFUSED, REFUSED));
    }
    assert_eq!(array.get(400), 8);
    changing();
    given_back(array);
    say!("arrays do what they may, and no more");
    // The page of another array isn't mapped.
    touch(PAGES + 7 * 4096);
}

/// While an array waits for another domain, a second thread changes its words: the next calls get the new ones.
fn changing() {
    let (nothing, put) = (command(NOTHING, 403), command(Number::PutFrame as u64, 402));
    let array =
        Array::new(25, &[nothing, command(SERVER, 400), command(SERVER, 401), put]).expect("it is kept");
    array.pass(1, [SLOWLY, 1, 0, 0]);
    array.pass(2, [1, 5, 0, 0]);
    array.pass(3, [0; 4]);
    // SAFETY: the other thread begins later.
    let array = unsafe {
        CHANGING = Some(array);
        (*&raw const CHANGING).as_ref().unwrap_unchecked()
    };
    calls::spawn(change);
    // The last was to be made with nonsense: it is refused.
    assert_eq!(array.call(), 1);
    // The server's answer overwrote what the other thread had found.
    assert_eq!((array.get(400), array.get(401), array.get(402) as i64), (2, 51, REFUSED));
}

/// Registers many more arrays than there are numbers, one after the other under the same numbers; former arrays can
/// neither be called nor handle faults.
fn given_back(array: Array) {
    let fine = [command(NOTHING, 400); 100];
    for time in 0..3000 {
        let number = 26 + time % 5;
        let array = match time % 7 {
            0 => Array::handling(number, 5, &fine),
            _ => Array::new(number, &fine[..1 + time as usize % 100]),
        }
        .expect("it is kept");
        array.set(400, 0);
        assert_eq!((array.call(), array.get(400)), (0, 42));
        assert_eq!(Array::new(number, &fine).err(), Some(REFUSED));
        assert_eq!(array.give_back(), 0);
        assert_eq!((array.call(), array.give_back()), (REFUSED, REFUSED));
    }
    for number in [0, 1, 5, 23, 29, 32, 33, 1 << 32, u64::MAX] {
        assert_eq!(call(Number::GiveBack, number, 0), REFUSED);
    }
    assert_eq!((array.call(), array.give_back()), (1, 0), "another one is there as it was");
    say!("thousands of arrays were kept, and given back");
}

pub fn frames() {
    let put = |frame: u64, at: u64| call(Number::PutFrame, frame, at);
    let release = |frame: u64| call(Number::ReleaseFrame, frame, 0);
    assert_eq!((put(0, AT), release(0)), (REFUSED, REFUSED));
    let frame = call(Number::TakeFrame, 0, 0) as u64;
    for at in PLACES.into_iter().chain([
        AT - 4096,
        AT + 1,
        AT + 8,
        PAGES,
        0x80_0000_0000,
        AT + (64 << 30),
        u64::MAX,
    ]) {
        assert_eq!(put(frame, at), REFUSED, "{at:#x}");
    }
    for number in [frame + 1, 255, 256, 1 << 32, u64::MAX] {
        assert_eq!((put(number, AT), release(number)), (REFUSED, REFUSED), "{number}");
    }
    assert_eq!((put(frame, AT), put(frame, AT), put(frame, AT + 4096)), (0, REFUSED, REFUSED));
    let words = AT as *mut u64;
    // SAFETY: the frame is there.
    let all = unsafe { core::slice::from_raw_parts_mut(words, 512) };
    assert!(all.iter().all(|&word| word == 0), "what another process has left is seen");
    all.fill(0x5ec2_e700_5ec2_e700);
    // No other call can unmap it or map over it.
    for (at, pages) in [(AT, 1), (AT - 4096, 2), (AT + 4096, 1), (AT - 4096, 1024)] {
        assert_eq!((call(Number::Unmap, at, pages), call(Number::Map, at, pages)), (REFUSED, REFUSED));
    }
    let other = call(Number::TakeFrame, 0, 0) as u64;
    assert_eq!(
        (put(other, AT), put(other, AT + 4096), release(other), release(other)),
        (REFUSED, 0, 0, REFUSED)
    );
    // All frames, several times over.
    for _ in 0..3 {
        let mut last = frame;
        let mut count = 0;
        while let number @ 0.. = call(Number::TakeFrame, 0, 0) {
            (last, count) = (number as u64, count + 1);
        }
        assert!(count > 200 && release(last) == 0, "{count} frames");
        (0..256).filter(|&number| number != frame).for_each(|number| _ = release(number));
    }
    assert_eq!(all[511], 0x5ec2_e700_5ec2_e700);
    assert_eq!(release(frame), 0);
    say!("page frames are its own, and nobody else's");
    // It was released, so it isn't mapped.
    touch(AT);
}
