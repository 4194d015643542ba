//! The export of an NFS server: `Disk` of the file server's crate, for what another machine has. The rest of the
//! gateway is the file server's, in the component language.
//!
//! * [`export`] is the export as a folder.
//! * [`server`] asks the NFS server.
//! * [`records`] puts its replies together.
//! * [`stream`] is a connection to it, [`wire`] how the library that speaks to it gets one.

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

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &disk::DECLARATION, begin: serving::begin::<Export> }],
    contexts: &[],
    factories: &[],
};
