//! Handlers: an application's own code that runs where a message arrives, before any process does (paper 003).
//!
//! A handler is an eBPF program with the calling convention of Linux's XDP, so that one object file runs there and here
//! ([`Image`]). Here it runs as a [`Handler`]: verified, compiled, with its tables, and with a region of memory that it
//! shares with its application. It gives a [`Verdict`] on each [`Frame`].

mod arrival;
mod checksum;
mod flows;
mod frame;
mod helpers;
mod image;
mod pipes;
mod run;
pub mod tables;
mod terms;

pub use arrival::Sent;
pub use flows::{Counts, FlowId, Flows, Outcome, OwnerId, Share};
pub use frame::{Frame, LONGEST};
pub use image::{Image, LARGEST_REGION, Machine};
pub use run::{Ended, Handler, Settings, Verdict};
