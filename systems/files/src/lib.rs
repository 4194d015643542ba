//! The files of the file server: `Disk`, a native component that gives what lies beneath one folder. The rest of the server is
//! written in the component language, beside this crate.
//!
//! * [`beneath`] is the folder: the kernel sees to it that no name leads out of it (`openat2`).
//! * [`pool`] does on threads of its own what may wait for a disk.
//! * `disk` serves a client by the two.

#![warn(missing_docs)]

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));

use drystone_kortex::{Addition, Offer};

pub mod beneath;
#[path = "disk.rs"]
mod disk_component;
pub mod pool;

/// The files of one folder.
pub const DISK: Offer = Offer { declaration: &disk::DECLARATION, begin: disk_component::begin };

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition { offers: &[DISK], contexts: &[], factories: &[] };
