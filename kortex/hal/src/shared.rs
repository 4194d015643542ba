//! Interior-mutable kernel singletons.

use core::cell::UnsafeCell;

/// A static that gives a pointer to its value. Code that uses the pointer says why nothing else uses it meanwhile.
#[derive(Debug)]
pub struct Shared<T>(UnsafeCell<T>);

// SAFETY: the value is accessed only by the pointer.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A static with this value.
    pub const fn new(value: T) -> Shared<T> {
        Shared(UnsafeCell::new(value))
    }

    /// A pointer to the value.
    #[inline]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}
