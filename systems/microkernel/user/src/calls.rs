//! The kernel's calls, by number.

use core::arch::{asm, global_asm};

/// Calls that never wait.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Number {
    /// Writes text: address and length.
    Write = 1,
    /// Does nothing.
    Nothing = 2,
    /// Makes this domain callable: entry point and stack.
    Offer = 3,
    /// Sets this domain's signal handler: entry point and stack.
    Signals = 4,
    /// Calls the server.
    Server = 5,
    /// Maps memory: address and number of pages.
    Map = 6,
    /// Unmaps pages.
    Unmap = 7,
    /// Starts a thread: entry point and stack.
    Thread = 8,
    /// Has the kernel call the server; returns how long that took.
    Upcall = 9,
    /// Returns when the kernel delivered the last signal.
    Told = 10,
    // The other calls are for blocks (`systems/blocks`).
    /// Takes a page frame; returns its number.
    TakeFrame = 11,
    /// Maps a frame at an address.
    PutFrame = 12,
    /// Releases a frame, mapped or not.
    ReleaseFrame = 13,
    /// Registers an array of calls: its number, its address and length, and whether it handles page faults. Returns the
    /// address of the page that it shares with the kernel.
    Keep = 14,
    /// Resumes what a signal has interrupted: at an address, or with 0 where it was.
    GoOn = 15,
    /// Ships a program to the kernel: its address and length, and where to write the reason of a refusal.
    Learn = 16,
    /// The number of a program that the kernel knows, by its hash.
    Know = 17,
    /// Runs a program, by a request.
    Run = 18,
    /// Resumes a run.
    Resume = 19,
    /// Stops a run.
    Cancel = 20,
    /// Drops a run.
    Discard = 21,
    /// Requests a signal in so many ticks.
    Alarm = 22,
    /// How many more ticks the present call of this domain may take.
    TimeLeft = 23,
    // Numbers from 24 to 31 are for arrays.
    /// Gives an array's number back.
    GiveBack = 32,
    /// Opens a channel to the server, and returns its address; with 0, closes it.
    Channel = 33,
}

/// The answer of a refused call.
pub const REFUSED: i64 = i64::MIN;

/// Calls that may wait.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Wait {
    /// Resumes what a signal has interrupted: at an address, or with 0 where it was.
    GoOn = 1,
}

unsafe extern "C" {
    pub fn user_call(number: u64, a: u64, b: u64, c: u64, d: u64) -> i64;
    fn user_plain_call(number: u64, a: u64, b: u64, c: u64, d: u64) -> i64;
    fn user_wait(number: u64, a: u64) -> i64;
    fn user_entry();
    fn user_signals();
    fn user_thread();
}

/// Makes a call.
#[inline]
pub fn call(number: Number, a: u64, b: u64) -> i64 {
    // SAFETY: the kernel keeps what calls keep.
    unsafe { user_call(number as u64, a, b, 0, 0) }
}

/// Makes a call with any number.
pub fn call_anything(number: u64, [a, b, c, d]: [u64; 4]) -> i64 {
    // SAFETY: as above.
    unsafe { user_call(number, a, b, c, d) }
}

/// Makes a call that keeps all registers.
#[inline]
pub fn plain_call(number: Number, a: u64, b: u64) -> i64 {
    // SAFETY: as above.
    unsafe { user_plain_call(number as u64, a, b, 0, 0) }
}

/// Makes a call that may wait, with any number.
pub fn wait(number: u64, a: u64) -> i64 {
    // SAFETY: as above.
    unsafe { user_wait(number, a) }
}

/// Yields.
#[inline]
pub fn give_way() {
    // SAFETY: nothing else is done by that.
    unsafe { asm!("int 0x2c", options(nostack, nomem)) };
}

/// Ends the thread or the upcall.
pub fn end(answer: i64) -> ! {
    call_anything(0, [answer as u64, 0, 0, 0]);
    loop {}
}

#[repr(align(16))]
struct Stack(#[allow(dead_code)] [u8; 16384]);

static mut CALLED: Stack = Stack([0; 16384]);
static mut SPAWNED: Stack = Stack([0; 16384]);
static mut SIGNALLED: Stack = Stack([0; 16384]);

/// Makes this domain callable.
pub fn offer() {
    offer_on(&raw mut CALLED as u64 + 16384);
}

/// As [`offer`], on a stack with that upper end.
pub fn offer_on(stack: u64) {
    call(Number::Offer, user_entry as *const () as u64, stack);
}

/// Calls the server, and retries while other clients are calling it; returns its answer, or at last that it is busy.
#[inline(always)]
pub fn ask(what: u64, number: u64) -> i64 {
    match call(Number::Server, what, number) {
        REFUSED => ask_again(what, number),
        answer => answer,
    }
}

#[cold]
#[inline(never)]
fn ask_again(what: u64, number: u64) -> i64 {
    let mut answers = (0..1000).map(|_| {
        give_way();
        call(Number::Server, what, number)
    });
    answers.find(|&answer| answer != REFUSED).unwrap_or(REFUSED)
}

/// Runs a function on another thread of this domain. There may be one such thread at a time.
pub fn spawn(what: extern "C" fn()) {
    // SAFETY: the thread before has ended.
    unsafe { THREAD = what };
    let stack = &raw mut SPAWNED as u64 + 16384;
    call(Number::Thread, user_thread as *const () as u64, stack);
}

static mut THREAD: extern "C" fn() = idle;

extern "C" fn idle() {}

/// Sets the signal handler: a function of the exception and its place, which returns where to resume (0: there).
pub fn on_signal(handler: extern "C" fn(vector: u64, address: u64, at: u64) -> u64) {
    // SAFETY: nobody is told meanwhile.
    unsafe { HANDLER = handler };
    let stack = &raw mut SIGNALLED as u64 + 16384;
    call(Number::Signals, user_signals as *const () as u64, stack);
}

static mut HANDLER: extern "C" fn(u64, u64, u64) -> u64 = nothing;

extern "C" fn nothing(_: u64, _: u64, _: u64) -> u64 {
    0
}

global_asm!(
    ".global user_start",
    "user_start:",
    "call user_main",
    "mov rsi, rax",
    "xor eax, eax",
    "syscall",
    "ud2",
    "user_call:",
    "mov rax, rdi",
    "mov r10, rcx",
    "syscall",
    "ret",
    "user_plain_call:",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "mov rax, rdi",
    "mov r10, rcx",
    "syscall",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "ret",
    "user_wait:",
    "mov rax, rdi",
    "int 0x2e",
    "ret",
    "user_entry:",
    "mov rcx, r10",
    "call user_serve",
    "mov rsi, rax",
    "xor eax, eax",
    "syscall",
    "ud2",
    "user_thread:",
    "call [rip + {thread}]",
    "xor esi, esi",
    "xor eax, eax",
    "syscall",
    "ud2",
    "user_signals:",
    "call [rip + {handler}]",
    "mov rsi, rax",
    "mov eax, 1",
    "int 0x2e",
    "ud2",
    handler = sym HANDLER,
    thread = sym THREAD,
);
