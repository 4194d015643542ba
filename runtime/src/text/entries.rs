//! The entry points for texts: see ENTRY_POINTS.md.
//!
//! # Safety of this module: *generated code calls*
//! `p` runs on `w`, the worker of this thread, or `w` tests its condition. Each text that is passed in is null, or has
//! a holder that stays while the call lasts: *a live text*. `cell` is a text variable that the process may change. If
//! an entry point answers that it has failed, the process leaves.

use super::equality::values_equal;
use super::records::{self, Shape};
use super::sequences;
use super::sorting::{self, Keys};
use super::{
    append, append_byte, bytes, compare, concat, concat_all, copy, drop_here, equal, find, make, make_way,
    make_zeroed, numbers, set, slice,
};
use crate::failure::ds_fail;
use crate::layout::{Fault, Process, Status, TextHead, Worker};
use crate::long::Caller;
use crate::worker::heap_of;
use drystone_component::form::Form;
use drystone_component::number;

/// What an operation answers that should make a text and has failed.
pub const FAILED: *mut TextHead = usize::MAX as *mut TextHead;

/// Where an operation may fail: in a running process, and at a location in its source.
struct At(*mut Worker, *mut Process, u32);

impl At {
    /// What was made, or `failed` after telling the scheduler.
    ///
    /// # Safety
    /// *Generated code calls* by that process.
    unsafe fn or_fail<T>(self, made: Result<T, Fault>, failed: T) -> T {
        made.unwrap_or_else(|fault| {
            // SAFETY: *generated code calls*, and the process leaves.
            unsafe { ds_fail(self.0, self.1, fault as u32, self.2) };
            failed
        })
    }
}

/// One more holder.
///
/// # Safety
/// `w` is the worker of this thread; `text` is null or *a live text*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_copy(w: *mut Worker, text: *mut TextHead) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { copy(&*heap_of(w), text) }
}

/// One holder less.
///
/// # Safety
/// `w` is the worker of this thread; `text` is null, or the caller holds it and forgets it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_drop(w: *mut Worker, text: *mut TextHead) {
    // SAFETY: *generated code calls*.
    unsafe { drop_here(&mut *heap_of(w), text) }
}

/// `NEW(t, n)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_new(
    w: *mut Worker,
    p: *mut Process,
    n: i64,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe {
        let length = usize::try_from(n).map_err(|_| Fault::InvalidArgument);
        let make = |length| {
            make_way(Caller::new(w, p), heap_of(w), length);
            make_zeroed(&mut *heap_of(w), length)
        };
        At(w, p, location).or_fail(length.and_then(make), FAILED)
    }
}

/// `a + b`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_concat(
    w: *mut Worker,
    p: *mut Process,
    a: *mut TextHead,
    b: *mut TextHead,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(concat(Caller::new(w, p), heap_of(w), a, b), FAILED) }
}

/// `a + b + c + d`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_concat_all(
    w: *mut Worker,
    p: *mut Process,
    a: *mut TextHead,
    b: *mut TextHead,
    c: *mut TextHead,
    d: *mut TextHead,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(concat_all(Caller::new(w, p), heap_of(w), [a, b, c, d]), FAILED) }
}

/// `t := t + x`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_append(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut TextHead,
    more: *mut TextHead,
    location: u32,
) -> Status {
    // SAFETY: *generated code calls*.
    unsafe {
        let done = append(Caller::new(w, p), heap_of(w), cell, more).map(|()| Status::Done);
        At(w, p, location).or_fail(done, Status::Leave)
    }
}

/// `t := t + TEXT(c)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_append_character(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut TextHead,
    character: u32,
    location: u32,
) -> Status {
    // SAFETY: *generated code calls*.
    unsafe {
        let done = append_byte(Caller::new(w, p), heap_of(w), cell, character as u8).map(|()| Status::Done);
        At(w, p, location).or_fail(done, Status::Leave)
    }
}

