//! What is printed of a segment where it begins.

use std::collections::BTreeMap;

use crate::mir::{BlockId, Reg};

/// What cutting adds to a block where a segment begins.
#[derive(Clone, Debug)]
pub struct Head {
    /// The segment runs on the stack of the process that tests the condition.
    pub is_condition: bool,
    /// The registers that are live there, ascending, and where in the frame each is saved.
    pub saved: Vec<(Reg, Option<u32>)>,
    /// The suspension points that the segment tries on its way, ascending.
    pub trying: Vec<BlockId>,
}

/// The heads of a body or procedure; none before it is cut.
pub type Heads = BTreeMap<BlockId, Head>;
