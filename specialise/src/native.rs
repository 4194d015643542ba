//! [`crate::ir`] to machine code of this process, by Cranelift.
