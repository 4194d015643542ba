//! A user calls another: what its number is bound to is a [`Lrpc`], which calls the other domain.

use core::cell::Cell;

use crate::domain::{Call, Domain, REFUSED};
use crate::upcall;

/// A binding to a component of a domain.
#[derive(Debug)]
pub struct Lrpc {
    /// Where the component is.
    domain: &'static Domain,
    /// What the domain calls it.
    this: Cell<u64>,
    /// How many ticks a call may take.
    time: u64,
}

// SAFETY: see the head of the crate.
unsafe impl Sync for Lrpc {}

impl Lrpc {
    /// One to the component that a domain calls 0, of which no call may take as many ticks.
    pub const fn new(domain: &'static Domain, time: u64) -> Lrpc {
        Lrpc { domain, this: Cell::new(0), time }
    }

    /// The domain calls it this from now on.
    pub fn set_this(&self, this: u64) {
        self.this.set(this);
    }

    /// What a client's number is bound to.
    pub fn call(&'static self) -> Call {
        Call { method: through, this: self as *const Lrpc as *const () }
    }
}

/// # Safety
/// `this` is a [`Lrpc`].
unsafe extern "C" fn through(this: *const (), a: u64, b: u64, c: u64, _: u64) -> i64 {
    // SAFETY: as the caller promises; on a thread's kernel stack, as each method is.
    unsafe {
        let Lrpc { domain, this, time } = &*this.cast::<Lrpc>();
        upcall::call(domain, *time, this.get(), [a, b, c]).unwrap_or(REFUSED)
    }
}
