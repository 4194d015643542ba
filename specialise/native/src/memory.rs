//! The memory of loaded code. All unsafe code for running it is here.

use cranelift_jit::JITModule;
use std::fmt;
use std::mem::ManuallyDrop;

/// Code and data that Cranelift has put into executable memory; freed when this value is dropped.
pub(crate) struct Loaded(ManuallyDrop<JITModule>);

impl Loaded {
    /// Takes over the memory of a module.
    pub fn new(module: JITModule) -> Loaded {
        Loaded(ManuallyDrop::new(module))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the value is taken only here, when `self` is dropped, and not used again.
        let module = unsafe { ManuallyDrop::take(&mut self.0) };
        // SAFETY: nothing executes or reads the memory from now on: a `Native` gives out raw pointers only, and its
        // documentation forbids their use after it is dropped.
        unsafe { module.free_memory() };
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("machine code")
    }
}
