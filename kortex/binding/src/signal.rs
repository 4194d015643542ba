//! What has happened to a user is told to it: its handler runs in its domain on a stack of its own, and what was interrupted goes on when it
//! says so.

use core::ptr::{eq, null_mut};

use kortex_hal::exception::{Context, Register, Trap};

use crate::domain::Activation;
use crate::gate::domain;

/// Tells the thread that was interrupted: its handler is called with the vector, the address and where that was. `false`: it has no
/// handler, or is within it.
///
/// # Safety
/// In a handler, of an exception of a user's code; the activation and the context are those of the thread that runs.
#[inline]
pub unsafe fn tell(
    trap: &(impl Trap + ?Sized),
    activation: &Activation,
    context: &mut Context,
    address: u64,
) -> bool {
    let entry = domain().signal_entry.get();
    if entry == 0 || !activation.interrupted.get().is_null() {
        return false;
    }
    // SAFETY: nobody else uses it. It was made for a user's code, and only that has run in it.
    let handler = unsafe { &mut *activation.signals.get() };
    (handler.rip, handler.rsp) = (entry, domain().signal_stack.get());
    *handler.register(Register::Rdi) = context.vector() as u64;
    *handler.register(Register::Rsi) = address;
    *handler.register(Register::Rdx) = context.rip;
    activation.interrupted.set(context);
    // SAFETY: it stays as long as the thread.
    unsafe { trap.set_current(handler) };
    true
}

/// The handler has done what it wanted: what was interrupted goes on, where it says (0: where it was). `false`: there is no handler that runs.
///
/// # Safety
/// In a plain call of the thread that runs, whose activation that is.
pub unsafe fn go_on(trap: &(impl Trap + ?Sized), activation: &Activation, at: u64) -> bool {
    let interrupted = activation.interrupted.replace(null_mut());
    if interrupted.is_null() || !eq(trap.current(), activation.signals.get()) {
        activation.interrupted.set(interrupted);
        return false;
    }
    // SAFETY: it is the context of the thread, which is a user's, and stays one wherever it goes on.
    unsafe {
        if at != 0 {
            (*interrupted).rip = at;
        }
        trap.set_current(interrupted);
    }
    true
}
