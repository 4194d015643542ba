//! Terminals for tests.
//!
//! `unsafe` here: the C library makes them. That is sound because both descriptors are written by it, new, and nobody
//! else's.

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::null_mut;

/// The two sides of a new terminal: where what is written to it is read, and what a program has.
///
/// # Panics
/// The system has none.
pub fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut its) = (-1, -1);
    // SAFETY: both are written, and nothing else is asked for.
    let status = unsafe { libc::openpty(&mut ours, &mut its, null_mut(), null_mut(), null_mut()) };
    assert_eq!(status, 0, "there are terminals");
    // SAFETY: see the head of this file.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(its)) }
}
