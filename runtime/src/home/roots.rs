//! The components that a program begins with, which hold all others.

use alloc::vec::Vec;
use core::ptr::null_mut;

use crate::far::Guest;
use crate::layout::Instance;

/// See the head of this file.
pub struct Roots {
    /// The program's entry; null when it has been deleted.
    pub entry: *mut Instance,
    /// What the entry is to another program, if it is here for one.
    pub guest: Option<Guest>,
    /// Components of the system that the entry is connected to.
    pub system: Vec<*mut Instance>,
}

impl Roots {
    /// Nothing is made yet.
    pub fn new(guest: Option<Guest>) -> Roots {
        Roots { entry: null_mut(), guest, system: Vec::new() }
    }
}
