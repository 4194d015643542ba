//! Drystone's protocol between programs, without input and output.
//!
//! * [`Connection`]: one end of a connection, which carries many communications, each with its own flow control.
//! * `frame`: the unit that is sent over a connection.
//! * `xdr`: the values of messages as bytes.
//! * `description`: an interface as bytes.
//!
//! The owner of two byte streams (a socket, a ring in shared memory) feeds received bytes to a [`Connection`], handles
//! its events, and sends its output. Nothing here waits. No input from a peer can cause a panic, an endless
//! computation, or the use of more memory than was granted. Wrong input ends the connection, with a sentence that says
//! what was wrong.
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
