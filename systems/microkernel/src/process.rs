//! A process: a domain with the address space that it has, its threads, and what it has besides.

use core::cell::{Cell, RefCell};

use kortex_binding::lrpc::Lrpc;
use kortex_binding::{Activation, Domain};
use kortex_hal::exception::{Context, Trap};
use kortex_hal::time::Rates;
use kortex_memory::Pages;
use kortex_memory::paged::Paged;
use kortex_thread::Thread;

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

/// What processes have beside what each process of this kernel has: the interface of a component of its own, so that
/// what nobody needs isn't in the image. Where nothing else is said there is nothing of it.
pub trait Services: Sized + 'static {
    /// What a process has of it.
    type Part: 'static;

    /// A thread takes so many pages, as a power of two: most of them are its kernel stack.
    const STACK: usize = 2;

    /// What a process has of it when it begins.
    fn part(&self) -> Self::Part;

    /// The program that all processes run.
    fn program(&self) -> &'static [u8];

    /// What processes do, by what stands on the machine's command line: the second group begins when the first one has
    /// ended.
    fn roles(&self, _what: &[u8]) -> &'static [&'static [u64]] {
        &[]
    }

    /// It is known how fast time goes.
    fn measured(&self, _rates: &Rates) {}

    /// Binds what a process can call besides.
    ///
    /// # Safety
    /// The process stays.
    unsafe fn bind<K: Owner<Services = Self>>(_process: &'static Process<K>) {}

    /// A process can call another by this binding.
    fn bound<K: Owner<Services = Self>>(
        _client: &'static Process<K>,
        _server: &'static Process<K>,
        _binding: &'static Lrpc,
    ) {
    }

    /// Whether some of these pages are for what is here: no other memory is to be there.
    fn keeps(_at: u64, _pages: u64) -> bool {
        false
    }

    /// A process was interrupted by a tick.
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

    /// What handles that something isn't there that a process touched: it says whether it is there then.
    ///
    /// # Safety
    /// In a handler, of a user's code in that process; so it is called.
    unsafe fn page_fault<K: Owner<Services = Self>>(
        _process: &'static Process<K>,
        _address: u64,
    ) -> Option<impl FnOnce() -> bool> {
        None::<fn() -> bool>
    }

    /// Gives back what a process has beside its address space, which is given back next.
    ///
    /// # Safety
    /// Nobody is in it.
    unsafe fn release<K: Owner<Services = Self>>(_process: &Process<K>, _space: &AddressSpace<K>) {}
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