/// -1, 0 or 1: order by unsigned bytes.
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_compare(
    w: *mut Worker,
    p: *mut Process,
    a: *const TextHead,
    b: *const TextHead,
) -> i32 {
    // SAFETY: *generated code calls*.
    unsafe { compare(Caller::new(w, p), a, b) as i32 }
}

/// 1 if both are the same bytes.
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_equal(
    w: *mut Worker,
    p: *mut Process,
    a: *const TextHead,
    b: *const TextHead,
) -> u32 {
    // SAFETY: *generated code calls*.
    unsafe { u32::from(equal(Caller::new(w, p), a, b)) }
}

/// The form that a text of the program's own says.
///
/// # Safety
/// The text is live during `'a`, and a form.
unsafe fn form_of<'a>(text: *const TextHead) -> Form<'a> {
    // SAFETY: the compiler writes forms in ASCII.
    Form::new(unsafe { core::str::from_utf8_unchecked(bytes(text)) })
}

/// 1 if two records or sequences of this form are equal.
///
/// # Safety
/// *Generated code calls*; both are of that form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_value_equal(
    w: *mut Worker,
    p: *mut Process,
    a: *const TextHead,
    b: *const TextHead,
    form: *const TextHead,
) -> u32 {
    // SAFETY: *generated code calls*.
    unsafe { u32::from(values_equal(Caller::new(w, p), a as u64, b as u64, form_of(form))) }
}

/// `t[i] := x`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_set(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut TextHead,
    index: i64,
    character: u32,
    location: u32,
) -> Status {
    // SAFETY: *generated code calls*.
    unsafe {
        let done = set(Caller::new(w, p), heap_of(w), cell, index, character as u8).map(|()| Status::Done);
        At(w, p, location).or_fail(done, Status::Leave)
    }
}

/// `SLICE(t, from, n)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_slice(
    w: *mut Worker,
    p: *mut Process,
    text: *mut TextHead,
    from: i64,
    n: i64,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(slice(Caller::new(w, p), heap_of(w), text, from, n), FAILED) }
}

/// A record whose words are 0; the first `owned` of them are for texts and records.
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_record_new(
    w: *mut Worker,
    p: *mut Process,
    words: u32,
    owned: u32,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(records::make(&mut *heap_of(w), Shape { words, owned }), FAILED) }
}

/// The record in `cell`, after making sure that it is a block that nobody else holds.
///
/// # Safety
/// *Generated code calls*; `cell` is a variable for records of that shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_record_own(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut TextHead,
    words: u32,
    owned: u32,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe {
        At(w, p, location).or_fail(records::own(&mut *heap_of(w), cell, Shape { words, owned }), FAILED)
    }
}

/// `NEW(s, n)` for a sequence.
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sequence_new(
    w: *mut Worker,
    p: *mut Process,
    n: i64,
    is_owned: u32,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe {
        let count = usize::try_from(n).map_err(|_| Fault::InvalidArgument);
        let make = |count| sequences::make(Caller::new(w, p), heap_of(w), count, is_owned != 0);
        At(w, p, location).or_fail(count.and_then(make), FAILED)
    }
}

/// Where the word of an element is, after making sure that nobody else holds the sequence in `cell`.
///
/// # Safety
/// *Generated code calls*; `cell` is a variable for sequences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sequence_place(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut TextHead,
    index: i64,
    location: u32,
) -> *mut u64 {
    // SAFETY: *generated code calls*.
    unsafe {
        let place = sequences::place(Caller::new(w, p), heap_of(w), cell, index);
        At(w, p, location).or_fail(place, FAILED.cast())
    }
}

/// `INSERT(s, index, x)`: where the word of the new element is.
///
/// # Safety
/// *Generated code calls*; `cell` is a variable for sequences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sequence_insert(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut TextHead,
    index: i64,
    is_owned: u32,
    location: u32,
) -> *mut u64 {
    // SAFETY: *generated code calls*.
    unsafe {
        let place = sequences::insert(Caller::new(w, p), heap_of(w), cell, index, is_owned != 0);
        At(w, p, location).or_fail(place, FAILED.cast())
    }
}

