//! Measures how costs grow: with the number of processes, with the memory for them, with the elements of collections,
//! and with the processes that wait for a lock's release; and how long large operations delay other processes.
//! Drystone's programs measure themselves: see [`trial`].

mod collections;
mod compiling;
mod curves;
mod delays;
mod effort;
mod releases;
mod room;
mod tables;
mod trial;

use effort::EFFORT;

use super::bench::Bench;
use crate::row::Tell;

pub use tables::{is_growth, sections};

/// Measures row after row.
pub(super) fn measure(bench: &Bench, tell: Tell) -> Result<(), String> {
    curves::measure(&Bench { effort: EFFORT, ..bench.clone() }, tell)?;
    room::measure(tell)?;
    collections::measure(tell)?;
    compiling::measure(tell)?;
    releases::measure(tell)?;
    delays::measure(tell)
}
