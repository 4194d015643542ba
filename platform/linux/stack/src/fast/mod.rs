//! TCP with a fast path where segments arrive (paper 003, section V-B). The fragment `tcp.c` does what is predicted, as
//! a handler: it puts data where the application reads it, and acknowledges it. All else is done here: a small TCP (RFC
//! 9293) whose control block the handler has, too. It is not smoltcp's, because that one's control block is its own.
//!
//! It is for networks that lose little: what is lost is sent again after a time, all of it; there is no congestion
//! control, nothing is kept that comes out of order, and windows have no scale.

mod block;
mod connection;
mod receiving;
mod segment;
mod sending;
mod stream;
#[cfg(test)]
mod tests;

pub use block::Counts;
pub(crate) use connection::Connection;
pub(crate) use segment::End;
pub use stream::{FastStream, Place};
