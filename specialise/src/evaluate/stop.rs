//! Why an attempt ends before the residual function is complete.

/// Why an attempt ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something was learnt that the next attempt must begin with.
    Again,
    /// It can't be done; why.
    Fail(String),
    /// The path became two at an instruction; both wait.
    Parted,
}
