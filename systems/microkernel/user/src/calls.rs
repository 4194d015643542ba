//! The calls that the kernel binds for each domain, by their numbers.

use core::arch::{asm, global_asm};

/// Calls that never wait.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Number {
    /// Text, where it is and how long.
    Write = 1,
    /// Nothing is done.
    Nothing = 2,
    /// This domain can be called: where, and on which stack.
    Offer = 3,
    /// This domain wants to be told what happens to it: where, and on which stack.
    Signals = 4,
    /// The server's component.
    Server = 5,
    /// Memory: where, and how many pages.
    Map = 6,
    /// Pages that aren't needed any more.
    Unmap = 7,
    /// One more thread: what it does, and on which stack.
    Thread = 8,
    /// The kernel calls the server, and answers what that took.
    Upcall = 9,
    /// When the kernel told somebody last what had happened.
    Told = 10,
    // The others are of blocks of calls (`systems/blocks`).
    /// A page frame: its number.
    TakeFrame = 11,
    /// Puts a frame to an address.
    PutFrame = 12,
    /// Releases a frame, wherever it is.
    ReleaseFrame = 13,
    /// Keeps an array of calls: under which number, where it is, and how many; and whether it handles page faults.
    /// Where the page is that the kernel sees, too.
    Keep = 14,
    /// What a signal has interrupted goes on: where, or 0.
    GoOn = 15,
    /// Has the kernel know a program: where it is, and how long; and where to say why not.
    Learn = 16,
    /// The number of a program that the kernel knows, by its hash.
    Know = 17,
    /// Runs a program, as a request says.
    Run = 18,
    /// Has a run go on.
    Resume = 19,
    /// Stops a run.
    Cancel = 20,
    /// Forgets a run.
    Discard = 21,
    /// This domain wants to be told in so many ticks.
    Alarm = 22,
    /// How many ticks the call of this domain may take yet that runs.
    TimeLeft = 23,
    // Numbers from 24 to 31 are arrays'.
    /// Gives the number of an array back.
    GiveBack = 32,
    /// This domain has a channel to its server: where; with 0 it gives that back.
    Channel = 33,
}

/// What a call answers that was refused.
pub const REFUSED: i64 = i64::MIN;

/// Calls that may wait.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Wait {
    /// What a signal has interrupted goes on: where, or 0.
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

/// Calls by the number.
#[inline]
pub fn call(number: Number, a: u64, b: u64) -> i64 {
    // SAFETY: the kernel keeps what calls keep.
    unsafe { user_call(number as u64, a, b, 0, 0) }
}

/// Calls whatever number.
pub fn call_anything(number: u64, [a, b, c, d]: [u64; 4]) -> i64 {
    // SAFETY: as above.
    unsafe { user_call(number, a, b, c, d) }
}

/// Calls by the number, and keeps all registers.
#[inline]
pub fn plain_call(number: Number, a: u64, b: u64) -> i64 {
    // SAFETY: as above.
    unsafe { user_plain_call(number as u64, a, b, 0, 0) }
}

/// Makes a call that may wait, whatever its number.
pub fn wait(number: u64, a: u64) -> i64 {
    // SAFETY: as above.
    unsafe { user_wait(number, a) }
}

/// Others have a turn.
#[inline]
pub fn give_way() {
    // SAFETY: nothing else is done by that.
    unsafe { asm!("int 0x2c", options(nostack, nomem)) };
}

/// The thread, or the upcall, ends.
pub fn end(answer: i64) -> ! {
    call_anything(0, [answer as u64, 0, 0, 0]);
    loop {}
}

#[repr(align(16))]
struct Stack(#[allow(dead_code)] [u8; 16384]);

static mut CALLED: Stack = Stack([0; 16384]);
static mut SPAWNED: Stack = Stack([0; 16384]);
static mut SIGNALLED: Stack = Stack([0; 16384]);

/// This domain can be called.
pub fn offer() {
    offer_on(&raw mut CALLED as u64 + 16384);
}

/// The same, on a stack that ends there.
pub fn offer_on(stack: u64) {
    call(Number::Offer, user_entry as *const () as u64, stack);
}

/// Asks the server, and again while it is being called by others: what it answers, or at last that it can't be asked.
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

/// Another thread of this domain does something, and ends. There may be one such at a time.
pub fn spawn(what: extern "C" fn()) {
    // SAFETY: the thread before has ended.
    unsafe { THREAD = what };
    let stack = &raw mut SPAWNED as u64 + 16384;
    call(Number::Thread, user_thread as *const () as u64, stack);
}

static mut THREAD: extern "C" fn() = idle;

extern "C" fn idle() {}

/// What happens to this domain goes to a function that is told what it was, and says where to go on (0: there).
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
