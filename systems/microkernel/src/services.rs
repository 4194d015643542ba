//! What processes have beside what each process of this kernel has: a component of its own, so that what nobody needs isn't in the image.

use kortex_binding::Activation;
use kortex_hal::exception::{Context, Trap};
use kortex_hal::time::Rates;
use kortex_thread::Thread;

use crate::process::{AddressSpace, Owner, Process};

/// The interface of such a component. Where nothing else is said there is nothing of it.
pub trait Services: Sized + 'static {
    /// What a process has of it.
    type Part: 'static;

    /// A thread takes so many pages, as a power of two: most of them are its kernel stack.
    const STACK: usize = 2;

    /// What a process has of it when it begins.
    fn part(&self) -> Self::Part;

    /// The program that all processes run.
    fn program(&self) -> &'static [u8];

    /// What processes do, by what stands on the machine's command line: the second group begins when the first one has ended.
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

    /// A process can call another, which is told this word whenever it does.
    fn bound<K: Owner<Services = Self>>(
        &self,
        _client: &'static Process<K>,
        _server: &'static Process<K>,
    ) -> u64 {
        0
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

    /// Something isn't there that a process touched. `true`: now it is.
    ///
    /// # Safety
    /// In a handler, of a user's code in that process.
    unsafe fn page_fault<K: Owner<Services = Self>>(_process: &'static Process<K>, _address: u64) -> bool {
        false
    }

    /// Gives back what a process has beside its address space, which is given back next.
    ///
    /// # Safety
    /// Nobody is in it.
    unsafe fn release<K: Owner<Services = Self>>(_process: &Process<K>, _space: &mut AddressSpace<K>) {}
}

/// Nothing besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Plain {
    /// The only one.
    pub const fn new() -> Plain {
        Plain
    }
}

impl Services for Plain {
    type Part = ();

    fn part(&self) {}

    fn program(&self) -> &'static [u8] {
        static PROGRAM: &[u8] = include_bytes!(env!("USER"));
        PROGRAM
    }
}
