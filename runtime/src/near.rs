//! The *near* half of communications whose other end is elsewhere (see [`crate::far`]).
//!
//! A near client's slot is connected to a *proxy*: a component without variables that offers the interface, and whose
//! service processes are *pumps*. A far client is a component that requires the interface: its main process is a pump,
//! too. A *listener* is connected to what is exported and makes such components as far clients come. So local
//! communications, and the code that uses them, know nothing of all this and pay nothing for it. A visitor needs no
//! pump.
//!
//! What comes from the far side is not trusted: each message is looked up in the protocol before the near side sees it.
//! A far side that is lost, or breaks the protocol, ends the communication and nothing else.
//!
//! # Why this is sound
//! Everything here runs on the home worker's thread, called by the runtime with that worker.
#![allow(unsafe_op_in_unsafe_fn)]

mod clients;
mod domain;
pub(crate) mod guest;
mod listener;
mod proxy;
mod templates;

pub use domain::proxy_of;
pub use listener::listen;
pub use proxy::{proxy, stands_before};
