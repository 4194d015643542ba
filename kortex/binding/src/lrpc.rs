//! A user calls another: what its number is bound to is a [`Lrpc`], which calls the other domain.

use crate::domain::{Call, Domain, REFUSED};
use crate::upcall;

/// A binding to a component of a domain.
#[derive(Debug)]
pub struct Lrpc {
    /// Where the component is.
    pub domain: &'static Domain,
    /// What the domain calls it.
    pub this: u64,
    /// How many ticks a call may take.
    pub time: u64,
}

// SAFETY: it never changes.
unsafe impl Sync for Lrpc {}

impl Lrpc {
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
        upcall::call(domain, *time, *this, [a, b, c]).unwrap_or(REFUSED)
    }
}
