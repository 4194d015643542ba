//! The network server's connections: `Wires`, a native component that connects by TCP to those to whom that is allowed.
//! The rest of the server is written in the component language, beside this crate. Files of a folder come from the
//! crate `files`.
//!
//! * [`allowed`] says who that is.
//! * [`engine`] waits for sockets on a thread of its own.
//! * `wires` serves a client by the two.

#![warn(missing_docs)]

use drystone_kortex::{Addition, Offer};

pub mod allowed;
pub mod engine;
pub mod interfaces;
mod wires;

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &interfaces::wires::DECLARATION, begin: wires::begin }, files::DISK],
    contexts: &[],
    factories: &[],
};
