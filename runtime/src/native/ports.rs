//! What a native component requires, as its main process and its services use it.
//!
//! # Safety
//! A port is looked at only while a process of its component runs ([`Here::running`]): then the component is alive.

use alloc::rc::Rc;
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::task::Poll;

use drystone_component::Required;

use super::here::Here;
use super::interface::Binding;
use super::session::{Client, End, Place, Protocol, Slot};
use super::{Waiter, unpark};
use crate::instance::slots::slots_of;
use crate::layout::Instance;

/// The ports of a component, in the order of its kind's required interfaces.
#[derive(Clone)]
pub struct Ports {
    pub(super) here: Rc<Here>,
    pub(super) instance: *mut Instance,
    pub(super) required: &'static [Required],
    /// What these interfaces are to the Rust side.
    pub(super) bindings: &'static [Binding],
}

impl Ports {
    /// The port of a required interface: its place in the kind's list. There is one session at a time over it.
    pub fn client<P: Protocol>(&self, required: usize) -> Client<P> {
        self.client_at(required, 1)
    }

    /// The k-th port, from 1, of a required interface with a cardinality.
    pub fn client_at<P: Protocol>(&self, required: usize, k: usize) -> Client<P> {
        let Binding { declaration, interface } = self.bindings[required];
        assert!(declaration.fingerprint == P::DECLARATION.fingerprint, "another interface is required there");
        let required = &self.required[required];
        let most = if required.slots == 0 { 1 } else { required.slots as usize };
        assert!((1..=most).contains(&k), "there is no such port");
        let slot = Slot { instance: self.instance, required, index: k - 1, found: Cell::new(null_mut()) };
        Client(End { here: self.here.clone(), place: Place::Port(slot), interface }, PhantomData)
    }

    /// How many ports of a required interface are connected.
    pub fn connected(&self, required: usize) -> usize {
        _ = self.here.running();
        let mut count = 0;
        // SAFETY: one of the component's processes runs.
        unsafe {
            slots_of(self.instance, &self.required[required], &mut |slot| {
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
        // SAFETY: at home; a waiter is forgotten when its service is dropped.
        unsafe { unpark(worker, waiter.process) }
    }
}
