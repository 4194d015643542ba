//! The native part of the file server: the component `Disk`, which serves the files of one folder. The rest of the
//! server is written in the component language, beside this crate.
//!
//! * [`folder`] is the trait of folders; [`beneath`] is one of this machine's, which the kernel lets no name leave
//!   (`openat2`).
//! * [`pool`] runs what may wait for a disk on threads.
//! * [`serving`] serves a client with the two; crates with other kinds of folders use it, too.

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

/// The crate's additions to a program, for `--with`.
pub static DRYSTONE: Addition = Addition { offers: &[DISK], ..Addition::NOTHING };
