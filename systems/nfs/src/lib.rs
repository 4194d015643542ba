//! The NFS gateway's component `Disk`, which serves an export of an NFS server. The rest of the gateway is the file
//! server's, in the component language.
//!
//! * [`export`] is the export as a folder.
//! * [`server`] sends requests to the NFS server.
//! * [`records`] reassembles its replies.
//! * [`stream`] is a connection to it; [`wire`] gives connections to the NFS library.

#![warn(missing_docs)]

use drystone_kortex::{Addition, Offer};
use files::interfaces::disk;
use files::serving;

use crate::export::Export;

pub mod export;
pub mod records;
pub mod server;
pub mod stream;
pub mod wire;

/// The crate's additions to a program, for `--with`.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &disk::DECLARATION, begin: serving::begin::<Export> }],
    ..Addition::NOTHING
};
