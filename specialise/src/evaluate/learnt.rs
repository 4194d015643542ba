//! What one attempt finds out for later attempts.

use super::initial::Initial;
use super::kept::Loops;
use super::objects::Objects;
use super::program::Found;
use super::spent::Spent;
use super::wanted::Wanted;

/// Findings that are kept from one attempt to the next.
#[derive(Default)]
pub(super) struct Learnt {
    pub program: Found,
    pub objects: Objects,
    pub initial: Initial,
    pub loops: Loops,
    pub wanted: Wanted,
    pub spent: Spent,
}
