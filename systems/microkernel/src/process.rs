//! A process: a domain with the address space that it has, and its threads.

use core::cell::{Cell, RefCell};

use kortex_binding::{Activation, Domain};
use kortex_memory::Pages;
use kortex_memory::paged::Paged;
use kortex_thread::Thread;

use crate::services::Services;

/// Whose processes they are: the kernel, as their calls know it.
pub trait Owner: Sized + 'static {
    /// Who gives their pages.
    type Pages: Pages;

    /// What they have besides.
    type Services: Services;

    /// Starts a thread of a process; `false`: there are too many.
    fn start_thread(&'static self, process: &'static Process<Self>, entry: u64, stack: u64) -> bool;

    /// When somebody was told last what had happened, by the processor's counter.
    fn told(&self) -> u64;

    /// What was interrupted goes on, there or where it was; `false`: nothing was.
    ///
    /// # Safety
    /// In a call of the thread that runs.
    unsafe fn go_on(&self, at: u64) -> bool;
}

/// See the head of this file.
#[repr(C)]
pub struct Process<K: Owner> {
    pub domain: Domain,
    pub kernel: &'static K,
    /// Until it is dead.
    pub space: RefCell<Option<AddressSpace<K>>>,
    /// What it has of the kernel's services.
    pub part: <K::Services as Services>::Part,
    pub name: &'static str,
    /// What it is told when it begins.
    pub role: u64,
    /// Threads that haven't ended.
    pub threads: Cell<usize>,
    /// The process that was started before.
    pub before: Option<&'static Process<K>>,
}

/// Where its memory is.
pub type AddressSpace<K> = Paged<'static, <K as Owner>::Pages>;

/// A thread of it.
pub type ProcessThread = Thread<Activation>;
