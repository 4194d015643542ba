//! The memory at the call of the entry.

use super::memory::Contents;
use super::value::ObjectId;
use std::collections::{BTreeMap, BTreeSet};

/// The facts about memory at the call of the entry, as far as they have been needed.
#[derive(Default)]
pub(super) struct Initial {
    pub contents: BTreeMap<ObjectId, Contents>,
    /// Variables that initialisers write to.
    pub changed: BTreeSet<ObjectId>,
}
