//! What rows about processes need, and what they are about.

use super::effort::Effort;
use super::programs::{Program, Target};
use crate::contender::Contender;
use crate::row::Better;

/// What all rows need.
pub(super) struct Bench {
    pub(super) effort: Effort,
    pub(super) drystone: Contender,
    pub(super) peers: Vec<Contender>,
    /// How many times as long as the machine that the targets were stated for this one takes.
    pub(super) slowness: f64,
}

/// What a row is about.
pub(super) struct Heading<'a> {
    pub(super) row: String,
    pub(super) cores: usize,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) program: &'a Program,
    pub(super) target: Option<Target>,
}
