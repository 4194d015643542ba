//! The export of an NFS server: `Disk` of the file server's crate, for what another machine has. The rest of the
//! gateway is the file server's, in the component language.
//!
//! * [`export`] is the export as a folder.
//! * [`server`] asks the NFS server.
//! * [`records`] puts its replies together.
//! * [`wire`] is the connections to it.

#![warn(missing_docs)]

use drystone_kortex::{Addition, Offer};
use files::{disk, serving};

use crate::export::Export;

pub mod export;
pub mod records;
pub mod server;
pub mod wire;

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition {
    offers: &[Offer { declaration: &disk::DECLARATION, begin: serving::begin::<Export> }],
    contexts: &[],
    factories: &[],
};
