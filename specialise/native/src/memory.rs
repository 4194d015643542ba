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
        // SAFETY: the value is taken out once, here, and never looked at again: this is its drop.
        let module = unsafe { ManuallyDrop::take(&mut self.0) };
        // SAFETY: the memory must not be executed or read from now on. Safe code can't do either: all that it gets
        // out of a `Native` are raw pointers, and it takes `unsafe` to call or to read through one; whoever does so
        // has to see to it that the `Native` lives (its documentation says so).
        unsafe { module.free_memory() };
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("machine code")
    }
}
