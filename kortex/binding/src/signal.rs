//! Signals: a domain handles its own exceptions. Its handler runs in the domain on a stack of its own, and decides when
//! the interrupted code is resumed.

use core::arch::asm;
use core::ptr::{eq, null};

use kortex_hal::exception::{Context, Register, Trap};
use kortex_thread::Thread;

use crate::activation::Activation;
use crate::gate::domain;

/// Delivers an exception to the interrupted thread: its domain's handler is called with the vector, the address, and
/// the instruction pointer. `false`: the domain has no handler, or the thread is already within some domain's handler.
///
/// # Safety
/// Called in the handler of an exception in user code. `context` is the running thread's.
#[inline]
pub unsafe fn tell(
    trap: &(impl Trap + ?Sized),
    thread: &Thread<Activation>,
    context: &mut Context,
    address: u64,
) -> bool {
    let Activation { signals, told, .. } = &thread.local;
    let domain = domain();
    let entry = domain.signal_entry.get();
    if entry == 0 || !told.get().is_null() {
        return false;
    }
    // SAFETY: nothing else uses it. It was made for user code, and only user code has run in it.
    let handler = unsafe { &mut *signals.get() };
    (handler.rip, handler.rsp) = (entry, domain.signal_stack.get());
    *handler.register(Register::Rdi) = context.vector() as u64;
    *handler.register(Register::Rsi) = address;
    *handler.register(Register::Rdx) = context.rip;
    told.set(domain);
    // SAFETY: the handler's context stays as long as the thread.
    unsafe { trap.set_current(handler) };
    true
}

/// Returns from the signal handler: the interrupted code is resumed, at `at` unless that is 0. `false`: no handler
/// runs, or the caller is another domain that the handler has called, where the interrupted code must not be resumed.
///
/// # Safety
/// Called in a system call of the running thread.
pub unsafe fn go_on(trap: &(impl Trap + ?Sized), thread: &Thread<Activation>, at: u64) -> bool {
    let Activation { signals, told, .. } = &thread.local;
    if !eq(told.get(), domain()) || !eq(trap.current(), signals.get()) {
        return false;
    }
    told.set(null());
    let interrupted = thread.first();
    // SAFETY: `interrupted` is a context of the thread, of a user's code, and stays one wherever it goes on.
    unsafe {
        if at != 0 {
            (*interrupted).rip = at;
        }
        trap.set_current(interrupted);
    }
    true
}

/// Ends a system call without returning to its caller: the current context is resumed, which is no longer the caller's.
///
/// # Safety
/// Called on a thread's kernel stack, after [`go_on`]. The stack holds no work that must still be done.
pub unsafe fn leave() -> ! {
    // SAFETY: the caller promises that the kernel stack holds no work to be done; interrupts are off.
    unsafe { asm!("jmp kortex_resume", options(noreturn)) }
}
