//! What rows about processes share, and the subject of a row.

use super::effort::Effort;
use super::programs::{Program, Target};
use crate::contender::Contender;
use crate::row::Better;

/// What all rows share.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) effort: Effort,
    pub(super) drystone: Contender,
    pub(super) peers: Vec<Contender>,
    /// How many times slower this machine is than the one that the targets are for.
    pub(super) slowness: f64,
}

/// The subject of a row.
pub(super) struct Heading<'a> {
    pub(super) row: String,
    pub(super) cores: usize,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) program: &'a Program,
    pub(super) target: Option<Target>,
}
