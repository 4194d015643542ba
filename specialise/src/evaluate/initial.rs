//! The memory when the entry is called.

use super::memory::Contents;
use super::value::ObjectId;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of memory when the entry is called, as far as it was asked for.
#[derive(Default)]
pub(super) struct Initial {
    pub contents: BTreeMap<ObjectId, Contents>,
    /// Variables that initialisers write to.
    pub changed: BTreeSet<ObjectId>,
}
