//! Drystone's protocol between programs, without input and output.
//!
//! * [`Connection`]: one end of a connection; many communications with a flow control of their own.
//! * `frame`: what is sent over a connection.
//! * `xdr`: the values of messages as bytes.
//! * `description`: an interface as bytes.
//!
//! The owner of two byte streams (a socket, a ring in shared memory) feeds received bytes to a [`Connection`], handles
//! its events, and sends the bytes that it puts out. Nothing here waits. No input of a peer can make it panic, compute
//! without end, or take more memory than was granted: wrong input ends the connection with a sentence that says what
//! was wrong.
//!
//! `docs/src/wire.md` specifies the format.

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
