//! Measures page frames: taking several at once, and page faults that the user handles.

use core::arch::asm;

use crate::arrays::{Array, COUNTS, command};
use crate::programs::{FAULT, learn, wire};
use crate::shipping::{ENDED, Request};
use counting::{measure, median, now};
use users::calls::{self, Number, call};
use users::say;

/// The address range of frames.
pub const AT: u64 = 0x80_0000_0000 + (256 << 30);

const TAKE: u64 = Number::TakeFrame as u64;
const PUT: u64 = Number::PutFrame as u64;

fn release(frame: u64) {
    assert_eq!(call(Number::ReleaseFrame, frame, 0), 0);
}

/// Takes frames by single calls, and by arrays.
pub fn measures() {
    let start = now();
    let frame = call(Number::TakeFrame, 0, 0) as u64;
    say!("page frame for the first time {}", now() - start);
    release(frame);
    for (count, number) in COUNTS.map(|(count, number)| (count, number + 3)) {
        let mut frames = [0; 100];
        let without = measure(|| ());
        let single = median(|| {
            let start = now();
            for frame in &mut frames[..count] {
                *frame = call(Number::TakeFrame, 0, 0) as u64;
            }
            let taken = now() - start;
            frames[..count].iter().for_each(|&frame| release(frame));
            taken
        });
        let mut commands = [0; 100];
        (0..count).for_each(|index| commands[index] = command(TAKE, 400 + index as u64));
        let array = Array::new(number, &commands[..count]).expect("it is kept");
        let composite = median(|| {
            let start = now();
            let left = array.call();
            let taken = now() - start;
            assert_eq!(left, 0);
            (0..count).for_each(|index| release(array.get(400 + index)));
            taken
        });
        say!("page frames {count} single {}", single - without);
        say!("page frames {count} {}", composite - without);
    }
}

/// The frame that a fault has taken.
static mut TAKEN: u64 = 0;

/// Handles a fault by two calls, and one that ends the handler.
extern "C" fn by_single_calls(_: u64, address: u64, _: u64) -> u64 {
    let frame = call(Number::TakeFrame, 0, 0) as u64;
    call(Number::PutFrame, frame, address & !4095);
    // SAFETY: nobody else is told.
    unsafe { TAKEN = frame };
    call(Number::GoOn, 0, 0) as u64
}

/// The program that handles faults.
static mut PROGRAM: i64 = 0;

/// Handles a fault by a program.
extern "C" fn by_program(_: u64, address: u64, _: u64) -> u64 {
    let mut results = [[0; 8]];
    // SAFETY: nobody else is told, and the program is known.
    let (status, _) = Request::new(&wire([address as i64 & !4095]), &mut results).run(unsafe { PROGRAM });
    // Without a page the fault would recur for ever.
    assert_eq!(status, ENDED);
    // SAFETY: as above.
    unsafe { TAKEN = i64::from_be_bytes(results[0]) as u64 };
    call(Number::GoOn, 0, 0) as u64
}

/// The array that handles faults; the frame's number goes to the second call's argument.
static mut HANDLING: Option<Array> = None;

/// Handles a fault by an array that also ends the handler.
extern "C" fn by_array(_: u64, address: u64, _: u64) -> u64 {
    // SAFETY: it was made before, and nobody else is told.
    unsafe {
        let array = (*&raw const HANDLING).as_ref().unwrap_unchecked();
        array.set(5, address & !4095);
        array.call() as u64
    }
}

/// Isn't called: the kernel calls the array.
extern "C" fn not_told(vector: u64, address: u64, _: u64) -> u64 {
    panic!("the array wasn't called: exception {vector} at {address:#x}")
}

/// Measures a page fault, from the instruction that touches the page until that is done.
pub fn faults() {
    say!("page fault single {}", fault(by_single_calls));
    // SAFETY: nobody is told meanwhile.
    unsafe { PROGRAM = learn(FAULT) };
    say!("page fault program {}", fault(by_program));
    let array = Array::new(30, &[command(TAKE, 4), command(PUT, 12), command(Number::GoOn as u64, 12)])
        .expect("it is kept");
    // SAFETY: nobody is told meanwhile.
    unsafe { HANDLING = Some(array) };
    say!("page fault composite {}", fault(by_array));
    let array = Array::handling(31, 5, &[command(TAKE, 4), command(PUT, 12)]).expect("it is kept");
    // SAFETY: likewise.
    unsafe { HANDLING = Some(array) };
    say!("page fault by the kernel {}", fault(not_told));
}

fn fault(handler: extern "C" fn(u64, u64, u64) -> u64) -> u64 {
    calls::on_signal(handler);
    let without = measure(|| ());
    let all = median(|| {
        let start = now();
        // SAFETY: the handler puts a page there.
        unsafe { asm!("mov qword ptr [{}], 1", in(reg) AT + 8) };
        let handled = now() - start;
        // SAFETY: the handler has ended.
        release(unsafe { (*&raw const HANDLING).as_ref().map_or(TAKEN, |array| array.get(4)) });
        handled
    });
    all - without
}
