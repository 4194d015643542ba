//! What services and their handlers share, where these run elsewhere (language reference, section 9; paper 003).
//!
//! # Why this is sound
//! A [`Kept`] is part of a live instance, as its template says. What it is moved to stays there for good.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::string::String;
use core::hint::spin_loop;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use drystone_component::Offered;

use super::slot_at;
use crate::layout::{Instance, Kept};

/// Keeps the handlers away from what they share with the instance: they leave what arrives to its processes.
///
/// # Safety
/// The instance lives, and the process has its lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_keep(kept: *mut Kept) {
    if (*kept).holders.fetch_add(1, Relaxed) > 0 {
        return;
    }
    let lock = lock(kept);
    // A handler has it for less than a microsecond.
    while (*lock).compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        spin_loop();
    }
}

/// Gives it back to them.
///
/// # Safety
/// As for [`ds_keep`], which was called before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_give_back(kept: *mut Kept) {
    if (*kept).holders.fetch_sub(1, AcqRel) == 1 {
        (*lock(kept)).store(0, Release);
    }
}

unsafe fn lock(kept: *mut Kept) -> *const AtomicU64 {
    (&raw const (*kept).lock).byte_offset((*kept).displacement.load(Relaxed))
}

/// An exported service that can also run where its requests arrive.
pub struct Handled {
    kept: *mut Kept,
    code: &'static [u8],
    words: usize,
}

impl Handled {
    /// None if its implementation isn't marked `{HANDLER}`.
    ///
    /// # Safety
    /// The instance lives, and offers this.
    pub(crate) unsafe fn of(instance: *mut Instance, offered: &'static Offered) -> Option<Handled> {
        let code = offered.handler.get();
        let kept = slot_at::<Kept>(instance, offered.kept);
        (!code.is_empty()).then_some(Handled { kept, code, words: offered.kept_words as usize })
    }

    /// Its instructions, as `extension::composite` makes them of a responder.
    pub fn code(&self) -> &'static [u8] {
        self.code
    }

    /// How many words it shares with its handler.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Moves what the instance shares with its handlers to where one of them has it, before that runs.
    ///
    /// # Errors
    /// One of them has it already.
    ///
    /// # Safety
    /// It is called before anything else of the program runs. There are so many words, which stay for good; whoever else writes there does
    /// so under the lock.
    pub unsafe fn move_to(self, place: NonNull<AtomicU64>) -> Result<(), String> {
        let kept = self.kept;
        if (*kept).displacement.load(Relaxed) != 0 {
            return Err("what it keeps is at another handler already".into());
        }
        let here = &raw const (*kept).lock;
        for word in 0..self.words {
            (*place.add(word).as_ptr()).store((*here.add(word)).load(Relaxed), Relaxed);
        }
        let distance = place.as_ptr().expose_provenance() as isize - here.expose_provenance() as isize;
        (*kept).displacement.store(distance, Relaxed);
        Ok(())
    }
}
