//! What the runtime needs from the place where it runs: an operating system or bare hardware.
//!
//! [`Platform`] is used by the thread of the home worker only, so it needs no locks. [`Threads`] is what other
//! threads use too. Neither knows what a process does; a platform sees processes only as addresses that it
//! hands back when their input is ready.
//!
//! # How a native process waits for the platform
//!
//! A native body (`Body::native`, [`NativeBody`](crate::layout::NativeBody)) is called each time its process runs, and
//! goes on from the state that it keeps in its frame. Where it has to wait it returns:
//!
//! * an entry point (`ds_send`, `ds_receive`, `ds_test`, ...) said so (null or `Leave`): it just returns; the
//!   process is queued already, and the body calls the same entry point again when it is called again;
//! * it waits for the platform: it registers its process there, calls [`park`](crate::native::park), and returns. When
//!   the platform passes the process to `wake` (in [`Platform::wait`]), or someone calls
//!   [`unpark`](crate::native::unpark), the body is called again;
//! * it gives others a turn: it calls [`yield_now`](crate::native::yield_now) and returns;
//! * it has ended: it calls `ds_finish` as the very last thing, and returns.
//!
//! One that is ended by force is called once more, with the status [`FAILED`](crate::layout::FAILED): it gives back
//! what its frame owns, and just returns. So is a native FINALLY (the place to close what the instance holds) when its
//! instance is ended by force. A native body never runs on any thread but the home's.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::any::Any;

use crate::layout::{Process, Worker};
use crate::naming::Binder;
pub use crate::threads::{TICK_SLEEP, TICK_STOP, Threads, Tick};

/// The platform, as the home worker's thread sees it.
pub trait Platform {
    /// Appends bytes to standard output, as far as it can without waiting for others; answers how many. If that isn't
    /// all, [`Platform::wait`] ends when there is room for more, and is [`pending`](Platform::pending) until then. The
    /// runtime buffers: it calls this rarely, and before it ends or waits.
    fn write(&mut self, bytes: &[u8]) -> usize;

    /// Waits until there is room for more output. Nothing else runs meanwhile: the program is over.
    fn wait_for_output(&mut self) {}

    /// Writes a message to standard error.
    fn report(&mut self, bytes: &[u8]);

    /// A program begins, in which it may ask for attention. One that doesn't is looked at once in a tick while the
    /// program is busy.
    fn attend(&mut self, _: Attention) {}

    /// Blocks until the input of some process is ready (`wake` is called for each of them), `timeout` nanoseconds
    /// have passed, or [`Threads::notify`] is or was called since the last wait. `None`: no timeout; 0: only
    /// looks (at most once in a tick while the program runs).
    fn wait(&mut self, timeout: Option<u64>, wake: &mut dyn FnMut(*mut Process));

    /// How many processes are registered here, waiting. While there is one, the program is not in a deadlock.
    fn pending(&self) -> usize;

    /// Calls `each` for those processes, as far as the platform knows which they are.
    fn waiting(&self, _each: &mut dyn FnMut(*mut Process)) {}

    /// A process that is registered here is ended by force: the platform forgets it and never passes it to `wake`.
    fn forget(&mut self, process: *mut Process);

    /// What other threads may use. It lives as long as the program.
    fn threads(&self) -> &'static dyn Threads;

    /// Whether somebody may ask something of it though no process waits for it: it is looked at now and then.
    fn is_asked(&self) -> bool {
        false
    }

    /// What somebody asks for, to be done while no process runs; looked at after each [`Platform::wait`].
    fn asked(&mut self) -> Option<Question> {
        None
    }

    /// What it knows about names, if it knows any.
    fn binder(&mut self) -> Option<&mut dyn Binder> {
        None
    }

    /// A new bell; `None`: there are no other threads here.
    fn bell(&mut self) -> Option<Rc<dyn Bell>> {
        None
    }

    /// The platform itself, for its native components.
    fn as_any(&mut self) -> &mut dyn Any;
}

/// How a platform has the home look at it ([`Platform::wait`] with 0) as soon as the process that runs gives way,
/// however busy the program is. What is pending then it handles as far as it likes to let processes wait, and asks
/// again. Any thread may call this, and an interrupt.
pub type Attention = Box<dyn Fn() + Send>;

/// A process that waits for the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// What the platform passes to `wake`.
    pub process: *mut Process,
}

/// By this other threads, such as those of a library that a native component uses, tell a process of this one that
/// there is something for it.
pub trait Bell {
    /// The process is woken when the bell is rung. It looks for what it waits for before it says this, and again then.
    fn wait(&self, waiter: Waiter);

    /// Rings it once, on any thread.
    fn ringer(&self) -> Box<dyn FnOnce() + Send>;
}

/// What is to be done with a program, on its home worker.
pub type Question = Box<dyn FnOnce(*mut Worker)>;
