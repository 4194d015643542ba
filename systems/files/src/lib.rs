//! The files of the file server: `Disk`, a native component that gives what lies in one folder. The rest of the server
//! is written in the component language, beside this crate.
//!
//! * [`folder`] says what a folder is, [`beneath`] is one of this machine's: the kernel sees to it that no name leads
//!   out of it (`openat2`).
//! * [`pool`] does on threads of its own what may wait for a disk.
//! * [`serving`] serves a client by the two; crates that have a folder elsewhere use it, too.

#![warn(missing_docs)]

use drystone_kortex::{Addition, Offer};

use crate::beneath::Beneath;

pub mod beneath;
pub mod folder;
pub mod interfaces;
pub mod pool;
pub mod serving;

/// The files of one folder.
pub const DISK: Offer =
    Offer { declaration: &interfaces::disk::DECLARATION, begin: serving::begin::<Beneath> };

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition { offers: &[DISK], contexts: &[], factories: &[] };
