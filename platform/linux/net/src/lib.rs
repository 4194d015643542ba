//! What protocols on Linux share. A protocol is a crate of its own that puts these together.
//!
//! * [`place`] is a server's address as names have it. [`dial`] makes a connection to it, [`stream_dial`] one with TLS,
//!   if that is wanted. [`entry`] listens at an address.
//! * [`socket`] is a connection, [`outflow`] its output buffer, [`secure`] is TLS, [`stream`] a connection with or
//!   without TLS. [`alive`] has the kernel find out that the other end has gone.
//! * [`datagram`] makes sockets for UDP.
//! * [`datum`] is a value of a message in a foreign format, such as [`xdr`].
//! * [`slot`] is a request that waits for its reply, [`arrivals`] are new clients of an exported name.
//! * [`samples`] are interfaces for tests.

pub mod alive;
pub mod arrivals;
pub mod datagram;
pub mod datum;
pub mod dial;
pub mod entry;
pub mod outflow;
pub mod place;
pub mod samples;
pub mod secure;
pub mod slot;
pub mod socket;
pub mod stream;
pub mod stream_dial;
pub mod xdr;
