//! What protocols have in common on Linux: a protocol is a guest that puts these together.
//!
//! * [`place`] is an address as names have it, and looks it up; [`dial`] tries what was found; [`entry`] listens there;
//!   [`socket`] is a connection; [`secure`] puts TLS on it; [`alive`] finds out when its other end has gone.
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
pub mod xdr;
