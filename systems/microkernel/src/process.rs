//! A process: a domain with the address space that it has, and its first thread.

use core::cell::RefCell;

use kortex_binding::{Activation, Domain};
use kortex_memory::paged::Paged;
use kortex_thread::Thread;

use crate::Memory;

/// See the head of this file.
#[repr(C)]
pub struct Process {
    pub domain: Domain,
    pub space: RefCell<Paged<'static, Memory>>,
    pub name: &'static str,
    pub role: u64,
}

/// A thread of it.
pub type ProcessThread = Thread<Activation>;
