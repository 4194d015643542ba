//! Handlers: application code that runs where a message arrives, before any process does (*ASHs*).
//!
//! A handler is an eBPF program with the calling convention of Linux's XDP, so that the same object file ([`Image`])
//! runs in Linux's kernel and in Drystone's engines. There it is a [`Handler`]: verified and compiled, with its tables,
//! and with a region of memory that it shares with its application. It gives a [`Verdict`] on each [`Frame`]. [`Flows`]
//! choose the handler of a message.

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
