//! Violations that users must not get away with, each tried by a domain of its own.

use core::arch::asm;
use core::arch::x86_64::_rdtsc;

use crate::calls::{self, Number, call, call_anything};
use crate::say;

/// Writes to an address.
pub fn touch(address: u64) -> i64 {
    // SAFETY: there is none: that is what is tried.
    unsafe { asm!("mov qword ptr [{}], 1", in(reg) address) };
    1
}

/// Reads from an address.
fn look(address: u64) {
    // SAFETY: as above.
    unsafe { asm!("mov {0}, qword ptr [{0}]", inout(reg) address => _) };
}

fn jump(address: u64) {
    // SAFETY: as above.
    unsafe { asm!("call {}", in(reg) address, clobber_abi("C")) };
}

/// Addresses of the kernel's image, its data, its page tables and devices, and unmapped ones.
pub const PLACES: [u64; 9] = [
    0,
    0x10_0000,
    0x12_0000,
    0x40_0000,
    0xfee0_0000,
    0x3fff_f000,
    0xffff_ffff_ffff_fff8,
    0x7fff_ffff_f000,
    0x8000_0000_0000,
];

/// Tries the attack with this number.
pub fn attack(number: u64) {
    let place = PLACES[number as usize % PLACES.len()];
    let code = attack as *const () as u64;
    match number {
        0..9 => _ = touch(place),
        9..18 => look(place),
        18..27 => jump(place),
        // Code isn't writable, and data isn't executable.
        27 => _ = touch(code),
        28 => {
            let data = [0xc3c3_c3c3_c3c3_c3c3_u64; 2];
            jump(data.as_ptr() as u64);
        }
        // SAFETY: what the kernel alone may do.
        29 => unsafe { asm!("cli") },
        // SAFETY: likewise.
        30 => unsafe { asm!("out dx, al", in("dx") 0xf4_u16, in("al") 1_u8) },
        // SAFETY: likewise.
        31 => unsafe { asm!("mov cr3, {}", in(reg) 0_u64) },
        // SAFETY: likewise.
        32 => unsafe { asm!("wrmsr", in("ecx") 0xc000_0082_u32, in("eax") 0, in("edx") 0) },
        // SAFETY: the stack is nowhere when the instruction stops.
        33 => unsafe { asm!("mov rsp, 8", "int3", "ud2") },
        // SAFETY: the kernel is called with a stack of its own, and flags that it must not take over.
        34 => unsafe { asm!("mov r11, rsp", "xor esp, esp", "std", "pushfq", options(noreturn)) },
        35 => exhaust(),
        36 => bad_calls(),
        37 => {
            assert!(call(Number::Server, 2, 0) < 0, "a call that never ends has no answer");
            say!("a call that never returned was ended");
            touch(0);
        }
        38 => linger(),
        39 => endless_signals(),
        40 => divide(),
        41 => strange_end(),
        42 => many_threads(),
        43 => betrayed_meanwhile(),
        44 => betrayed_before(),
        45 => let_in(),
        46 => betrayed_by_answer(),
        // SAFETY: registers that the kernel doesn't keep; on a machine it stops there.
        47 => unsafe { asm!("movaps xmm0, xmm1", "int3", out("xmm0") _) },
        _ => say!("there is no attack {number}"),
    }
    say!("attack {number} was not stopped");
}

/// Never yields, for as long as fifty slices. If other domains had the processor meanwhile, one of them has been
/// signalled.
fn linger() {
    let told = call(Number::Told, 0, 0);
    // SAFETY: the kernel lets everybody read the counter.
    let start = unsafe { _rdtsc() };
    // SAFETY: likewise.
    while unsafe { _rdtsc() } - start < 50_000_000 {}
    match call(Number::Told, 0, 0) - told {
        0 => say!("a domain that never gave way was the only one"),
        _ => say!("a domain that never gave way was not the only one"),
    }
    touch(0);
}

/// Sets the flag that opens users' memory to the kernel, and then faults.
fn let_in() {
    // SAFETY: a flag that does nothing here; the stack is as it was when the instruction stops.
    unsafe { asm!("pushfq", "or qword ptr [rsp], 1 << 18", "popfq", "mov eax, [rsp + 1]", "ud2") };
}

/// Takes all the memory that it can get.
fn exhaust() {
    let mut at = 0xa0_0000_0000;
    while call(Number::Map, at, 16) == 0 {
        at += 16 * 4096;
    }
    assert!(call(Number::Unmap, at - 16 * 4096, 16) == 0 && call(Number::Map, at - 16 * 4096, 16) == 0);
    let got = (at - 0xa0_0000_0000) / 4096;
    assert!(call(Number::Map, 0x40_0000, 1) < 0 && call(Number::Map, 0xa0_0000_0001, 1) < 0);
    assert!(call(Number::Map, u64::MAX & !4095, u64::MAX) < 0);
    say!("a domain got {} pages, and no more", if got > 0 && got < 4096 { "some" } else { "too many" });
    touch(0);
}

