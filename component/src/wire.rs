//! Drystone's own protocol between programs, without any input or output: `xdr` is the values of messages as bytes,
//! `description` an interface as bytes, `frame` what a connection consists of, and [`Connection`] one end of it: many
//! communications, each with a flow control of its own.
//!
//! Whoever has a pair of byte streams (a socket, a ring in shared memory) feeds what comes to a [`Connection`], does
//! what its events say, and sends what it puts out. Nothing here waits, and nothing that a peer sends can make it
//! panic, compute without end, or take more memory than was granted: it ends the connection with a sentence that says
//! what was wrong.
//!
//! The format is written in `docs/src/wire.md`; what is said there and what is done here must be the same.

mod channel;
mod connection;
mod description;
mod frame;
mod inbox;
mod limits;
mod numbers;
mod role;
mod xdr;

pub use connection::{Arrival, Connection, Event, Handle};
pub use description::{Described, Description, identity};
pub use limits::Limits;
pub use role::Role;
pub use xdr::{Reader, Sink, Source, decode, encode, hand_over, put_opaque, put_u32, put_u64};
