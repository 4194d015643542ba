//! Tables as generated code finds them.
//!
//! `unsafe` here: where a table is may be told to other threads. That is sound because nothing is read there but by
//! code that a [`super::structure`] calls, which says why.

use super::table::Table;

/// Where code finds a table.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Reference {
    buckets: *const u32,
    rows: *const u64,
    mask: u32,
}

// SAFETY: it only says where a table is, which can be shared.
unsafe impl Send for Reference {}
// SAFETY: the same.
unsafe impl Sync for Reference {}

#[cfg(target_arch = "x86_64")]
impl Reference {
    pub const BUCKETS: i32 = core::mem::offset_of!(Reference, buckets) as i32;
    pub const ROWS: i32 = core::mem::offset_of!(Reference, rows) as i32;
    pub const MASK: i32 = core::mem::offset_of!(Reference, mask) as i32;
}

impl Reference {
    pub fn of(table: &Table) -> Reference {
        Reference { buckets: table.buckets().as_ptr(), rows: table.rows().as_ptr(), mask: table.mask() }
    }

    pub const NONE: Reference = Reference { buckets: core::ptr::null(), rows: core::ptr::null(), mask: 0 };
}
