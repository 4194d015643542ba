//! The shortest way from a component in Rust to another: a port's client borrows the object that serves it, and a call
//! is one indirect call of the object's method.
//!
//! A service lends its object to its one client while nothing is unanswered and the service waits to be called. The
//! *loan* ends when anything happens that a call must not overlook: the client lets go or is to be bound elsewhere, a
//! request comes the usual way, the service is woken, ends or fails. The next call then goes the usual way, and may
//! find a loan anew. So a call looks at one word only, whether there is a loan; what changes rarely pays.
//!
//! Calls over a loan are no messages: nothing is written into the communication's buffer, its state stays as it is
//! (with nothing unanswered all states that come up allow the same calls), and nobody counts them.
//!
//! # Safety: *loans*
//! * While there is a loan its borrower alone uses the object: a service ends the loan ([`Running`]) before it uses the
//!   object itself, and doesn't lend what somebody may still be using.
//! * The object lives as long as the service's [`Running`], which ends the loan. Only the scheduler drops that, when no
//!   method runs.
//! * Nothing that a method or its caller can do lets other processes run. What would use the object within a call, over
//!   another client of the same port, is put off until the scheduler gets control.
//! * Nothing of the object can be kept: what a call gives borrows from nothing.
//! * Loans are of the home worker's thread, as clients are.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::cell::Cell;
use core::ptr::NonNull;
use core::task::Poll;

use drystone_component::Interface;

use super::calls::Caller;
use super::interface::cell_of;
use super::platform;
use super::running::{Lent, Running, is_native_service};
use super::session::{Client, Protocol};
use crate::layout::*;

/// A port's borrowed way to what serves it: an object of `A`, the interface's trait of methods that answer at once, or
/// of `L`, its trait of those that may wait.
pub struct Direct<A: ?Sized, L: ?Sized> {
    loan: Rc<Loan<A, L>>,
}

/// What is lent, if anything is.
struct Loan<A: ?Sized, L: ?Sized> {
    at_once: Cell<Option<NonNull<A>>>,
    later: Cell<Option<Later<L>>>,
}

struct Later<L: ?Sized> {
    object: NonNull<L>,
    worker: *mut Worker,
    service: *mut Process,
}

impl<L: ?Sized> Clone for Later<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: ?Sized> Copy for Later<L> {}

impl<A: ?Sized, L: ?Sized> Lent for Loan<A, L> {
    fn lasts(&self) -> bool {
        self.at_once.get().is_some() || self.later.get().is_some()
    }

    fn end(&self) {
        self.at_once.set(None);
        self.later.set(None);
    }
}

impl<A: ?Sized + 'static, L: ?Sized + 'static> Default for Direct<A, L> {
    fn default() -> Self {
        Direct { loan: Rc::new(Loan { at_once: Cell::new(None), later: Cell::new(None) }) }
    }
}

impl<A: ?Sized + 'static, L: ?Sized + 'static> Direct<A, L> {
    /// Calls what answers at once, with what is given.
    ///
    /// # Errors
    /// There is no loan of that; here is what was given.
    #[inline]
    pub fn at_once<T, R>(&mut self, given: T, call: impl FnOnce(&mut A, T) -> R) -> Result<R, T> {
        match self.loan.at_once.get() {
            // SAFETY: the object is lent to this, which is borrowed for the call.
            Some(object) => Ok(call(unsafe { &mut *object.as_ptr() }, given)),
            None => Err(given),
        }
    }

    /// Calls what may have to wait; `None`: there is no loan of that, or it has to wait. Then it will be called again,
    /// the usual way.
    #[inline]
    pub fn later<R>(&mut self, call: impl FnOnce(&mut L, &Caller) -> Poll<R>) -> Option<R> {
        let Later { object, worker, service } = self.loan.later.get()?;
        let caller = Caller { worker, process: service };
        // SAFETY: the object is lent to this, which is borrowed for the call; the service is alive while it lends.
        unsafe {
            match call(&mut *object.as_ptr(), &caller) {
                Poll::Ready(answer) => Some(answer),
                Poll::Pending => {
                    (*platform(worker)).forget(service);
                    None
                }
            }
        }
    }

    /// A call goes the usual way.
    #[inline]
    pub fn end(&mut self) {
        self.loan.end();
    }

    /// A call has gone the usual way: the next one may find a shorter one. `at_once` tells whether what is lent answers
    /// at once.
    pub fn look<P: Protocol>(&mut self, client: &mut Client<P>, at_once: fn(&mut L) -> Option<&mut A>) {
        // SAFETY: one of the component's processes runs, so its port's service is there; a native service's cell is
        // null or owns what runs, which nobody uses while it waits to be called and lends nothing.
        unsafe {
            let (worker, _) = client.0.here.running();
            let interface = client.0.interface;
            let Some(service) = client.0.slot_in_use().filter(|&c| waits_for_calls(c, interface)) else {
                return;
            };
            let running = *cell_of::<Running>(service.cast(), interface);
            if running.is_null() || !(*running).may_lend() {
                return;
            }
            let object = (*running).serve.object().and_then(|object| object.downcast_mut::<Box<L>>());
            let Some(object) = object else { return };
            match at_once(object) {
                Some(object) => self.loan.at_once.set(Some(NonNull::from(object))),
                None => {
                    let object = NonNull::from(&mut **object);
                    self.loan.later.set(Some(Later { object, worker, service: service.cast() }));
                }
            }
            (*running).lent = Some(self.loan.clone());
        }
    }
}

/// Whether a communication's service waits to be called, by the same calls in this state as in any other that comes up.
///
/// # Safety
/// The communication is null or live.
unsafe fn waits_for_calls(c: *mut Communication, interface: &Interface) -> bool {
    // SAFETY: the communication is null or live.
    unsafe {
        !c.is_null()
            && (*c).word.flags == CALLS
            && (*c).word.tag == 0
            && (*c).process.status == PLATFORM
            && interface.state((*c).word.state) & Interface::CLIENT_SENDS != 0
            && is_native_service(c)
    }
}
