//! A process: a domain with the address space that it has, and its threads.

use core::cell::{Cell, RefCell};

use kortex_binding::{Activation, Domain};
use kortex_memory::paged::Paged;
use kortex_thread::Thread;

use crate::Memory;

/// See the head of this file.
#[repr(C)]
pub struct Process {
    pub domain: Domain,
    /// Until it is dead.
    pub space: RefCell<Option<Paged<'static, Memory>>>,
    pub name: &'static str,
    /// What it is told when it begins.
    pub role: u64,
    /// Threads that haven't ended.
    pub threads: Cell<usize>,
    /// The process that was started before.
    pub before: Option<&'static Process>,
}

/// A thread of it.
pub type ProcessThread = Thread<Activation>;
