//! The native part of the network server: the component `Wires`, which makes TCP connections to allowed peers. The rest
//! of the server is written in the component language, beside this crate. Files come from the crate `files`.
//!
//! * [`allowed`] is the list of peers.
//! * [`engine`] waits for sockets on a thread.
//! * `wires` serves a client with the two.

#![warn(missing_docs)]

use drystone_kortex::{Addition, Offer};

pub mod allowed;
pub mod engine;
pub mod interfaces;
mod wires;

/// The crate's additions to a program, for `--with`.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &interfaces::wires::DECLARATION, begin: wires::begin }, files::DISK],
    ..Addition::NOTHING
};
