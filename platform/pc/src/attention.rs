//! Whom to tell that something has come, however busy the program is.
//!
//! # Soundness
//!
//! It is replaced with interrupts off; who calls it is a handler.

use drystone_runtime::platform::Attention;
use kortex_hal::Shared;
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;

static ATTENTION: Shared<Option<Attention>> = Shared::new(None);

/// From now on this is called.
pub(crate) fn set(attention: Attention) {
    // SAFETY: see the head of this file.
    let old = without_interrupts(|| unsafe { (*ATTENTION.get()).replace(attention) });
    drop(old);
}

/// Something has come. Interrupts are off.
pub(crate) fn call() {
    // SAFETY: see the head of this file.
    if let Some(attention) = unsafe { &*ATTENTION.get() } {
        attention();
    }
}
