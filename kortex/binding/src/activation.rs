//! Where a thread is in domains, and that threads are switched between them.

use core::arch::asm;
use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use core::ops::Deref;
use core::ptr::{eq, null};

use kortex_hal::Shared;
use kortex_hal::exception::{Context, INTERRUPTIBLE, Processor, Trap};
use kortex_thread::{Switch, Thread};

use crate::domain::{CONDITION, Domain};
use crate::gate::{self, GATE, State};
use crate::memory;

/// What belongs to a thread that runs in domains: where it is in them.
#[repr(C)]
#[derive(Debug)]
pub struct Activation {
    pub(crate) state: UnsafeCell<State>,
    /// What it does when it is told what has happened.
    pub(crate) signals: UnsafeCell<Context>,
    /// In which domain it was when it was told, for as long as it does that. Only then it is in another context than it
    /// began with.
    pub(crate) told: Cell<*const Domain>,
    /// On its kernel stack is something that has to be done yet.
    held: Cell<bool>,
}

pub(crate) const TOLD: usize = offset_of!(Activation, told);
const _: () = assert!(offset_of!(Activation, state) == 0, "where its state is it begins");

/// A domain that has been called gives its answer. If that is what it does about what it was told, it was told for
/// nothing: that is over.
///
/// # Safety
/// On a thread's kernel stack, in a call, of the thread that runs, whose activation it is.
pub(crate) unsafe extern "C" fn left(activation: &Activation) {
    let told = &activation.told;
    if eq(told.get(), gate::domain()) {
        told.set(null());
        // SAFETY: as the caller promises; contexts stay as long as the thread.
        unsafe { Processor.set_current(Thread::of(activation).first()) };
    }
}

unsafe extern "C" {
    /// A thread goes there when it has ended (`upcall`).
    fn kortex_ended();
}

/// What stands for who is called at the bottom: nobody is, so its condition is all that there is.
static NOBODY: Shared<[u64; CONDITION / 8 + 1]> = Shared::new([0; CONDITION / 8 + 1]);

/// Lays what an upcall would have left onto a new thread's kernel stack; where the kernel's calls begin then.
///
/// # Safety
/// The stack is memory that nobody else uses.
unsafe fn bottom(domain: &'static Domain, stack: *mut u8) -> u64 {
    let frame: [u64; 11] = [
        NOBODY.get() as u64,
        // Its time, its domain, where the kernel's calls begin: never used.
        u64::MAX,
        domain as *const Domain as u64,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        kortex_ended as *const () as u64,
    ];
    let top = (stack as usize & !15) - 16;
    let at = top - size_of_val(&frame);
    // SAFETY: as the caller promises.
    unsafe { (at as *mut [u64; 11]).write(frame) };
    at as u64
}

/// Makes an address space the active one.
///
/// # Safety
/// The kernel is in it.
#[inline]
unsafe fn switch(root: u64) {
    // SAFETY: as the caller promises.
    unsafe { asm!("mov cr3, {}", in(reg) root, options(nostack, preserves_flags)) };
}

impl Activation {
    /// That of a thread of a domain, with a stack for the kernel. It ends when its domain's code does, as [`on_end`]
    /// says.
    ///
    /// [`on_end`]: crate::upcall::on_end
    ///
    /// # Safety
    /// The stack is memory that nobody else uses for as long as the thread is there.
    pub unsafe fn new(domain: &'static Domain, stack: *mut u8) -> Activation {
        // SAFETY: as the caller promises.
        let kernel_stack = unsafe { bottom(domain, stack) };
        Activation {
            state: UnsafeCell::new(State { kernel_stack, domain, time: u64::MAX }),
            signals: UnsafeCell::new(Context::new(0, 0, true, INTERRUPTIBLE | 2)),
            told: Cell::new(null()),
            held: Cell::new(false),
        }
    }

    /// That of the thread that runs.
    #[inline]
    pub fn running() -> &'static Activation {
        // SAFETY: it begins with its state, and stays as long as its thread.
        unsafe { &*(*GATE.get()).state.cast() }
    }

    /// From now on something on its kernel stack has to be done yet, or nothing: no call of its
    /// [leaves](crate::signal::leave) it meanwhile.
    pub fn hold(&self, is_held: bool) {
        self.held.set(is_held);
    }

    /// Whether that is so.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.held.get()
    }

    /// The thread that runs now is this one's.
    ///
    /// # Safety
    /// Called once, by the kernel's first code; the domain is one with the kernel's own address space.
    pub unsafe fn begin(&self) {
        // SAFETY: as the caller promises.
        unsafe {
            (*GATE.get()).state = self.state.get();
            switch((*(*self.state.get()).domain).root.get());
        }
    }
}

/// All domains, as what threads are switched between.
#[derive(Debug)]
pub struct Domains<T> {
    trap: T,
}

impl<T> Domains<T> {
    /// They need to know what is interrupted.
    pub const fn new(trap: T) -> Domains<T> {
        Domains { trap }
    }
}

impl<T: Deref<Target: Trap>> Domains<T> {
    /// Lets users call.
    ///
    /// # Safety
    /// As for [`gate::open`].
    pub unsafe fn begin(&self) {
        // SAFETY: as the caller promises.
        unsafe { gate::open(&*self.trap) };
        memory::begin();
    }
}

impl<T> Switch for Domains<T> {
    type Local = Activation;

    #[inline]
    unsafe fn switch(&self, last: &Activation, next: &Activation) {
        let state = next.state.get();
        // SAFETY: in a handler; the kernel is in each address space.
        unsafe {
            let (old, new) = ((*last.state.get()).domain, (*state).domain);
            (*GATE.get()).state = state;
            if old != new {
                switch((*new).root.get());
            }
        }
    }
}
