//! A user calls another user: the caller's number is bound to a [`Lrpc`], which makes an upcall into the other domain.

use core::cell::Cell;

use crate::domain::{Call, Domain, REFUSED};
use crate::upcall;

/// A binding to a component of a domain.
#[derive(Debug)]
pub struct Lrpc {
    /// The component's domain.
    domain: &'static Domain,
    /// The domain's own word for the component.
    this: Cell<u64>,
    /// Ticks that a call may take.
    time: u64,
}

// SAFETY: see the head of the crate.
unsafe impl Sync for Lrpc {}

impl Lrpc {
    /// A binding to the component that the domain calls 0. `time` is the ticks that a call may take.
    pub const fn new(domain: &'static Domain, time: u64) -> Lrpc {
        Lrpc { domain, this: Cell::new(0), time }
    }

    /// Sets the domain's own word for the component.
    pub fn set_this(&self, this: u64) {
        self.this.set(this);
    }

    /// What the client's number is to be bound to.
    pub fn call(&'static self) -> Call {
        Call { method: through, this: self as *const Lrpc as *const () }
    }
}

/// # Safety
/// `this` is a [`Lrpc`].
unsafe extern "C" fn through(this: *const (), a: u64, b: u64, c: u64, _: u64) -> i64 {
    // SAFETY: the caller promises that `this` is an `Lrpc`; each method runs on a thread's kernel stack.
    unsafe {
        let Lrpc { domain, this, time } = &*this.cast::<Lrpc>();
        upcall::call(domain, *time, this.get(), [a, b, c]).unwrap_or(REFUSED)
    }
}
