//! A process: a domain with its address space, its threads, and its part of the kernel's services.

use core::cell::{Cell, RefCell};

use kortex_binding::lrpc::Lrpc;
use kortex_binding::{Activation, Domain};
use kortex_hal::exception::{Context, Trap};
use kortex_hal::time::Rates;
use kortex_memory::Pages;
use kortex_memory::paged::Paged;
use kortex_thread::Thread;

/// The kernel, as the calls of its processes know it.
pub trait Owner: Sized + 'static {
    /// The source of pages.
    type Pages: Pages;

    /// The services that are added to processes.
    type Services: Services;

    /// Starts a thread of a process; `false`: there are too many.
    fn start_thread(&'static self, process: &'static Process<Self>, entry: u64, stack: u64) -> bool;

    /// When the last signal was delivered, by the processor's counter.
    fn told(&self) -> u64;

    /// Resumes what a signal has interrupted, at an address or where it was; `false`: nothing was interrupted.
    ///
    /// # Safety
    /// In a call of the thread that runs.
    unsafe fn go_on(&self, at: u64) -> bool;
}

/// Services that a kernel adds to its processes. It is the interface of a component of its own, so that an image has
/// only the services that it needs. By default each method does nothing.
pub trait Services: Sized + 'static {
    /// The part of the services that belongs to a process.
    type Part: 'static;

    /// Pages of a thread, as a power of two: most of them are its kernel stack.
    const STACK: usize = 2;

    /// The part of a new process.
    fn part(&self) -> Self::Part;

    /// The program that all processes run.
    fn program(&self) -> &'static [u8];

    /// The roles of processes, by the machine's command line, in groups: the second group begins when the first has
    /// ended.
    fn roles(&self, _what: &[u8]) -> &'static [&'static [u64]] {
        &[]
    }

    /// Called when the clock's rates are known.
    fn measured(&self, _rates: &Rates) {}

    /// Binds the calls that are added to a process.
    ///
    /// # Safety
    /// The process is never freed.
    unsafe fn bind<K: Owner<Services = Self>>(_process: &'static Process<K>) {}

    /// Called when a process is bound to another as its server.
    fn bound<K: Owner<Services = Self>>(
        _client: &'static Process<K>,
        _server: &'static Process<K>,
        _binding: &'static Lrpc,
    ) {
    }

    /// Whether some of these pages are reserved for the services: no other memory may be mapped there.
    fn keeps(_at: u64, _pages: u64) -> bool {
        false
    }

    /// Called when a tick has interrupted a process.
    ///
    /// # Safety
    /// In a handler, of a user's code; the context is that of the thread, which runs.
    unsafe fn tick<K: Owner<Services = Self>>(
        _process: &'static Process<K>,
        _trap: &(impl Trap + ?Sized),
        _thread: &Thread<Activation>,
        _context: &mut Context,
    ) {
    }

    /// Handles a process's page fault; returns whether the page is there now.
    ///
    /// # Safety
    /// In a handler, of a user's code in that process; so it is called.
    unsafe fn page_fault<K: Owner<Services = Self>>(
        _process: &'static Process<K>,
        _address: u64,
    ) -> Option<impl FnOnce() -> bool> {
        None::<fn() -> bool>
    }

    /// Frees the process's part, before its address space is freed.
    ///
    /// # Safety
    /// No thread is in the process.
    unsafe fn release<K: Owner<Services = Self>>(_process: &Process<K>, _space: &AddressSpace<K>) {}
}

/// See the head of this file.
#[repr(C)]
pub struct Process<K: Owner> {
    pub domain: Domain,
    pub kernel: &'static K,
    /// `None` once it is dead.
    pub space: RefCell<Option<AddressSpace<K>>>,
    /// Its part of the kernel's services.
    pub part: <K::Services as Services>::Part,
    pub name: &'static str,
    /// What it does, passed to its first thread.
    pub role: u64,
    /// The number of threads that haven't ended.
    pub threads: Cell<usize>,
    /// The process that was started before it.
    pub before: Option<&'static Process<K>>,
}

/// The address space of a process.
pub type AddressSpace<K> = Paged<'static, <K as Owner>::Pages>;

/// A thread of it.
pub type ProcessThread = Thread<Activation>;
