//! Internet protocols as a library that is linked to its application, over raw frames (*ASHs*, section IV-D). The
//! kernel's network stack isn't used. ARP, IP, ICMP echo, UDP and TCP are smoltcp's; RARP, HTTP and TCP's fast path are
//! here.
//!
//! * [`Host`] is an IP address on a wire.
//! * [`Udp`], [`Stream`] and [`Listener`] are its sockets. They block: a thread that waits at one lets the whole host
//!   work.
//! * [`FastStream`] is a connection whose predicted segments are processed by a handler where they arrive.
//! * [`Nfs`] is a mounted export of a server.
//! * [`rarp`] finds out a machine's own address. [`http`] runs over any stream.
//!
//! This crate doesn't know what handlers do. A host's [`Station`](drystone_handlers::Station) shows them each frame
//! first, and the host gets the frames that they pass on.

mod arp;
mod fast;
mod host;
pub mod http;
mod inner;
mod nfs;
pub mod rarp;
mod tcp;
mod udp;
mod wire;

pub use fast::{Counts, FastStream, Place};
pub use host::Host;
pub use inner::Settings;
pub use nfs::Nfs;
pub use tcp::{Listener, Stream};
pub use udp::Udp;
