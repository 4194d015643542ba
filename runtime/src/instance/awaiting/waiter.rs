//! A process that awaits a condition.
//!
//! # Why this is sound
//! [`Waiter::new`] is only called for live processes that await something. Their blocks have a word for that, which
//! only its waiter touches: the condition's address at first, then whatever was noted there instead.

use core::ptr::NonNull;

use drystone_component::Condition;

use crate::instance::body_of;
use crate::layout::{AWAITS_SHARED, Process, Worker};

/// `Condition::test`: [`FALSE`], [`TRUE`], or something else: it has failed.
type Test = unsafe extern "C" fn(*mut Worker, *mut Process) -> u32;

/// A condition is false.
pub const FALSE: u32 = 0;
/// A condition holds.
pub const TRUE: u32 = 1;
/// Only the process itself can test its condition.
pub const LONG: u32 = 3;

/// A live process whose body awaits conditions. It doesn't say in which queue the process stands, nor in which state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Waiter(NonNull<Process>);

impl Waiter {
    /// # Safety
    /// `p` is live, also whenever the waiter is used, and its body awaits conditions.
    #[inline]
    pub unsafe fn new(p: *mut Process) -> Waiter {
        // SAFETY: a live process has a block.
        Waiter(unsafe { NonNull::new_unchecked(p) })
    }

    /// The process.
    #[inline]
    pub fn process(self) -> *mut Process {
        self.0.as_ptr()
    }

    /// Whether it shares the lock when its condition holds.
    #[inline]
    pub fn shares(self) -> bool {
        // SAFETY: the waiting process is live.
        unsafe { (*self.process()).status == AWAITS_SHARED }
    }

    /// The word of its block for what it awaits.
    #[inline]
    fn word(self) -> *mut u64 {
        // SAFETY: the process's body says where that lies.
        unsafe { self.process().cast::<u8>().add(body_of(self.process()).condition as usize).cast() }
    }

    /// What was noted.
    #[inline]
    pub fn noted(self) -> u64 {
        // SAFETY: this word is the process's own.
        unsafe { *self.word() }
    }

    /// Notes a word in the condition's place.
    #[inline]
    pub fn note(self, word: u64) {
        // SAFETY: this word is the process's own.
        unsafe { *self.word() = word };
    }

    /// The condition.
    ///
    /// # Safety
    /// The process has written it, and nothing was noted since.
    #[inline]
    pub unsafe fn condition(self) -> &'static Condition {
        // SAFETY: the process has written it, and nothing was noted since.
        unsafe { *self.word().cast() }
    }

    /// Tests a condition for the process.
    ///
    /// # Safety
    /// `w` is the home worker; the process awaits `condition`, and nobody has a reference to its component's
    /// [`Awaiting`](super::Awaiting), which a condition tells what it reads.
    #[inline]
    pub unsafe fn test(self, w: *mut Worker, condition: &Condition) -> u32 {
        if condition.test.is_null() {
            return LONG;
        }
        // SAFETY: the compiler made a function of this type for processes with this condition.
        unsafe { core::mem::transmute::<*const u8, Test>(condition.test)(w, self.process()) }
    }
}
