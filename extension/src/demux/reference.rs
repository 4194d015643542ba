//! References by which generated code finds tables.
//!
//! `unsafe` here: a reference is sent to other threads. It is only read by code that a [`super::structure`] calls,
//! which says why that is sound.

use super::table::Table;

/// The address of a table, for code.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Reference {
    buckets: *const u32,
    rows: *const u64,
    mask: u32,
}

// SAFETY: a `Reference` is an address. The code that reads there says why that is sound.
unsafe impl Send for Reference {}
// SAFETY: a `Reference` is never changed in place.
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
