//! The contract between a machine's kernel and its users' domains: a domain's memory layout, the [`Start`] that it is
//! given, and the calls that it may make ([`Ask`]).

#![no_std]

/// The address of a domain's program, and the first of the users' addresses.
pub const PROGRAM: usize = 1 << 39;

const GIGABYTE: usize = 1 << 30;

/// The address of a domain's [`Start`].
pub const START: usize = PROGRAM + GIGABYTE;
/// The address of the channel that a domain shares with its holder.
pub const CHANNEL: usize = PROGRAM + 2 * GIGABYTE;
/// Bytes of each of the channel's rings.
pub const RING: usize = 64 << 10;
/// The end of a domain's stack, which gets its pages on first use. The page below the stack is never mapped.
pub const STACK_END: usize = PROGRAM + 3 * GIGABYTE;
/// Bytes of a domain's stack: as many as the home's.
pub const STACK: usize = 1 << 20;
/// The end of the stack for ticks.
pub const TICK_STACK_END: usize = STACK_END + GIGABYTE / 2;
/// Bytes of the stack for ticks.
pub const TICK_STACK: usize = 16 << 10;
/// The start of the memory that a domain has asked for.
pub const MEMORY: usize = PROGRAM + 4 * GIGABYTE;

/// The offset of the tick handler from a program's first instruction. The kernel calls it when time passes.
pub const TICKS: usize = 16;

/// What a domain is told at its start. All fields are words, without padding.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The component's template, as an offset in bytes from the program's description.
    pub template: isize,
    /// Messages of a communication that may be on their way.
    pub capacity: u64,
    /// Most bytes for the domain's program.
    pub memory: usize,
    /// Most pages of the domain.
    pub pages: usize,
    /// The seed of `RANDOM`.
    pub seed: u64,
    /// The cycle counter when the clock was started.
    pub counter: u64,
    /// The cycle counter's rate a second.
    pub rate: u64,
}

/// A domain's calls to the kernel: `int` [`VECTOR`] with this number in rax, and up to four words in rsi, rdx, r10 and
/// r8. The answer is in rax; all other registers are kept.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Ends the domain, with a status.
    End = 0,
    /// Returns from a tick: the interrupted code is resumed.
    GoOn = 1,
    /// Writes bytes for people: the [`Stream`], their address, and their number, at most [`MOST_BYTES`]. The answer is
    /// [`SOON`] while an earlier message of this domain hasn't been written.
    Write = 2,
    /// Adds pages, at most [`MOST_PAGES`] at once, after those that the domain has.
    Grow = 3,
    /// Rests until the domain's bell rings, or for at most so many nanoseconds; 0: lets other threads have a turn.
    Rest = 4,
    /// Rings the holder's bell.
    Ring = 5,
}

/// The vector of the calls in [`Ask`].
pub const VECTOR: usize = 0x2e;

/// The stream that bytes are written to.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The program's output.
    Output = 0,
    /// Error messages.
    Errors = 1,
}

/// A message of at most so many bytes is written whole, not mixed with other messages.
pub const MOST_BYTES: usize = 1024;

/// Most pages of one call. The kernel isn't interrupted while it makes them.
pub const MOST_PAGES: usize = 256;

/// An answer: done.
pub const DONE: i64 = 0;
/// An answer: not possible now, but soon.
pub const SOON: i64 = 1;
/// A time that never comes.
pub const NEVER: u64 = u64::MAX;
