//! What a native component requires, as its main process and its services use it.
//!
//! # Soundness
//!
//! See the session module: a port is looked at only while a process of its component runs.

use alloc::rc::Rc;
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::task::Poll;

use super::here::Here;
use super::kind::Kind;
use super::session::{Client, End, Place, Protocol, Slot};
use super::{Waiter, unpark};
use crate::instance::slots::slots_of;
use crate::layout::Instance;

/// The ports of a component, in the order of its kind's required interfaces.
#[derive(Clone)]
pub struct Ports {
    pub(super) here: Rc<Here>,
    pub(super) instance: *mut Instance,
    pub(super) kind: &'static Kind,
}

impl Ports {
    /// The port of a required interface: its place in the kind's list. There is one session at a time over it.
    pub fn client<P: Protocol>(&self, required: usize) -> Client<P> {
        self.client_at(required, 1)
    }

    /// The k-th port, from 1, of a required interface with a cardinality.
    pub fn client_at<P: Protocol>(&self, required: usize, k: usize) -> Client<P> {
        let declaration = self.kind.required[required].declaration;
        let known = self.kind.required[required].interface;
        assert!(declaration.fingerprint == P::DECLARATION.fingerprint, "another interface is required there");
        let required = &self.kind.template.required.get()[required];
        let most = if required.slots == 0 { 1 } else { required.slots as usize };
        assert!((1..=most).contains(&k), "there is no such port");
        let slot = Slot { instance: self.instance, required, index: k - 1, found: Cell::new(null_mut()) };
        Client(End { here: self.here.clone(), place: Place::Port(slot), interface: known }, PhantomData)
    }

    /// How many ports of a required interface are connected.
    pub fn connected(&self, required: usize) -> usize {
        _ = self.here.running();
        let mut count = 0;
        // SAFETY: the component is alive, for one of its processes runs.
        unsafe {
            slots_of(self.instance, &self.kind.template.required.get()[required], &mut |slot| {
                count += usize::from((*slot).target != 0);
            });
        }
        count
    }

    /// Asks again whenever the waiter is woken: how a process waits for the platform.
    pub fn until<T>(&self, attempt: impl FnMut(Waiter) -> Poll<T>) -> impl Future<Output = T> {
        self.here.until(attempt)
    }

    /// Wakes a process of the component's that waits.
    pub fn wake(&self, waiter: Waiter) {
        let (worker, _) = self.here.running();
        // SAFETY: on the home worker's thread; whoever keeps a waiter forgets it with its service.
        unsafe { unpark(worker, waiter.process) }
    }
}
