//! A block of calls that a user makes by one system call (CallArray in *composite calls*, Ballesteros): calls and moves
//! in sequence, without conditions or loops.
//!
//! The user submits the block once: the calls, and where each answer goes. The kernel checks it, and keeps a copy that
//! only the kernel can read. Arguments are in a page that kernel and user share: words 0 to 3 are those of the first
//! call, words 4 to 7 those of the second, and so on. The user may write them before each run. An answer goes to a word
//! of the same page, which may be an argument of a later call. So a run copies nothing, looks nothing up, and costs
//! little more than its methods.
//!
//! # Soundness
//!
//! The page, which users can write, isn't trusted: its words are passed as arguments, like registers, and methods
//! accept any arguments. A method is read from the domain's table when it is called, so an unbound one can't be called
//! any more. An array can't call an array, or a run's time would have no bound.

use core::arch::global_asm;
use core::ptr::NonNull;

use crate::domain::{CALLS, Call, Domain, REFUSED};

/// Most calls of an array.
pub const MOST: usize = 100;

/// Words of the shared page.
pub const WORDS: usize = 512;

/// In place of a call's number: moves words. The arguments are source, destination, count, and strides in words: the
/// lower half for the source, the upper half for the destination.
pub const MOVE: u32 = CALLS as u32;

/// A call, as the user submits it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its number in the domain's table, or [`MOVE`].
    pub number: u32,
    /// The word where its answer goes.
    pub answer: u32,
}

/// A checked call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Step {
    call: *const Call,
    answer: *mut u64,
}

/// A checked block of calls, as the kernel keeps it.
#[repr(C)]
#[derive(Debug)]
pub struct Array {
    /// Bytes of the steps, negated: the loop counts up to 0.
    bytes: i64,
    /// The ends of the steps, and of the calls' arguments.
    steps: *const Step,
    words: *const u64,
    /// The method of [`MOVE`].
    moves: Call,
    page: *mut u64,
    kept: [Step; MOST],
}

unsafe extern "C" {
    fn kortex_array(this: *const (), a: u64, b: u64, c: u64, d: u64) -> i64;
}

/// The calls that an array may make.
#[derive(Clone, Copy, Debug)]
pub struct Allowed(
    /// For each number of a domain: whether arrays may call it.
    pub u64,
);

impl Allowed {
    /// The first command that isn't allowed; `None`: all are.
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
    /// Keeps a domain's commands, which [`Allowed::wrong`] has accepted. The result is bound to a number; calling it
    /// makes all of them. Its answer counts the calls that weren't made, of which the first was refused.
    ///
    /// A later array may replace the one in the same `place`, with the same page. A thread that is then within the
    /// first array, in a call of another domain, goes on with what follows that call, in either array.
    ///
    /// # Safety
    /// The domain stays. `place` and `page` are memory for as long as the array can be called. `place` has no other
    /// use, and holds zeros before its first array. `page` is [`WORDS`] words that only users use besides. No number
    /// leads to an array, or to a [`Call`] that doesn't return.
    pub unsafe fn keep(
        domain: &'static Domain,
        commands: &[Command],
        place: NonNull<Array>,
        page: NonNull<u64>,
    ) -> Call {
        let (this, page) = (place.as_ptr(), page.as_ptr());
        // SAFETY: the caller promises that `place` and `page` are memory for these uses; all words lie in the page.
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
    // At most 2^41, if the first is a word of the page.
    let is_within = |first: u64, step: u64| first < END && first + count.saturating_sub(1) * step < END;
    if !is_within(from, from_step) || !is_within(to, to_step) {
        return REFUSED;
    }
    // SAFETY: the caller promises that `this` is an `Array`.
    let page = unsafe { (*this.cast::<Array>()).page };
    for number in 0..count {
        let [from, to] = [from + number * from_step, to + number * to_step].map(|word| word as usize);
        // SAFETY: both are words of the page, which users may change meanwhile.
        unsafe { page.add(to).write_volatile(page.add(from).read_volatile()) };
    }
    0
}

// `cmp rax, 1` overflows only for `REFUSED`, the answer of a refused call.
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
