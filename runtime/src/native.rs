//! How components are written in Rust: from outside nobody can tell that they are.
//!
//! A native component implements [`Component`]. For each client of an interface that it offers it makes what serves
//! that client, in a service process like any other:
//!
//! * an object with a method for each call, if the interface consists of requests and replies ([`Serving::calls`]): the
//!   client's message runs the method at once;
//! * asynchronous code otherwise, which sends and receives as the component language does ([`Serving::session`]).
//!
//! What it requires it reaches by [`Ports`], from its own process ([`Component::begin`]) or from its services. When the
//! protocol has reached its end, or the client has closed, what serves it is dropped.
//!
//! The types of an interface, its trait and its messages, are made from its declaration in the component language by
//! `drystone-stubs`, in a build script. The program's description of the same interface is found by its fingerprint
//! when a [`Kind`] is made, once, before anything runs.
//!
//! This module doesn't know what a service does, nor how a platform waits: see the platform module for that.

mod asking;
mod calls;
mod direct;
mod here;
mod kind;
mod making;
mod ports;
mod process;
mod running;
mod session;

use alloc::boxed::Box;
use core::future::Future;
use core::pin::Pin;

// For stubs, in crates with and without an operating system.
#[doc(hidden)]
pub use alloc::boxed::Box as Boxed;

pub use drystone_component::Fingerprint;

pub use crate::platform::Waiter;
pub use crate::values::{Held, Parcel, Part, Putting, Taking, Text, Unmade, Value, Values};
use running::Serve;

pub use asking::{Asks, Borrowed, Call, Method, receive};
pub use calls::{Answers, Caller, Reply, Request};
pub use direct::Direct;
pub use kind::Kind;
pub use making::{Design, Requirement};
pub(crate) use making::{body, leak};
pub use ports::Ports;
pub use process::{park, platform, unpark, yield_now};
pub use running::ds_native;
pub(crate) use running::is_at_work;
pub use session::{Client, Closed, Message, Protocol, Server};

/// Which interface it is that the Rust side means.
#[derive(Debug)]
pub struct Declaration {
    /// Its name, for messages to people.
    pub name: &'static str,
    /// What tells it from all others.
    pub fingerprint: Fingerprint,
}

/// What a process does, until it ends.
pub type Activity = Pin<Box<dyn Future<Output = ()>>>;

/// A component written in Rust: what its processes share. It is dropped when the instance is deleted, after they have
/// ended.
pub trait Component: 'static {
    /// A new client: what serves it, for the interface that stands at `interface` in the list given to [`Kind::new`].
    fn serve(&mut self, interface: usize) -> Serving;

    /// The component begins, if its kind is active ([`Design::is_active`]): this is called first, and its services wait
    /// for it; then its own process does what it gives.
    fn begin(&mut self, ports: Ports) -> Activity {
        drop(ports);
        Box::pin(async {})
    }
}

/// What serves one client, whatever its interface.
pub struct Serving {
    serve: Box<dyn Serve>,
    declaration: &'static Declaration,
}
