//! What has happened to a user is told to it: its handler runs in its domain on a stack of its own, and what was
//! interrupted goes on when it says so.

use core::arch::asm;
use core::ptr::{eq, null};

use kortex_hal::exception::{Context, Register, Trap};
use kortex_thread::Thread;

use crate::activation::Activation;
use crate::gate::domain;

/// Tells the thread that was interrupted: its handler is called with the vector, the address and where that was.
/// `false`: it has no handler, or is within one, whoever's that is.
///
/// # Safety
/// In a handler, of an exception of a user's code; the context is that of the thread, which runs.
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
    // SAFETY: nobody else uses it. It was made for a user's code, and only that has run in it.
    let handler = unsafe { &mut *signals.get() };
    (handler.rip, handler.rsp) = (entry, domain.signal_stack.get());
    *handler.register(Register::Rdi) = context.vector() as u64;
    *handler.register(Register::Rsi) = address;
    *handler.register(Register::Rdx) = context.rip;
    told.set(domain);
    // SAFETY: it stays as long as the thread.
    unsafe { trap.set_current(handler) };
    true
}

/// The handler has done what it wanted: what was interrupted goes on, where it says (0: where it was). `false`: there
/// is no handler that runs, or who says so is another domain, which the handler has called: what was interrupted would
/// go on there.
///
/// # Safety
/// In a call of the thread, which runs.
pub unsafe fn go_on(trap: &(impl Trap + ?Sized), thread: &Thread<Activation>, at: u64) -> bool {
    let Activation { signals, told, .. } = &thread.local;
    if !eq(told.get(), domain()) || !eq(trap.current(), signals.get()) {
        return false;
    }
    told.set(null());
    let interrupted = thread.first();
    // SAFETY: it is a context of the thread, of a user's code, and stays one wherever it goes on.
    unsafe {
        if at != 0 {
            (*interrupted).rip = at;
        }
        trap.set_current(interrupted);
    }
    true
}

/// Ends a system call otherwise than by returning: the current context goes on, which isn't that of who called any
/// more.
///
/// # Safety
/// On a thread's kernel stack, on which there is nothing that must be done yet, after [`go_on`].
pub unsafe fn leave() -> ! {
    // SAFETY: as the caller promises; interrupts are off.
    unsafe { asm!("jmp kortex_resume", options(noreturn)) }
}
