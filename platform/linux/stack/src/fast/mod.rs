//! TCP with a fast path where segments arrive (*ASHs*, section V-B). The fragment `tcp.c` runs as a handler and
//! processes the predicted segments: it puts their data where the application reads it, and acknowledges it. All else
//! is done here, by a small TCP (RFC 9293) that shares its control block with the handler. smoltcp's TCP can't share
//! its own.
//!
//! It is for networks that lose little: after a time-out, all unacknowledged data is retransmitted. There is no
//! congestion control and no window scaling, and segments out of order are dropped.

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
