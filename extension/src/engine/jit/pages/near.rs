//! Addresses for code.

use core::ptr::without_provenance_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

/// An address for so many bytes of code, a multiple of a page, near the code of this process: processors take longer
/// for distant calls. It is a hint, which the system may not follow.
pub fn near<T>(bytes: usize) -> *mut T {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    const APART: usize = 1 << 24;
    const LOWEST: usize = 1 << 24;
    let taken = TAKEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    let here = (near::<T> as fn(usize) -> *mut T as usize) & !0xffff;
    // Above it is what the process allocates.
    let below = here.checked_sub(APART + taken).filter(|&address| address >= LOWEST);
    without_provenance_mut(below.unwrap_or(here.wrapping_add((1 << 30) + taken)))
}
