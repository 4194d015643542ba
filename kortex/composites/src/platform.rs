//! What the service needs of the platform on which it runs: a clock, a call when a time has come, and a helper thread.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;

use drystone_extension::composite::{self, Limits, Refusal};

use super::ports::Ports;

/// See the head of this file. All of it is used on the home's thread.
pub trait Platform {
    /// Nanoseconds since some moment in the past.
    fn now(&self) -> u64;

    /// Calls `act` once at a time ([`now`](Self::now)), or sooner if the program has nothing else to do. There is one
    /// such call to come at most.
    fn call_at_the_latest(&self, time: u64, act: Rc<dyn Fn()>);

    /// Has a helper thread [run](Preparation::run) this, and calls `then` with the result, on the home's thread. There
    /// is one such preparation at a time at most.
    ///
    /// # Errors
    /// A sentence says why there is no thread for it.
    fn prepare(&self, preparation: Preparation, then: Box<dyn FnOnce(Prepared)>) -> Result<(), String>;
}

/// A program that is to be checked, verified, and perhaps compiled, which takes long.
pub struct Preparation {
    pub(crate) program: Arc<[u8]>,
    pub(crate) limits: Limits,
}

impl Preparation {
    /// Does that.
    pub fn run(self) -> Prepared {
        Prepared(composite::Prepared::of(&self.program, &self.limits))
    }
}

/// A program that can be run, or why it can't.
pub struct Prepared(pub(crate) Result<composite::Prepared<Ports>, Refusal>);
