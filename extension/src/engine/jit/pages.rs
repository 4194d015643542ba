//! Executable memory on Unix: pages that are written first, and executed then.

use alloc::{format, string::String};
use memmap2::{Mmap, MmapMut};

/// Pages with code in them.
pub type Pages = Mmap;

/// Puts code into pages of its own.
pub fn pages(code: &[u8]) -> Result<Pages, String> {
    let writable = MmapMut::map_anon(code.len());
    let executable = writable.and_then(|mut pages| {
        pages.copy_from_slice(code);
        pages.make_exec()
    });
    executable.map_err(|error| format!("there is no memory for code: {error}"))
}
