//! The *near* half of communications whose other end is elsewhere (see [`crate::far`]).
//!
//! * A *proxy* stands for a server: a component without variables that offers the interface, and whose service
//!   processes are pumps.
//! * A *client* stands for a far client: a component that requires the interface, and whose main process is a pump, or
//!   runs a visit.
//! * A *listener* is connected to what is exported, and makes a client for each far one that comes.
//!
//! So local communications, and the code that uses them, know nothing of all this and pay nothing for it.
//!
//! What comes from the far side is not trusted: each message is looked up in the protocol before the near side sees it.
//! A far side that is lost, or breaks the protocol, ends the communication and nothing else.
//!
//! # Safety
//! Everything here is called at home (see [`crate::home`]). Instances of these templates have the words that
//! `far::standing` describes.

mod clients;
mod domain;
pub(crate) mod guest;
mod listener;
mod proxy;
mod templates;

pub use crate::home::AtHome;
pub use domain::proxy_of;
pub use listener::listen;
pub use proxy::{proxy, stands_before};
