//! Internet protocols as a library that is linked to its application, over frames as a device gives them (paper 003,
//! section IV-D): the kernel's network stack has no part in it. ARP, IP, ICMP's echo, UDP and TCP are smoltcp's; RARP
//! and HTTP are here.
//!
//! * [`Host`] is an address on a wire, and what is spoken there.
//! * [`Udp`], [`Stream`] and [`Listener`] are its sockets. They block: whoever waits at one has the whole host work
//!   meanwhile.
//! * [`FastStream`] is a connection whose usual segments are done where they arrive, by a handler.
//! * [`Nfs`] is an export of a server that is mounted.
//! * [`rarp`] is for who doesn't know its address; [`http`] for any stream.
//!
//! It doesn't know what handlers do: a host's [`Station`](drystone_handlers::Station) has them see what arrives first,
//! and what they pass on comes to the host.

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
