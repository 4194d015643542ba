//! What every thread of the runtime needs of the platform: the clock, threads, the ticker, and memory. What only the
//! home worker's thread needs is in [`Platform`](crate::platform::Platform).

use alloc::boxed::Box;

/// What every thread needs of the platform.
pub trait Threads: Sync {
    /// Nanoseconds since some moment before the program's start; never runs backwards.
    fn clock(&self) -> u64;

    /// How many processors there are. A platform with more than one implements this and the next three functions.
    fn processors(&self) -> usize {
        1
    }

    /// Starts the thread of worker `worker` (1, 2, ...), which calls `run(argument)` once. A platform without threads
    /// answers `false`.
    fn start_worker(&self, _worker: usize, _run: unsafe fn(argument: usize), _argument: usize) -> bool {
        false
    }

    /// Blocks the calling thread, that of worker `worker`, until [`Threads::unpark`] is called for it, or was called
    /// since it was parked last. May return early.
    fn park(&self, _worker: usize) {}

    /// See [`Threads::park`].
    fn unpark(&self, _worker: usize) {}

    /// Starts the ticker (a thread, or a timer interrupt). It calls `tick` again and again, and waits after each call
    /// for the nanoseconds that `tick` answers. [`TICK_SLEEP`]: until [`Threads::wake_ticker`] is called, or was called
    /// since the last call of `tick`. [`TICK_STOP`]: the ticker ends. `tick` neither allocates nor frees nor waits, so
    /// that an interrupt may call it; to drop it frees memory.
    fn start_ticker(&self, tick: Tick);

    /// Ends the ticker's wait, if it sleeps.
    fn wake_ticker(&self);

    /// Ends the home worker's [`Platform::wait`](crate::platform::Platform::wait), or its next one.
    fn notify(&self);

    /// Gets zeroed memory for the heap, aligned to 4096; `bytes` is a multiple of 4096. Null if there is none.
    fn allocate(&self, bytes: usize) -> *mut u8;

    /// Gives back what [`Threads::allocate`] gave.
    ///
    /// # Safety
    /// `memory` came from `allocate` with the same size, and is not used any more.
    unsafe fn free(&self, memory: *mut u8, bytes: usize);

    /// The heap has given back what the program doesn't need any more, and all workers are idle: a good time for Rust's
    /// allocator to give back what it holds.
    fn trim(&self) {}
}

/// See [`Threads::start_ticker`].
pub type Tick = Box<dyn Fn() -> u64 + Send>;

/// Answer of a tick: see [`Threads::start_ticker`].
pub const TICK_SLEEP: u64 = u64::MAX;
/// Answer of a tick: see [`Threads::start_ticker`].
pub const TICK_STOP: u64 = 0;
