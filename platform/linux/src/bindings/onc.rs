//! ONC RPC version 2 (RFC 5531): what a program offers in request/reply form is called by anyone's clients, and anyone's
//! servers are called by it, over TCP and UDP.
//!
//! `options` is what `BY` may say, `service` which procedure is which call, `x` the same for `rpcgen`; `message`, `record`
//! and `xdr` are the bytes. `context` has the names. A server is a `door`, with `connection`s or `datagrams`, which bring
//! `session`s; a client a `caller`, with a `link` to the server. `portmap` is rpcbind.

mod caller;
mod connection;
mod context;
mod datagram_link;
mod datagrams;
mod door;
mod link;
mod listening;
mod message;
mod options;
mod portmap;
mod record;
mod repeats;
mod service;
#[cfg(test)]
mod service_tests;
mod session;
mod stream_link;
mod x;
mod xdr;

pub(in crate::bindings) use context::Context;
pub use options::Options;
pub use service::Service;
pub use x::print;
