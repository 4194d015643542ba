//! What the kernel has once, and changes.

use core::cell::UnsafeCell;

/// A place for it, of which a pointer is had: whoever uses that says why nobody else does meanwhile.
#[derive(Debug)]
pub struct Shared<T>(UnsafeCell<T>);

// SAFETY: nothing is done with what is in it but by the pointer.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// One with that in it.
    pub const fn new(value: T) -> Shared<T> {
        Shared(UnsafeCell::new(value))
    }

    /// Where it is.
    #[inline]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}