/// Passes invalid pointers where pointers are expected.
fn bad_calls() {
    // An address that users may have, but that isn't mapped: the kernel finds that when it has begun to copy.
    const NOTHING: u64 = 0x98_0000_0000;
    // All calls but the server's two, which may take long, and the alarm, which would send a signal.
    let numbers = (1..40).filter(|number| ![5, 9, 22].contains(number));
    for number in numbers.chain([40, 1000, 1 << 32, 1 << 60, u64::MAX]) {
        for place in PLACES.into_iter().chain([NOTHING]) {
            for length in [0, 1, 4096, 1 << 20, 1 << 47, u64::MAX] {
                call_anything(number, [place, length, place, length]);
            }
        }
    }
    for number in 2..2000 {
        calls::wait(number, 0);
        calls::wait(u64::MAX / number, number);
    }
    // No signal is being handled, so nothing can be resumed.
    calls::wait(calls::Wait::GoOn as u64, 0x10_0000);
    say!("all bad calls were refused");
    touch(0);
}

extern "C" fn worse(_: u64, _: u64, _: u64) -> u64 {
    touch(16) as u64
}

/// Faults in the handler of its own fault.
fn endless_signals() {
    calls::on_signal(worse);
    touch(0);
}

fn divide() {
    // SAFETY: there is no answer.
    unsafe { asm!("xor edx, edx", "div {}", in(reg) 0_u64, inout("rax") 1_u64 => _, out("rdx") _) };
}

extern "C" fn into_kernel(_: u64, _: u64, _: u64) -> u64 {
    0x10_0000
}

/// Resumes interrupted code at an address of the kernel.
fn strange_end() {
    calls::on_signal(into_kernel);
    touch(0);
}

/// The server's answer to the handler.
static mut ANSWER: i64 = 0;

extern "C" fn ask(_: u64, _: u64, _: u64) -> u64 {
    // SAFETY: nobody else is told.
    unsafe { ANSWER = call(Number::Server, 4, 0) };
    0
}

extern "C" fn ask_worse(_: u64, _: u64, _: u64) -> u64 {
    // SAFETY: likewise.
    unsafe { ANSWER = call(Number::Server, 5, 0) };
    0
}

/// The server's side: tries to resume what a signal has interrupted in the caller's domain; returns whether that was
/// refused.
pub fn end_others_handler() -> i64 {
    i64::from(calls::wait(calls::Wait::GoOn as u64, 0) == i64::MIN)
}

/// The server's side: faults, and faults again in its signal handler.
pub fn fault_twice() -> i64 {
    calls::on_signal(worse);
    touch(8)
}

/// Raises an exception, handles it by this handler, and continues behind it.
fn interrupted(handler: extern "C" fn(u64, u64, u64) -> u64) {
    calls::on_signal(handler);
    let mut kept = 0x1234_5678_u64;
    // SAFETY: the handler has what is behind it go on.
    unsafe { asm!("int3", inout("r12") kept) };
    assert!(kept == 0x1234_5678, "what was interrupted goes on as it was");
}

/// From its signal handler, calls a server that tries to end that handler, and one that faults.
fn betrayed_meanwhile() {
    for (handler, expected) in [(ask as extern "C" fn(u64, u64, u64) -> u64, 1), (ask_worse, i64::MIN)] {
        interrupted(handler);
        // SAFETY: the handler has ended.
        assert!(unsafe { ANSWER } == expected, "the server was refused, or is dead");
    }
    say!("a handler is ended by its own domain only");
    strange_end();
}

/// Raises a signal after a call to a server that faulted in its own signal handler.
fn betrayed_before() {
    assert!(call(Number::Server, 5, 0) == i64::MIN, "a server that is dead has no answer");
    interrupted(ask);
    say!("a server's handler ends with it");
    strange_end();
}

/// Raises a signal after a call to a server that answered from its signal handler.
fn betrayed_by_answer() {
    assert!(call(Number::Server, 6, 0) == 17, "the server's handler answers");
    interrupted(ask);
    say!("a client is told, whatever its server was");
    strange_end();
}

extern "C" fn answer(_: u64, _: u64, _: u64) -> u64 {
    calls::end(17)
}

/// The server's side: faults, and answers from its signal handler.
pub fn answer_from_handler() -> i64 {
    calls::on_signal(answer);
    touch(8)
}

extern "C" fn nothing() {}

/// Starts more threads than there is memory for, one after the other.
fn many_threads() {
    for _ in 0..30_000 {
        calls::spawn(nothing);
        calls::give_way();
    }
    say!("threads that have ended take nothing");
    touch(0);
}

/// Makes random calls, from a seed.
pub fn fuzz(seed: u64) {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let own = fuzz as *const () as u64;
    // One domain in four handles its signals.
    if next() % 4 == 0 {
        calls::on_signal(skip);
    }
    for _ in 0..2000 {
        let mut word = || match next() % 8 {
            0 => next(),
            1 => PLACES[next() as usize % PLACES.len()],
            2 => own + next() % 65536,
            3 => &raw const random_bytes as u64 + next() % 4096,
            4 => 0xa0_0000_0000 + (next() % 64) * 4096,
            5 => 1 << (next() % 64),
            _ => next() % 64,
        };
        let words = [word(), word(), word(), word()];
        match next() % 8 {
            0 => _ = calls::wait(next() % 9, words[0]),
            1 => _ = calls::wait(next(), words[0]),
            2 => calls::give_way(),
            3 => _ = call(Number::Server, next() % 5, words[1]),
            // Ending must not come too soon.
            _ => _ = call_anything(1 + next() % 40, words),
        }
    }
}

#[allow(non_upper_case_globals)]
static mut random_bytes: [u8; 8192] = [7; 8192];

/// Resumes a byte further.
extern "C" fn skip(_: u64, _: u64, at: u64) -> u64 {
    at + 1
}
