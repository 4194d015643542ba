//! The part of the platform that threads besides the home worker's use: the clock, worker threads, the ticker, memory.
//!
//! # Soundness
//!
//! The runtime promises that it passes a function to `start_worker` that may be called with its argument on another
//! thread. `mmap` gives fresh memory, and `munmap` gets only what it gave. Other system calls only tell the kernel
//! something about the calling thread.

use std::mem;
use std::ptr;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use drystone_runtime::platform::{TICK_SLEEP, TICK_STOP, Threads, Tick};

/// Most workers of a program.
const WORKERS: usize = 256;

/// Where one thread sleeps until another wakes it. A wake-up that comes before isn't lost.
#[derive(Default)]
struct Bed {
    wanted: Mutex<bool>,
    changed: Condvar,
}

impl Bed {
    fn sleep(&self) {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.changed.wait_while(wanted, |wanted| !*wanted);
        *wanted.unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn forget(&self) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn wake(&self) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }
}

/// A ticker's work for one program.
struct Ticking {
    bed: &'static Bed,
    tick: Tick,
}

impl Ticking {
    fn run(self) {
        loop {
            self.bed.forget();
            match (self.tick)() {
                TICK_STOP => return,
                TICK_SLEEP => self.bed.sleep(),
                nanoseconds => thread::sleep(Duration::from_nanos(nanoseconds)),
            }
        }
    }
}

/// Idle tickers, whose programs have ended. They are reused, because starting and ending a thread for each program of a
/// process disturbs the other programs.
static TICKERS: Mutex<Vec<Sender<Ticking>>> = Mutex::new(Vec::new());

/// Forks this process. The new process has only this thread, and no idle tickers.
///
/// # Safety
/// The new process takes no lock that another thread of this one may hold, except those of the C library's allocator.
pub(crate) unsafe fn fork() -> i32 {
    let mut tickers = TICKERS.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the caller promises that the child takes no lock that another thread may hold; the lock on the tickers is
    // held.
    let process = unsafe { libc::fork() };
    if process == 0 {
        // The new process has no such threads, so none must be told.
        mem::forget(mem::take(&mut *tickers));
    }
    process
}

fn start_ticker_thread(first: Ticking) {
    let run = move || {
        let (sender, more) = mpsc::channel();
        be_brief();
        first.run();
        loop {
            TICKERS.lock().unwrap_or_else(PoisonError::into_inner).push(sender.clone());
            match more.recv() {
                Ok(work) => work.run(),
                Err(_) => return,
            }
        }
    };
    thread::Builder::new().name("ticker".into()).spawn(run).expect("a thread for the ticker");
}

/// Asks the scheduler (since Linux 6.12) for the shortest time slice, 0.1 ms. Then this thread gets the processor when
/// it wakes, and not only after the slice of a computing worker, which is milliseconds if both share a processor. On
/// older kernels nothing changes.
fn be_brief() {
    const SHORTEST: u64 = 100_000;
    // SAFETY: plain numbers, of which 0 means nothing special; the kernel reads as many bytes as are said.
    unsafe {
        let mut wish: libc::sched_attr = mem::zeroed();
        wish.size = size_of::<libc::sched_attr>() as u32;
        wish.sched_runtime = SHORTEST;
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const wish, 0);
    }
}

/// See [`Threads`].
pub(crate) struct LinuxThreads {
    start: Instant,
    /// `None` when the program has ended.
    waker: Mutex<Option<Arc<mio::Waker>>>,
    workers: [Bed; WORKERS],
    ticker: &'static Bed,
}

impl LinuxThreads {
    /// The clock counts from `start`; `waker` ends the home worker's wait.
    pub(crate) fn new(start: Instant, waker: Arc<mio::Waker>) -> &'static LinuxThreads {
        let workers = std::array::from_fn(|_| Bed::default());
        let waker = Mutex::new(Some(waker));
        Box::leak(Box::new(LinuxThreads { start, waker, workers, ticker: Box::leak(Box::default()) }))
    }

    /// Releases the waker: the program has ended. Otherwise each program that a process runs would keep a file
    /// descriptor open, and the kernel stops a process for milliseconds when the number of its descriptors reaches the
    /// next power of two.
    pub(crate) fn end(&self) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Threads for LinuxThreads {
    fn clock(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn processors(&self) -> usize {
        thread::available_parallelism().map_or(1, |n| n.get().min(WORKERS))
    }

    fn start_worker(&self, worker: usize, run: unsafe fn(argument: usize), argument: usize) -> bool {
        if worker >= WORKERS {
            return false;
        }
        let builder = thread::Builder::new().name(format!("worker {worker}"));
        // SAFETY: see the head of this file.
        builder.spawn(move || unsafe { run(argument) }).is_ok()
    }

    fn park(&self, worker: usize) {
        self.workers[worker].sleep();
    }

    fn unpark(&self, worker: usize) {
        self.workers[worker].wake();
    }

    fn start_ticker(&self, tick: Tick) {
        let work = Ticking { bed: self.ticker, tick };
        let idle = TICKERS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(idle) => idle.send(work).expect("a ticker waits for work"),
            None => start_ticker_thread(work),
        }
    }

    fn wake_ticker(&self) {
        self.ticker.wake();
    }

    fn notify(&self) {
        if let Some(waker) = &*self.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            // It fails only if the eventfd's counter is full, and then the wait ends anyway.
            let _ = waker.wake();
        }
    }

    fn allocate(&self, bytes: usize) -> *mut u8 {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping.
        let memory = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if memory == libc::MAP_FAILED { ptr::null_mut() } else { memory.cast() }
    }

    unsafe fn free(&self, memory: *mut u8, bytes: usize) {
        // SAFETY: the caller promises that the memory came from `allocate`, with this size.
        unsafe { libc::munmap(memory.cast(), bytes) };
    }

    /// Rust uses the C library's allocator, which returns only memory at its end unless it is asked to.
    #[cfg(target_env = "gnu")]
    fn trim(&self) {
        // SAFETY: `malloc_trim` may be called at any time.
        unsafe { libc::malloc_trim(0) };
    }
}
