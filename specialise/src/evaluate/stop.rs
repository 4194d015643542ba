//! Reasons why an attempt ends before the residual function is complete.

/// The reason why an attempt ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something was found out with which the next attempt must begin.
    Again,
    /// The specialisation is not possible, for this reason.
    Fail(String),
    /// The path was split in two at an instruction; both parts wait.
    Parted,
}
