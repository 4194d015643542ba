//! How components are written in Rust: from outside they look like all others.
//!
//! A native component implements [`Component`]. For each client of an interface that it offers it makes a [`Serving`],
//! which serves that client in a service process like any other:
//!
//! * an object with a method for each call, if the interface consists of requests and replies ([`Serving::calls`]): the
//!   client's message runs the method at once;
//! * asynchronous code otherwise, which sends and receives as the component language does ([`Serving::session`]).
//!
//! It reaches what it requires by [`Ports`], from its own process ([`Component::begin`]) or from its services. When the
//! protocol has reached its end, or the client has closed, the client's serving is dropped.
//!
//! `drystone-stubs` makes the types of an interface, its trait and its messages, from its declaration in the component
//! language, in a build script. The program's description of the same interface is found by its fingerprint when a
//! [`Kind`] is made, once, before anything runs.
//!
//! A crate may carry procedures, too ([`Procedure`]).
//!
//! This module doesn't know what a service does, nor how a platform waits: see the platform module for that.

mod asking;
mod asynchronous;
mod calls;
mod component;
mod direct;
mod here;
mod interface;
mod kind;
mod making;
mod pause;
mod ports;
mod procedure;
mod running;
mod session;
mod turn;

// For stubs, in crates with and without an operating system.
#[doc(hidden)]
pub use alloc::boxed::Box as Boxed;
#[doc(hidden)]
pub use alloc::vec::Vec;

pub use drystone_component::{Fingerprint, Formal, Passing, Type};

pub use crate::failure::halt;
pub use crate::platform::Waiter;
pub use crate::values::{
    Carried, Held, Parcel, Part, Putting, Reading, Taking, Text, Unmade, Value, Values, Writing, layout_of,
};

pub use asking::{Asks, Borrowed, Call, Method, receive};
pub use calls::{Answers, Caller, Reply, Request};
pub use component::Component;
pub use direct::Direct;
pub use here::Activity;
pub use interface::Declaration;
pub use kind::Kind;
pub use making::{Design, Requirement};
pub(crate) use making::{body, leak};
pub use pause::{park, platform, unpark, yield_now};
pub use ports::Ports;
pub use procedure::{
    AnyValue, Arguments, Code, Guard, Outcome, Passed, Procedure, bind, ds_procedure, find, unguarded,
};
pub use running::ds_native;
pub(crate) use running::is_at_work;
pub use session::{Client, Closed, Message, Protocol, Server};
pub use turn::Serving;
