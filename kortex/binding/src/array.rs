//! A block of calls that a user makes by one call (paper 000's CallArray): calls and moves, one after the other,
//! without conditions or loops.
//!
//! The user says once which calls these are, and where each answer goes; that is checked, and kept where only the
//! kernel reads it. What is passed lies in a page that both have: the user puts the words of the first call to the
//! first four, and so on, and may do so before each time; an answer goes to a word of that page, which may be one of a
//! later call. So nothing is copied and nothing is looked up when the block is called, and it costs little more than
//! its methods.
//!
//! # Soundness
//!
//! Of what users can write, that is of the page, nothing is believed: its words are what is passed, as in registers,
//! and a method takes whatever a user says. A method is read from the domain's table when it is called, so that what is
//! unbound can't be called any more. An array can't call an array: then its time would have no bound.

use core::arch::global_asm;
use core::ptr::NonNull;

use crate::domain::{CALLS, Call, Domain, REFUSED};

/// So many calls an array makes at most.
pub const MOST: usize = 100;

/// Words of the page that it shares with its user.
pub const WORDS: usize = 512;

/// In the place of a number of the domain's: words are moved. From where, to where, how many, and by how many words
/// from one to the next: in the lower half where they come from, in the upper half where they go.
pub const MOVE: u32 = CALLS as u32;

/// What a user says of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its number in the domain's table, or [`MOVE`].
    pub number: u32,
    /// The word where its answer goes.
    pub answer: u32,
}

/// One that was checked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Step {
    call: *const Call,
    answer: *mut u64,
}

/// See the head of this file.
#[repr(C)]
#[derive(Debug)]
pub struct Array {
    /// Bytes of its steps, below 0: it is counted up to 0.
    bytes: i64,
    /// Behind the last step, and behind the words of the last call.
    steps: *const Step,
    words: *const u64,
    /// By which words are moved.
    moves: Call,
    page: *mut u64,
    kept: [Step; MOST],
}

unsafe extern "C" {
    fn kortex_array(this: *const (), a: u64, b: u64, c: u64, d: u64) -> i64;
}

/// What an array may consist of.
#[derive(Clone, Copy, Debug)]
pub struct Allowed(
    /// For each number of a domain whether arrays may call it.
    pub u64,
);

impl Allowed {
    /// Says of commands which is the first that can't be; `None`: all can.
    pub fn wrong(self, commands: &[Command]) -> Option<usize> {
        let is_wrong = |command: &Command| {
            let is_known = match command.number {
                MOVE => true,
                number if number < MOVE => self.0 >> number & 1 != 0,
                _ => false,
            };
            !is_known || command.answer as usize >= WORDS
        };
        match commands.len() {
            1..=MOST => commands.iter().position(is_wrong),
            count => Some(count.min(MOST)),
        }
    }
}

impl Array {
    /// Keeps commands of a domain's that [`Allowed::wrong`] has nothing against: what a number is bound to, by which
    /// all of them are called. It answers how many weren't made: the first of those was refused.
    ///
    /// Where one was kept another may be, with the same page: a thread that is still within the first, in a call of
    /// another domain, goes on with what is behind that call then, of either.
    ///
    /// # Safety
    /// The domain stays. `place` and `page` are memory for as long as somebody calls it: `place` nobody else's and
    /// zeros before the first is kept there, `page` [`WORDS`] words that nobody else but users uses. None of the
    /// numbers leads to an array, or to [`Call`]s that don't come back.
    pub unsafe fn keep(
        domain: &'static Domain,
        commands: &[Command],
        place: NonNull<Array>,
        page: NonNull<u64>,
    ) -> Call {
        let (this, page) = (place.as_ptr(), page.as_ptr());
        // SAFETY: as the caller promises; what is kept of the array is its own, and words lie in the page.
        unsafe {
            (*this).bytes = -((size_of::<Step>() * commands.len()) as i64);
            (*this).steps = (&raw const (*this).kept).cast::<Step>().add(commands.len());
            (*this).words = page.add(4 * commands.len());
            (*this).moves = Call { method: moves, this: this.cast() };
            (*this).page = page;
            for (index, &Command { number, answer }) in commands.iter().enumerate() {
                let call = match number {
                    MOVE => &raw const (*this).moves,
                    number => domain.place(number as usize),
                };
                (*this).kept[index] = Step { call, answer: page.add(answer as usize) };
            }
        }
        Call { method: kortex_array, this: this.cast() }
    }
}

/// # Safety
/// `this` is an [`Array`].
unsafe extern "C" fn moves(this: *const (), from: u64, to: u64, count: u64, steps: u64) -> i64 {
    const END: u64 = WORDS as u64;
    let (from_step, to_step) = (steps & 0xffff_ffff, steps >> 32);
    if count > END {
        return REFUSED;
    }
    // No more than 2^41, where the first is a word of the page.
    let is_within = |first: u64, step: u64| first < END && first + count.saturating_sub(1) * step < END;
    if !is_within(from, from_step) || !is_within(to, to_step) {
        return REFUSED;
    }
    // SAFETY: as the caller promises.
    let page = unsafe { (*this.cast::<Array>()).page };
    for number in 0..count {
        let [from, to] = [from + number * from_step, to + number * to_step].map(|word| word as usize);
        // SAFETY: both are words of the page, which users may change meanwhile.
        unsafe { page.add(to).write_volatile(page.add(from).read_volatile()) };
    }
    0
}

// `cmp rax, 1` overflows only for what says that a call was refused.
global_asm!(
    ".pushsection .text.kortex_array, \"ax\"",
    ".balign 16",
    ".global kortex_array",
    "kortex_array:",
    "push rbx",
    "push rbp",
    "push r12",
    "mov rbx, [rdi]",
    "mov rbp, [rdi + 8]",
    "mov r12, [rdi + 16]",
    "2:",
    "mov rax, [rbp + rbx]",
    "mov rsi, [r12 + rbx * 2]",
    "mov rdx, [r12 + rbx * 2 + 8]",
    "mov rcx, [r12 + rbx * 2 + 16]",
    "mov r8, [r12 + rbx * 2 + 24]",
    "mov rdi, [rax + 8]",
    "call [rax]",
    "mov rcx, [rbp + rbx + 8]",
    "mov [rcx], rax",
    "cmp rax, 1",
    "jo 3f",
    "add rbx, {step}",
    "jnz 2b",
    "3:",
    "mov rax, rbx",
    "neg rax",
    "shr rax, {shift}",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    ".popsection",
    step = const size_of::<Step>(),
    shift = const size_of::<Step>().trailing_zeros(),
);

const _: () = assert!(REFUSED == i64::MIN && size_of::<Step>() == 16 && 4 * MOST <= WORDS);