/// `REMOVE(s, index)`
///
/// # Safety
/// *Generated code calls*; `cell` is a variable for sequences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sequence_remove(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut TextHead,
    index: i64,
    location: u32,
) -> Status {
    // SAFETY: *generated code calls*.
    unsafe {
        let done = sequences::remove(Caller::new(w, p), heap_of(w), cell, index).map(|()| Status::Done);
        At(w, p, location).or_fail(done, Status::Leave)
    }
}

/// `SLICE(s, from, n)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sequence_slice(
    w: *mut Worker,
    p: *mut Process,
    sequence: *mut TextHead,
    from: i64,
    n: i64,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe {
        let part = sequences::slice(Caller::new(w, p), heap_of(w), sequence, from, n);
        At(w, p, location).or_fail(part, FAILED)
    }
}

/// `a + b`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sequence_join(
    w: *mut Worker,
    p: *mut Process,
    a: *mut TextHead,
    b: *mut TextHead,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(sequences::join(Caller::new(w, p), heap_of(w), a, b), FAILED) }
}

/// The elements in the order of their keys, which are as many.
///
/// # Safety
/// *Generated code calls*; the keys are of that kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_sequence_sorted(
    w: *mut Worker,
    p: *mut Process,
    sequence: *mut TextHead,
    keys: *mut TextHead,
    kind: u32,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe {
        let sorted = sorting::sorted(Caller::new(w, p), heap_of(w), sequence, keys, Keys::of(kind));
        At(w, p, location).or_fail(sorted, FAILED)
    }
}

/// `FIND(t, part, from)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_find(
    w: *mut Worker,
    p: *mut Process,
    text: *mut TextHead,
    part: *mut TextHead,
    from: i64,
    location: u32,
) -> i64 {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(find(Caller::new(w, p), text, part, from), i64::MIN) }
}

/// `TEXT(n)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_from_integer(
    w: *mut Worker,
    p: *mut Process,
    value: i64,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(make(&mut *heap_of(w), number::integer(value).as_bytes()), FAILED) }
}

/// `TEXT(x)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_from_real(
    w: *mut Worker,
    p: *mut Process,
    value: f64,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(make(&mut *heap_of(w), number::real(value).as_bytes()), FAILED) }
}

/// `TEXT(b)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_from_boolean(
    w: *mut Worker,
    p: *mut Process,
    value: u32,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(make(&mut *heap_of(w), number::boolean(value != 0)), FAILED) }
}

/// `TEXT(c)`
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_text_from_character(
    w: *mut Worker,
    p: *mut Process,
    value: u32,
    location: u32,
) -> *mut TextHead {
    // SAFETY: *generated code calls*.
    unsafe { At(w, p, location).or_fail(make(&mut *heap_of(w), &[value as u8]), FAILED) }
}

/// `NUMBER(t, n)`
///
/// # Safety
/// *Generated code calls*; `to` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_number_integer(
    w: *mut Worker,
    p: *mut Process,
    text: *const TextHead,
    to: *mut i64,
) -> u32 {
    // SAFETY: *generated code calls*.
    unsafe { put(numbers::integer(Caller::new(w, p), bytes(text)), to) }
}

/// `NUMBER(t, x)`
///
/// # Safety
/// *Generated code calls*; `to` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_number_real(
    w: *mut Worker,
    p: *mut Process,
    text: *const TextHead,
    to: *mut f64,
) -> u32 {
    // SAFETY: *generated code calls*.
    unsafe { put(numbers::real(Caller::new(w, p), bytes(text)), to) }
}

/// Writes a value if there is one; 1 if so.
///
/// # Safety
/// `to` may be written.
unsafe fn put<T>(value: Option<T>, to: *mut T) -> u32 {
    match value {
        Some(value) => {
            // SAFETY: the caller promises that `to` may be written.
            unsafe { to.write(value) };
            1
        }
        None => 0,
    }
}
