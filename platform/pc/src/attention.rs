//! Calls the runtime's attention when input has arrived, however busy the program is.
//!
//! # Soundness
//!
//! The static is replaced with interrupts off, and called by handlers.

use drystone_runtime::platform::Attention;
use kortex_hal::Shared;
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;

static ATTENTION: Shared<Option<Attention>> = Shared::new(None);

/// Sets what is called.
pub(crate) fn set(attention: Attention) {
    // SAFETY: see the head of this file.
    let old = without_interrupts(|| unsafe { (*ATTENTION.get()).replace(attention) });
    drop(old);
}

/// Input has arrived. Interrupts are off.
pub(crate) fn call() {
    // SAFETY: see the head of this file.
    if let Some(attention) = unsafe { &*ATTENTION.get() } {
        attention();
    }
}
