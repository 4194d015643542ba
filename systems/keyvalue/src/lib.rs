//! The store of the key-value server: the native component `Records` over [`redb`], whose file survives crashes. The
//! rest of the server is written in the component language, beside this crate.
//!
//! * `records` serves a client: it collects operations, and waits until they are on the disk without holding up other
//!   clients.
//! * [`store`] has two threads. The writer ([`writer`]) groups the changes of all clients into one transaction; the
//!   other one reads.
//! * [`mod@file`] is their file, which is reopened when the disk has failed.
//! * [`operation`] declares the operations, `reading` and `changing` execute them, and [`watch`] tells clients of
//!   changed keys.
//! * [`record`] is the layout of records in the file, [`pattern`] matches keys.

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

/// The crate's additions to a program, for `--with`.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &interfaces::records::DECLARATION, begin: records::begin }],
    ..Addition::NOTHING
};
