//! Offsets of the fields that generated code reads and writes itself; `drystone_runtime::layout` asserts them.

use std::mem::{offset_of, size_of};

use drystone_runtime::layout::{
    Communication, FrameHead, Instance, OfferedSlot, Process, RequiredSlot, Ring, SlotTable, Source,
    TEXT_BYTES, TextHead, TextSlice, Worker,
};

pub(crate) const RING_FIRST: i32 = offset_of!(Ring, first) as i32;
pub(crate) const RING_NEXT: i32 = offset_of!(Ring, next) as i32;
pub(crate) const READY_HEAD: i32 = offset_of!(Worker, ready_head) as i32;
pub(crate) const READY_TAIL: i32 = offset_of!(Worker, ready_tail) as i32;
pub(crate) const ATTENTION: i32 = offset_of!(Worker, attention) as i32;
pub(crate) const AWAY: i32 = offset_of!(Worker, away) as i32;
pub(crate) const RESULT: i32 = offset_of!(Worker, result) as i32;
pub(crate) const SWITCHES: i32 = offset_of!(Worker, switches) as i32;
pub(crate) const MESSAGES: i32 = offset_of!(Worker, messages) as i32;
pub(crate) const ANSWER: i32 = offset_of!(Worker, answer) as i32;
pub(crate) const RESUME: i32 = offset_of!(Process, resume) as i32;
pub(crate) const NEXT: i32 = offset_of!(Process, next) as i32;
pub(crate) const INSTANCE: i32 = offset_of!(Process, instance) as i32;
pub(crate) const LOCK_HELD: i32 = offset_of!(Process, lock) as i32;
pub(crate) const LOCK: i32 = offset_of!(Instance, lock) as i32;
pub(crate) const WAITER: i32 = offset_of!(Communication, waiter) as i32;
pub(crate) const STATUS: i32 = offset_of!(Process, status) as i32;
pub(crate) const TAG: i32 = WORD + 4;
pub(crate) const WORD: i32 = offset_of!(Communication, word) as i32;
pub(crate) const HOLDER: i32 = offset_of!(OfferedSlot, holder) as i32;
pub(crate) const COMMUNICATION: i32 = offset_of!(RequiredSlot, communication) as i32;
pub(crate) const SLOTS_LENGTH: i32 = offset_of!(SlotTable, length) as i32;
pub(crate) const SLOTS: i32 = size_of::<SlotTable>() as i32;
pub(crate) const TEXT_COUNT: i32 = offset_of!(TextHead, count) as i32;
pub(crate) const TEXT_LENGTH: i32 = offset_of!(TextHead, length) as i32;
pub(crate) const TEXT: i64 = TEXT_BYTES as i64;
pub(crate) const SLICE_BYTES: i32 = offset_of!(TextSlice, bytes) as i32;
pub(crate) const SLICE_LENGTH: i32 = offset_of!(TextSlice, length) as i32;
pub(crate) const SOURCE: i32 = size_of::<Source>() as i32;
pub(crate) const SOURCE_AT: i32 = offset_of!(Source, at) as i32;
pub(crate) const SOURCE_INSTANCE: i32 = offset_of!(Source, instance) as i32;
pub(crate) const SOURCE_INTERFACE: i32 = offset_of!(Source, interface) as i32;
pub(crate) const SOURCE_WAY: i32 = offset_of!(Source, way) as i32;
pub(crate) const SOURCE_PATTERN: i32 = offset_of!(Source, pattern) as i32;
pub(crate) const RETURN_TO: i32 = offset_of!(FrameHead, return_to) as i32;
pub(crate) const OUTER: i32 = offset_of!(FrameHead, outer) as i32;
