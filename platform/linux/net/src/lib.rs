//! What protocols have in common on Linux: a protocol is a guest that puts these together.
//!
//! * [`place`] is a server's address as names have it. [`dial`] makes a connection to it, [`stream_dial`] one with TLS,
//!   if that is wanted. [`entry`] listens at an address.
//! * [`socket`] is a connection with its output buffer, [`secure`] is TLS, [`stream`] a connection with or without TLS.
//!   [`alive`] has the kernel find out that the other end has gone.
//! * [`datagram`] is a socket for UDP.
//! * [`datum`] is a value of a message between a program and a format of others, such as [`xdr`]; [`slot`] is a request
//!   that has been made, [`arrivals`] those who have come by a name. [`samples`] are interfaces for tests.

pub mod alive;
pub mod arrivals;
pub mod datagram;
pub mod datum;
pub mod dial;
pub mod entry;
pub mod place;
pub mod samples;
pub mod secure;
pub mod slot;
pub mod socket;
pub mod stream;
pub mod stream_dial;
pub mod xdr;
