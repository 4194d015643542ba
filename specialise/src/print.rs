//! [`crate::ir`] to LLVM IR text.
