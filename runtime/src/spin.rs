//! A lock for sections of a few instructions, on any platform. Whatever may take longer must not be done under it:
//! who waits here burns its processor.
//!
//! # Why this is sound
//! `value` is reached only through a [`Guard`], and `held` makes sure that there is at most one: taking it is an
//! acquire that reads the release of the guard before it.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that one thread at a time may touch, briefly.
pub struct Spin<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock hands the value from thread to thread, never shares it.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    /// A free lock.
    pub const fn new(value: T) -> Spin<T> {
        Spin { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until nobody else has the value.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        while self.held.swap(true, Ordering::Acquire) {
            while self.held.load(Ordering::Relaxed) {
                core::hint::spin_loop();
            }
        }
        Guard { lock: self }
    }

    /// The value, when nobody else can know the lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// The right to touch the value; gives it up when dropped.
pub struct Guard<'a, T> {
    lock: &'a Spin<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: there is no other guard.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: there is no other guard.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.held.store(false, Ordering::Release);
    }
}
