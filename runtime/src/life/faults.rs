//! The errors that have ended isolated components (language reference, section 10). An error is known as long as the
//! dead component's block stands in its container, as a record of `Fault`. A component elsewhere, whose domain has come
//! to an end, stays in its container; its domain knows why.
//!
//! # Safety of this module: *at home*
//! `w` is the home worker, on its own thread. Records belong to its heap.

use alloc::format;
use core::ptr::null_mut;

use drystone_component::Role;

use crate::far::standing;
use crate::home::home;
use crate::instance::{stays_at_home, template_of};
use crate::layout::*;
use crate::text::{self, records};
use crate::worker::heap_of;

/// The fields of the record, in order: kind, text and place.
pub type Account<'a> = [&'a str; 3];

/// The kind of error that has ended a component elsewhere, whatever that was there.
const LOST: &str = "domain lost";

const SHAPE: records::Shape = records::Shape { words: 3, owned: 3 };

/// A record; null if there is no memory for it.
///
/// # Safety
/// *At home.*
unsafe fn record_of(w: *mut Worker, account: Account) -> *mut TextHead {
    // SAFETY: *at home*; the record is new, and has a word for each text.
    unsafe {
        let heap = &mut *heap_of(w);
        let Ok(record) = records::make(heap, SHAPE) else { return null_mut() };
        for (index, field) in account.iter().enumerate() {
            let Ok(text) = text::make(heap, field.as_bytes()) else {
                text::drop(heap, record);
                return null_mut();
            };
            *text::words(record).add(index) = text.expose_provenance() as u64;
        }
        record
    }
}

/// Keeps what has ended a component. If there is no memory for that, nothing is known of it.
///
/// # Safety
/// *At home*; the instance is dead, and stands in its container.
pub unsafe fn keep(w: *mut Worker, instance: *mut Instance, account: Account) {
    // SAFETY: *at home*.
    unsafe {
        let record = record_of(w, account);
        if !record.is_null() {
            (*home(w)).faults.insert(instance, record);
            stays_at_home(instance);
            (*instance).live |= FAULT_KNOWN;
        }
    }
}

/// Forgets what has ended a component whose block is to be freed.
///
/// # Safety
/// *At home*; the error of the instance is known.
#[cold]
pub unsafe fn forget(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: *at home*.
    unsafe {
        if let Some(record) = (*home(w)).faults.remove(&instance) {
            text::drop(&mut *heap_of(w), record);
        }
    }
}

/// `FAULT`
///
/// # Safety
/// *At home*; `instance` is null, or its block is still there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_fault(w: *mut Worker, instance: *mut Instance) -> *mut TextHead {
    // SAFETY: *at home*; the block of `instance` is there if that isn't null.
    unsafe {
        if instance.is_null() {
            return null_mut();
        }
        if (*instance).live & FAULT_KNOWN != 0 {
            let record = (*home(w)).faults.get(&instance).copied();
            return text::copy(&*heap_of(w), record.unwrap_or(null_mut()));
        }
        let is_elsewhere = !(*instance).is_dead() && (*template_of(instance)).role == Role::Remote;
        match is_elsewhere.then(|| standing::ended(instance)).flatten() {
            Some(why) => record_of(w, [LOST, &format!("{LOST}: {why}"), ""]),
            None => null_mut(),
        }
    }
}
