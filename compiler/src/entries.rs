//! The runtime's entry points that generated code calls (`runtime/ENTRY_POINTS.md`).

pub use drystone_runtime::entry_points::table::*;

use crate::mir::EntryPoint;

/// Entry points for unusual cases. They are called so that they keep the caller's registers, and the usual way through
/// a segment has little to save.
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
