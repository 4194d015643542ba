//! What a module of this crate needs of the kernel: that each process has the module's own part.

use microkernel::{Owner, Process, Services};

/// A kernel whose processes have a `T` among the parts of its services.
pub trait Host<T>: Owner<Services: Services<Part: AsRef<T>>> {}

impl<T, K: Owner<Services: Services<Part: AsRef<T>>>> Host<T> for K {}

/// The `T` of a process.
pub fn part<T, K: Host<T>>(process: &Process<K>) -> &T {
    process.part.as_ref()
}
