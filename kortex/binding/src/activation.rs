//! A thread's position among domains, and the switch between threads of different domains.

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

/// A thread's local part: its position among domains, and its signal handler's context.
#[repr(C)]
#[derive(Debug)]
pub struct Activation {
    pub(crate) state: UnsafeCell<State>,
    /// The context of its signal handler.
    pub(crate) signals: UnsafeCell<Context>,
    /// The domain whose signal handler runs, or null. While a handler runs, the current context isn't the thread's
    /// first one.
    pub(crate) told: Cell<*const Domain>,
    /// Its kernel stack holds work that must still be done.
    held: Cell<bool>,
}

pub(crate) const TOLD: usize = offset_of!(Activation, told);
const _: () = assert!(offset_of!(Activation, state) == 0, "where its state is it begins");

/// Called when an upcall returns. If the domain returns from its signal handler, the handler counts as finished, and
/// the interrupted code isn't resumed.
///
/// # Safety
/// Called on the kernel stack of the running thread, during its call. `activation` is that thread's.
pub(crate) unsafe extern "C" fn left(activation: &Activation) {
    let told = &activation.told;
    if eq(told.get(), gate::domain()) {
        told.set(null());
        // SAFETY: the caller promises that `activation` is the running thread's; contexts stay as long as the thread.
        unsafe { Processor.set_current(Thread::of(activation).first()) };
    }
}

unsafe extern "C" {
    /// Where a thread returns to when it has ended (`upcall`).
    fn kortex_ended();
}

/// Stands in for the caller of a thread's first domain, which has none. Only its condition is ever accessed.
static NOBODY: Shared<[u64; CONDITION / 8 + 1]> = Shared::new([0; CONDITION / 8 + 1]);

/// Writes the frame of an upcall onto a new thread's kernel stack. Returns the stack pointer for the kernel's calls.
///
/// # Safety
/// The stack is memory that nothing else uses.
unsafe fn bottom(domain: &'static Domain, stack: *mut u8) -> u64 {
    let frame: [u64; 11] = [
        NOBODY.get() as u64,
        // The saved time, domain and stack pointer, which are never used.
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
    // SAFETY: the caller promises that the stack is memory that nothing else uses; the frame lies within it.
    unsafe { (at as *mut [u64; 11]).write(frame) };
    at as u64
}

/// Activates an address space.
///
/// # Safety
/// The kernel is mapped in it.
#[inline]
unsafe fn switch(root: u64) {
    // SAFETY: the caller promises that the address space maps the kernel.
    unsafe { asm!("mov cr3, {}", in(reg) root, options(nostack, preserves_flags)) };
}

impl Activation {
    /// The activation of a thread of a domain, with a kernel stack. When the domain's code ends the thread ends, and
    /// [`on_end`] says what happens then.
    ///
    /// [`on_end`]: crate::upcall::on_end
    ///
    /// # Safety
    /// The stack is memory that nothing else uses as long as the thread exists.
    pub unsafe fn new(domain: &'static Domain, stack: *mut u8) -> Activation {
        // SAFETY: the caller promises that the stack is memory that nothing else uses.
        let kernel_stack = unsafe { bottom(domain, stack) };
        Activation {
            state: UnsafeCell::new(State { kernel_stack, domain, time: u64::MAX }),
            signals: UnsafeCell::new(Context::new(0, 0, true, INTERRUPTIBLE | 2)),
            told: Cell::new(null()),
            held: Cell::new(false),
        }
    }

    /// The running thread's activation.
    #[inline]
    pub fn running() -> &'static Activation {
        // SAFETY: an activation begins with its state, and stays as long as its thread.
        unsafe { &*(*GATE.get()).state.cast() }
    }

    /// Says whether its kernel stack holds work that must still be done. As long as it does, no call of the thread
    /// [leaves](crate::signal::leave) that stack.
    pub fn hold(&self, is_held: bool) {
        self.held.set(is_held);
    }

    /// Whether its kernel stack holds work that must still be done.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.held.get()
    }

    /// Makes this the running thread's activation.
    ///
    /// # Safety
    /// Called once, by the kernel's first code. The domain has the kernel's own address space.
    pub unsafe fn begin(&self) {
        // SAFETY: the caller promises that this is called once, by the kernel's first code, and that the domain has the
        // kernel's address space.
        unsafe {
            (*GATE.get()).state = self.state.get();
            switch((*(*self.state.get()).domain).root.get());
        }
    }
}

/// The switch between threads of any domains.
#[derive(Debug)]
pub struct Domains<T> {
    trap: T,
}

impl<T> Domains<T> {
    /// The switch. `trap` handles the exception of waiting calls.
    pub const fn new(trap: T) -> Domains<T> {
        Domains { trap }
    }
}

impl<T: Deref<Target: Trap>> Domains<T> {
    /// Enables users' calls.
    ///
    /// # Safety
    /// As for [`gate::open`].
    pub unsafe fn begin(&self) {
        // SAFETY: the caller promises that this is called once, by the kernel's first code, after exceptions are set
        // up.
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
