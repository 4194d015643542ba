//! LLVM IR text to [`crate::ir`].

/// The text of a function's body that nobody has asked for yet.
#[derive(Debug)]
pub struct UnreadBody;
