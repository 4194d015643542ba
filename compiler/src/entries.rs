//! The runtime's entry points that generated code calls (`runtime/ENTRY_POINTS.md`).

pub use drystone_runtime::entry_points::table::*;

use crate::mir::EntryPoint;

/// Those that are called where something unusual has happened: calls that keep the caller's registers, so that the
/// usual way through a segment has little to save.
pub static UNUSUAL: &[&EntryPoint] = &[
    &FAIL,
    &MISSING,
    &PREEMPT,
    &GO_HOME,
    &FIND_REQUIRED,
    &REACH,
    &REACH_HELD,
    &SEND,
    &ROOM,
    &SENT,
    &RECEIVE,
    &RECEIVED,
    &TEST,
    &LOCK,
    &UNLOCK,
    &WROTE,
];
