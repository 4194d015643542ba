//! The entry points for `VARIABLE` parameters that name an element: see ENTRY_POINTS.md.
//!
//! # Safety of this module: *a live name*
//! `word` is an [`ElementName`] with [`IS_NAME`] set, in a live frame: its cell is a collection variable that its
//! description describes, and its keys are live. `p` runs on `w`, the worker of this thread.

use core::ptr::null_mut;

use super::entries::insert_in_parts;
use super::{find, remove};
use crate::failure::ds_fail;
use crate::layout::{ElementName, Fault, IS_NAME, Process, Worker};
use crate::long::Caller;
use crate::worker::heap_of;

/// The name that a parameter's word leads to, and its keys.
///
/// # Safety
/// `word` is *a live name*, during `'a`.
unsafe fn name_and_keys<'a>(word: *mut u8) -> (&'a ElementName, *const u64) {
    let name = word.map_addr(|address| address & !IS_NAME).cast::<ElementName>();
    // SAFETY: the name is live, and its keys follow it.
    unsafe { (&*name, name.add(1).cast()) }
}

/// The element, or null.
///
/// # Safety
/// `word` is *a live name*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_named_find(w: *mut Worker, p: *mut Process, word: *mut u8) -> *mut u8 {
    // SAFETY: `word` is *a live name*.
    unsafe {
        let (name, keys) = name_and_keys(word);
        find(Caller::new(w, p), name.cell, &*name.collection, keys)
    }
}

/// The element, which must be there.
///
/// # Safety
/// `word` is *a live name*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_named_present(
    w: *mut Worker,
    p: *mut Process,
    word: *mut u8,
    location: u32,
) -> *mut u8 {
    // SAFETY: `word` is *a live name*.
    unsafe {
        let element = ds_named_find(w, p, word);
        if element.is_null() {
            let is_array = (*name_and_keys(word).0.collection).array;
            let fault = if is_array { Fault::IndexOutOfBounds } else { Fault::MissingElement };
            ds_fail(w, p, fault as u32, location);
        }
        element
    }
}

/// The element, made if it was not there.
///
/// # Safety
/// `word` is *a live name*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_named_make(
    w: *mut Worker,
    p: *mut Process,
    word: *mut u8,
    location: u32,
) -> *mut u8 {
    // SAFETY: `word` is *a live name*.
    unsafe {
        let (name, keys) = name_and_keys(word);
        insert_in_parts(w, p, name.cell, &*name.collection, keys).unwrap_or_else(|fault| {
            ds_fail(w, p, fault as u32, location);
            null_mut()
        })
    }
}

/// What the word names or is the address of has lost its component: the element goes, a variable becomes null.
///
/// # Safety
/// `word` is *a live name*, or the address of a container.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_named_empty(w: *mut Worker, p: *mut Process, word: *mut u8) {
    // SAFETY: `word` is a container, or *a live name*.
    unsafe {
        if word.addr() & IS_NAME == 0 {
            word.cast::<*mut u8>().write(null_mut());
            return;
        }
        let (name, keys) = name_and_keys(word);
        remove(Caller::new(w, p), heap_of(w), name.cell, &*name.collection, keys);
    }
}
