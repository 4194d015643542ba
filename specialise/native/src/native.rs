//! A loaded module: finds functions and variables by name.

use crate::memory::Loaded;
use std::collections::HashMap;

/// A module as machine code. Dropping it frees its code and variables: addresses got from it must not be used after
/// that.
#[derive(Debug)]
pub struct Native {
    pub(crate) functions: HashMap<String, *const u8>,
    pub(crate) globals: HashMap<String, *const u8>,
    /// Holds the memory that the addresses lie in.
    pub(crate) _loaded: Loaded,
}

impl Native {
    /// The address of a function that the module defines. It follows the C calling convention (System V).
    pub fn function(&self, name: &str) -> Option<*const u8> {
        self.functions.get(name).copied()
    }

    /// The address of a global variable that the module defines.
    pub fn global(&self, name: &str) -> Option<*const u8> {
        self.globals.get(name).copied()
    }
}
