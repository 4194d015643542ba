//! A domain: an address space, a table of the calls that its code can make, and the entry at which it is called.

use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use core::ptr::null;

use kortex_hal::mmu::AddressSpace;

/// The first of the users' addresses. Lower ones are the kernel's, in each address space.
pub const USERS: usize = 1 << 39;
/// The end of the users' addresses. The last page before the hole of non-canonical addresses stays unused.
pub const USERS_END: usize = (1 << 47) - 4096;

/// Calls of a domain. The first is the kernel's own: it ends an upcall.
pub const CALLS: usize = 40;

/// Further calls, in which the thread may have to wait.
pub const WAITS: usize = 8;

/// A method of a component (`this`), with four words as arguments. A gate or an array calls it with the `this` that it
/// was bound with, in the kernel, on the kernel stack of the thread that makes the call.
pub type Method = unsafe extern "C" fn(this: *const (), a: u64, b: u64, c: u64, d: u64) -> i64;

/// An entry of a domain's table: a method and its component.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The component.
    pub this: *const (),
}

/// The answer of a call that is not bound, or not any more.
pub const REFUSED: i64 = i64::MIN;

/// In a domain's condition: an upcall into it is running.
pub(crate) const BUSY: u64 = 1;
/// In a domain's condition: it has died, and is called no more.
const DEAD: u64 = 2;
/// In a domain's condition: it has set no entry, so it can't be called.
const CLOSED: u64 = 4;

/// A domain, with its table of calls.
#[repr(C)]
#[derive(Debug)]
pub struct Domain {
    pub(crate) root: Cell<u64>,
    pub(crate) entry: Cell<u64>,
    pub(crate) stack: Cell<u64>,
    pub(crate) condition: Cell<u64>,
    pub(crate) signal_entry: Cell<u64>,
    pub(crate) signal_stack: Cell<u64>,
    calls: UnsafeCell<[Call; CALLS]>,
    waits: UnsafeCell<[Call; WAITS]>,
}

// SAFETY: see the head of the crate.
unsafe impl Sync for Domain {}

pub(crate) const ROOT: usize = offset_of!(Domain, root);
pub(crate) const ENTRY: usize = offset_of!(Domain, entry);
pub(crate) const STACK: usize = offset_of!(Domain, stack);
pub(crate) const CONDITION: usize = offset_of!(Domain, condition);
pub(crate) const CALLS_AT: usize = offset_of!(Domain, calls);

unsafe extern "C" {
    /// The first call of each domain: ends an upcall.
    fn kortex_return(this: *const (), answer: u64, b: u64, c: u64, d: u64) -> i64;
}

/// # Safety
/// None: it uses no argument. The type is that of a [`Method`].
unsafe extern "C" fn refuse(_: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    REFUSED
}

const NOTHING: Call = Call { method: refuse, this: null() };

impl Domain {
    /// A domain without an address space, and with nothing bound.
    pub const fn new() -> Domain {
        let mut calls = [NOTHING; CALLS];
        calls[0] = Call { method: kortex_return, this: null() };
        Domain {
            root: Cell::new(0),
            entry: Cell::new(0),
            stack: Cell::new(0),
            condition: Cell::new(CLOSED),
            signal_entry: Cell::new(0),
            signal_stack: Cell::new(0),
            calls: UnsafeCell::new(calls),
            waits: UnsafeCell::new([NOTHING; WAITS]),
        }
    }

    /// Sets its address space.
    ///
    /// # Safety
    /// The kernel is mapped in it as in all others.
    pub unsafe fn set_space(&self, space: &AddressSpace) {
        self.root.set(space.root() as u64);
    }

    /// Sets the entry and the stack for upcalls.
    pub fn set_entry(&self, entry: usize, stack: usize) {
        self.entry.set(entry as u64);
        self.stack.set(stack as u64 & !15);
        self.condition.set(self.condition.get() & !CLOSED);
    }

    /// Sets the entry and the stack of its signal handler.
    pub fn set_signals(&self, entry: usize, stack: usize) {
        self.signal_entry.set(entry as u64);
        self.signal_stack.set(stack as u64 & !15);
    }

    /// Binds one of its calls to a method.
    ///
    /// # Safety
    /// The method may be called with that component and any arguments.
    pub unsafe fn bind(&self, number: usize, call: Call) {
        assert!((1..CALLS).contains(&number), "a domain has numbers from 1 to {}", CALLS - 1);
        // SAFETY: no call is made meanwhile.
        unsafe { (*self.calls.get())[number] = call };
    }

    /// Unbinds one of its calls.
    pub fn unbind(&self, number: usize) {
        // SAFETY: `NOTHING` accepts any arguments, and refuses the call.
        unsafe { self.bind(number, NOTHING) };
    }

    /// Binds one of its waiting calls to a method, which may switch threads.
    ///
    /// # Safety
    /// As for [`bind`](Domain::bind).
    pub unsafe fn bind_wait(&self, number: usize, call: Call) {
        // SAFETY: no call is made meanwhile.
        unsafe { (*self.waits.get())[number] = call };
    }

    /// What a waiting call is bound to.
    pub(crate) fn wait(&self, number: u64) -> Call {
        // SAFETY: nothing is bound meanwhile.
        let waits = unsafe { &*self.waits.get() };
        *waits.get(number as usize).unwrap_or(&NOTHING)
    }

    /// Makes a call of this domain, as the [gate](crate::gate) does.
    ///
    /// # Safety
    /// Called on a thread's kernel stack. The number is not one that ends a thread or an upcall.
    pub unsafe fn call(&self, number: usize, [a, b, c, d]: [u64; 4]) -> i64 {
        // SAFETY: nothing is bound meanwhile, and methods accept any arguments.
        unsafe {
            match (*self.calls.get()).get(number) {
                Some(&Call { method, this }) => method(this, a, b, c, d),
                None => REFUSED,
            }
        }
    }

    /// Where a call's entry is.
    pub(crate) fn place(&self, number: usize) -> *const Call {
        assert!(number < CALLS, "a domain has numbers to {}", CALLS - 1);
        // SAFETY: the place lies in the table; nothing is read.
        unsafe { (&raw const (*self.calls.get())[number]).cast() }
    }

    /// Whether an upcall into it is running.
    pub fn is_busy(&self) -> bool {
        self.condition.get() & BUSY != 0
    }

    /// Whether it has [died](Domain::die).
    pub fn is_dead(&self) -> bool {
        self.condition.get() & DEAD != 0
    }

    /// Kills the domain: it isn't called any more, and all its calls are unbound. A thread of it that is elsewhere now
    /// ends when it comes back to the domain's code.
    pub fn die(&self) {
        self.condition.set(self.condition.get() | DEAD);
        (1..CALLS).for_each(|number| self.unbind(number));
        // SAFETY: `NOTHING` accepts any arguments, and refuses the call.
        unsafe { (0..WAITS).for_each(|number| self.bind_wait(number, NOTHING)) };
    }
}

impl Default for Domain {
    fn default() -> Domain {
        Domain::new()
    }
}
