//! The store of the key-value server: `Records`, a native component over [`redb`], whose file survives whatever ends
//! the program. The rest of the server is written in the component language, beside this crate.
//!
//! * `records` serves a client: it collects operations, and waits for them to be on the disk without holding up others.
//! * [`store`] has the threads that do them: one writes, and what all clients want meanwhile is one transaction
//!   ([`writer`]); one reads.
//! * [`file`] is what they do it on, and is opened anew when the disk has failed.
//! * [`operation`] is what may be done, `reading` and `changing` do it, [`watch`] knows who wants to know.
//! * [`record`] is how records lie in the file, [`pattern`] which keys are meant.

#![warn(missing_docs)]

use drystone_kortex::{Addition, Offer};

mod changing;
pub mod file;
pub mod interfaces;
pub mod operation;
pub mod pattern;
mod reading;
pub mod record;
mod records;
pub mod store;
pub mod watch;
pub mod writer;

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &interfaces::records::DECLARATION, begin: records::begin }],
    contexts: &[],
    factories: &[],
};
