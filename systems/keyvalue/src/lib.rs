//! The store of the key-value server: `Records`, a native component over [`redb`], whose file survives whatever ends the
//! program. The rest of the server is written in the component language, beside this crate.
//!
//! * [`records`] serves a client: it collects operations, and waits for them to be on the disk without holding up others.
//! * [`store`] is the file, and the one thread that writes to it: what all clients want meanwhile is one transaction.
//! * [`operation`] is what may be done, [`table`] does it.

#![warn(missing_docs)]

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));

use drystone_kortex::{Addition, Offer};

/// What may be asked of the store, and what it answers.
pub mod operation;
#[path = "records.rs"]
mod records_component;
/// The file and the thread that writes to it.
pub mod store;
mod table;

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &records::DECLARATION, begin: records_component::begin }],
    contexts: &[],
    factories: &[],
};
