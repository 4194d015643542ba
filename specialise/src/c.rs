//! [`crate::ir`] to readable C.
