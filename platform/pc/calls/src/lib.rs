//! What the kernel of a machine and the domains of its users agree on: what is where in a domain, what it is told when
//! it begins, and what it may ask.

#![no_std]

/// Where a domain's program is. From here on addresses are users'.
pub const PROGRAM: usize = 1 << 39;

const GIGABYTE: usize = 1 << 30;

/// Where a domain finds what it is told: a [`Start`].
pub const START: usize = PROGRAM + GIGABYTE;
/// Where what it shares with its holder is: a channel.
pub const CHANNEL: usize = PROGRAM + 2 * GIGABYTE;
/// Bytes of each of the channel's rings.
pub const RING: usize = 64 << 10;
/// Below this is its stack, which gets its pages when they are used, and below which there is nothing.
pub const STACK_END: usize = PROGRAM + 3 * GIGABYTE;
/// Bytes of its stack: as many as the home has.
pub const STACK: usize = 1 << 20;
/// Below this is the stack on which it is told that time passes.
pub const TICK_STACK_END: usize = STACK_END + GIGABYTE / 2;
/// Bytes of that one.
pub const TICK_STACK: usize = 16 << 10;
/// From here on there is as much memory as it has asked for.
pub const MEMORY: usize = PROGRAM + 4 * GIGABYTE;

/// So many bytes behind a program's first instruction is what the kernel calls when time passes.
pub const TICKS: usize = 16;

/// What a domain is told when it begins: words, with nothing between them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Which template its component is of: so many bytes its description is behind the program's own.
    pub template: isize,
    /// Messages of a communication that may be on their way.
    pub capacity: u64,
    /// Bytes that its program may have.
    pub memory: usize,
    /// Pages that there are for it at most.
    pub pages: usize,
    /// Where `RANDOM` begins.
    pub seed: u64,
    /// What the processor's counter said when the clock was started.
    pub counter: u64,
    /// What it counts in a second.
    pub rate: u64,
}

/// What a domain may ask of the kernel: `int` [`VECTOR`] with this in rax, and up to four words in rsi, rdx, r10 and
/// r8. The answer is in rax; all other registers are kept.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// It has ended, with a status.
    End = 0,
    /// What was interrupted goes on, where it was.
    GoOn = 1,
    /// Bytes for people: to which [`Stream`], where they are and how many, no more than [`MOST_BYTES`]. [`SOON`], as
    /// long as there are others of this domain that haven't been written.
    Write = 2,
    /// So many pages more, behind those that it has, and no more than [`MOST_PAGES`] at once.
    Grow = 3,
    /// Others run until its bell rings, or so many nanoseconds have passed; 0: they have a turn.
    Rest = 4,
    /// Its holder's bell rings.
    Ring = 5,
}

/// See [`Ask`].
pub const VECTOR: usize = 0x2e;

/// Where bytes go.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The program's output.
    Output = 0,
    /// Where it complains.
    Errors = 1,
}

/// A message of no more bytes is written whole, whatever others write.
pub const MOST_BYTES: usize = 1024;

/// The kernel isn't interrupted while it makes pages.
pub const MOST_PAGES: usize = 256;

/// An answer: it has been done.
pub const DONE: i64 = 0;
/// An answer: it can't be done now, but soon.
pub const SOON: i64 = 1;
/// A time that never comes.
pub const NEVER: u64 = u64::MAX;
