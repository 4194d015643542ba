//! Words that a service shares with its handler, which runs where messages arrive (language reference, section 9;
//! *ASHs*): a lock and variables.
//!
//! # Why this is sound
//! A [`Kept`] is part of a live instance, as its template says. What it is moved to is there for good. Handlers change
//! it too, word by word, so all references to it are to atomic numbers.

use alloc::string::String;
use core::hint::spin_loop;
use core::marker::PhantomData;
use core::slice;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use drystone_component::Offered;

use super::slot_at;
use crate::layout::{Instance, Kept};

/// Keeps the handlers away from what they share with the instance: they leave what arrives to its processes.
///
/// # Safety
/// `kept` is that of a live instance, whose lock the process has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_keep(kept: *mut Kept) {
    // SAFETY: `kept` is that of a live instance, whose lock the process has.
    unsafe {
        if (*kept).holders.fetch_add(1, Relaxed) > 0 {
            return;
        }
        let lock = lock(kept);
        // A handler has it for less than a microsecond.
        while (*lock).compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
            spin_loop();
        }
    }
}

/// Lets the handlers use it again.
///
/// # Safety
/// As for [`ds_keep`], which was called before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_give_back(kept: *mut Kept) {
    // SAFETY: as for `ds_keep`, which was called before.
    unsafe {
        if (*kept).holders.fetch_sub(1, AcqRel) == 1 {
            (*lock(kept)).store(0, Release);
        }
    }
}

/// The lock, where it is now.
///
/// # Safety
/// `kept` is that of a live instance.
unsafe fn lock(kept: *mut Kept) -> *const AtomicU64 {
    // SAFETY: so far away are the words that are used, the first of which is the lock.
    unsafe { (&raw const (*kept).lock).byte_offset((*kept).displacement.load(Relaxed)) }
}

/// A service that is being exported, and whose requests a handler can also answer where they arrive.
pub struct Handled<'a> {
    kept: *mut Kept,
    code: &'static [u8],
    words: usize,
    /// As long as this is there, nothing else of the program runs.
    exporting: PhantomData<&'a mut Kept>,
}

impl Handled<'_> {
    /// None if its implementation isn't marked `{HANDLER}`.
    ///
    /// # Safety
    /// `instance` is live as long as this is there, and offers this.
    pub(crate) unsafe fn of(instance: *mut Instance, offered: &'static Offered) -> Option<Self> {
        let (code, words) = (offered.handler.get(), offered.kept_words as usize);
        // SAFETY: the template says where that is.
        let kept = unsafe { slot_at::<Kept>(instance, offered.kept) };
        (!code.is_empty()).then_some(Handled { kept, code, words, exporting: PhantomData })
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
    /// # Panics
    /// There are fewer words there.
    pub fn move_to(self, place: &'static [AtomicU64]) -> Result<(), String> {
        assert!(place.len() >= self.words, "{} words", place.len());
        // SAFETY: the instance is live.
        let displacement = unsafe { &(*self.kept).displacement };
        if displacement.load(Relaxed) != 0 {
            return Err("what it keeps is with another handler already".into());
        }
        // SAFETY: as many words as it says begin there.
        let here = unsafe { slice::from_raw_parts(&raw const (*self.kept).lock, self.words) };
        for (from, to) in here.iter().zip(place) {
            to.store(from.load(Relaxed), Relaxed);
        }
        let address = |words: &[AtomicU64]| words.as_ptr().expose_provenance() as isize;
        displacement.store(address(place) - address(here), Relaxed);
        Ok(())
    }
}
