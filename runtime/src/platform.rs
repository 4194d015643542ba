//! What the runtime needs from the place where it runs: an operating system or bare hardware.
//!
//! [`Platform`] is used by the home worker's thread only, so it needs no locks; [`Threads`] by other threads, too.
//! Neither knows what a process does: to a platform, a process is an address that it hands back when the process's
//! input is ready.
//!
//! # How a native process waits for the platform
//!
//! A native body (`Body::native`, [`NativeBody`](crate::layout::NativeBody)) is called each time its process runs, and
//! goes on from the state that it keeps in its frame. Where it has to wait it returns:
//!
//! * for what an entry point (`ds_send`, `ds_receive`, `ds_test`, ...) has to wait for (null or `Leave`): it just
//!   returns. The process is queued already; when the body is called again, it calls the same entry point again;
//! * for the platform: it registers its process there, calls [`park`](crate::native::park), and returns. When
//!   the platform passes the process to `wake` (in [`Platform::wait`]), or native code calls
//!   [`unpark`](crate::native::unpark), the body is called again;
//! * for other processes to have a turn: it calls [`yield_now`](crate::native::yield_now).
//!
//! When it has ended, it calls `ds_finish` as the very last thing, and returns.
//!
//! A body whose process is ended by force is called once more, with the status [`FAILED`](crate::layout::FAILED): it
//! gives back what its frame owns, and just returns. So is a native FINALLY (the place to close what the instance
//! holds) when its instance is ended by force. Native bodies run on the home worker's thread only.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::any::Any;

use crate::layout::{Process, Worker};
use crate::naming::Binder;
pub use crate::threads::{TICK_SLEEP, TICK_STOP, Threads, Tick};

/// The platform, as the home worker's thread sees it.
pub trait Platform {
    /// Appends bytes to standard output, as many as it can without waiting; answers how many. If that isn't all,
    /// [`Platform::wait`] ends when there is room for more, and something is [`pending`](Platform::pending) until then.
    /// The runtime buffers: it calls this rarely, and before it ends, waits or looks.
    fn write(&mut self, bytes: &[u8]) -> usize;

    /// Waits until there is room for more output. Nothing else runs meanwhile: the program is over.
    fn wait_for_output(&mut self) {}

    /// Writes a message to standard error.
    fn report(&mut self, bytes: &[u8]);

    /// A program begins; the platform may keep this, and ask for attention by it. A platform that doesn't is looked at
    /// once in a tick while the program is busy.
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

    /// Whether the platform may have questions though no process waits for it: then it is looked at now and then.
    fn is_asked(&self) -> bool {
        false
    }

    /// The next question, to be done while no process runs; asked for after each [`Platform::wait`].
    fn asked(&mut self) -> Option<Question> {
        None
    }

    /// What the platform knows about names, if it knows any.
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

/// Asks the home to look at the platform ([`Platform::wait`] with 0) as soon as the process that runs gives way,
/// however busy the program is. The platform may leave some of what is pending, not to keep processes waiting, and ask
/// again. Any thread may call this, and an interrupt.
pub type Attention = Box<dyn Fn() + Send>;

/// A process that waits for the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// What the platform passes to `wake`.
    pub process: *mut Process,
}

/// Lets other threads, such as those of a library that a native component uses, wake a process.
pub trait Bell {
    /// The process is woken when the bell is rung. It looks for what it waits for before it calls this, and again then.
    fn wait(&self, waiter: Waiter);

    /// Rings it once, on any thread.
    fn ringer(&self) -> Box<dyn FnOnce() + Send>;
}

/// What somebody outside asks of a program: it is done at home.
pub type Question = Box<dyn FnOnce(*mut Worker)>;
