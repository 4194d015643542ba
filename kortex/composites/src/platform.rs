//! What the service needs of its platform: a clock, a timer, and a helper thread.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;

use drystone_extension::composite::{self, Limits, Refusal};

use super::ports::Ports;

/// The clock, the timer and the helper thread. Used on the home's thread only.
pub trait Platform {
    /// Nanoseconds since some moment in the past.
    fn now(&self) -> u64;

    /// Calls `act` once at a [time](Self::now), or sooner if the program has nothing else to do. At most one such call
    /// is pending.
    fn call_at_the_latest(&self, time: u64, act: Rc<dyn Fn()>);

    /// Has a helper thread [run](Preparation::run) this, and calls `then` with the result on the home's thread. At most
    /// one preparation is under way.
    ///
    /// # Errors
    /// A sentence says why there is no helper thread.
    fn prepare(&self, preparation: Preparation, then: Box<dyn FnOnce(Prepared)>) -> Result<(), String>;
}

/// A program to be checked, verified, and perhaps compiled, which takes long.
pub struct Preparation {
    pub(crate) program: Arc<[u8]>,
    pub(crate) limits: Limits,
}

impl Preparation {
    /// Checks, verifies and perhaps compiles the program.
    pub fn run(self) -> Prepared {
        Prepared(composite::Prepared::of(&self.program, &self.limits))
    }
}

/// A program that is ready to run, or why it can't be.
pub struct Prepared(pub(crate) Result<composite::Prepared<Ports>, Refusal>);
