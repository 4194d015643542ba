//! Standard output: what processes write, in the order in which they do.
//!
//! Each worker collects what its processes write; what is written away from home goes there with the process (see
//! the parallel module), so that whatever a process does afterwards comes later. Writing never waits for anybody.
//!
//! # Why this is sound
//! A worker's buffer is touched by its own thread only.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;

use crate::home::exchange::Post;
use crate::home::{home, own, shared};
use crate::layout::*;
use crate::text;
use drystone_component::number;

/// Bytes that are collected before the platform gets them.
const BUFFER: usize = 16 << 10;

/// Writes some bytes, whole.
pub unsafe fn write(w: *mut Worker, bytes: &[u8]) {
    let output = &mut (*own(w)).output;
    output.extend_from_slice(bytes);
    if output.len() >= BUFFER {
        if (*w).away == 0 {
            flush(w);
        } else {
            post(w);
        }
    }
}

/// Sends home what the process that is away has written so far.
pub unsafe fn post(w: *mut Worker) {
    let output = core::mem::take(&mut (*own(w)).output);
    shared(w).exchange.post(Box::new(Post { output, ..Post::default() }));
    shared(w).call_home();
}

/// Gives the platform what the home worker has collected.
pub unsafe fn flush(w: *mut Worker) {
    let output = &mut (*own(w)).output;
    if !output.is_empty() {
        (*(*home(w)).platform).write(output);
        output.clear();
    }
}

/// `WRITE`
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_integer(w: *mut Worker, x: i64) {
    write(w, number::integer(x).as_bytes());
}

/// `WRITE`
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_real(w: *mut Worker, x: f64) {
    write(w, number::real(x).as_bytes());
}

/// `WRITE`
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_boolean(w: *mut Worker, x: u32) {
    write(w, number::boolean(x != 0));
}

/// `WRITE`
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_character(w: *mut Worker, x: u32) {
    write(w, &[x as u8]);
}

/// `WRITE`: up to a 0X.
///
/// # Safety
/// `w` is the worker of this thread; `x` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_text(w: *mut Worker, x: *const TextHead) {
    let bytes = text::bytes(x);
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    write(w, &bytes[..end]);
}

/// `WRITEHEX`
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_hex(w: *mut Worker, x: i64) {
    write(w, number::hexadecimal(x).as_bytes());
}

/// `WRITELINE`
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_write_line(w: *mut Worker) {
    write(w, b"\n");
}
