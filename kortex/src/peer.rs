//! A peer: another program, with which this one speaks Drystone's own protocol over a line of bytes. Communications
//! with the peer are far halves for this program's pumps. Each side offers its exported names to the other.
//!
//! `component::wire` knows the protocol; a [`Line`] carries the bytes. Values go straight from a message's words into
//! the line's output, and from its input to a message.
//!
//! * [`Peer`] (`connection`) is the connection with its communications; `events` passes on what happens on it.
//! * `half` is one communication, as a pump sees it.
//! * `offer` is what this program exports; `composites` is what a service of composite calls has to provide.

mod composites;
mod connection;
mod events;
mod half;
mod line;
mod offer;

pub use self::composites::{ClientId, ClientLine, Composites, Service, Shipper};
pub use self::connection::Peer;
pub use self::line::Line;
pub use self::offer::{Brought, Names, Offer, Wanted, check};
