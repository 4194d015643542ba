//! Compiles lists of pipes to x86-64 code: a loop over units of data ([`blocks`]), a second one over the shortest units
//! for the data behind the last whole unit, and code for less than a unit, in a buffer, pipe by pipe ([`rest`]).

mod access;
mod blocks;
mod forms;
mod frame;
mod gather;
mod lanes;
mod plan;
mod rest;
mod scalar;
mod sequences;
mod simd;
mod vector;

use super::body::Operation;
use super::code::{Code, FRAME};
use super::evaluate::Homes;
use super::{Features, Mode, Pipes};

/// Compiles a list, unless it needs missing features, or too much of the stack.
pub(super) fn compile(list: &Pipes, homes: &[Homes], mode: Mode, features: Features) -> Option<Code> {
    let steps = || list.pipes.iter().flat_map(|it| &it.body.steps);
    if !features.crc32c && steps().any(|it| matches!(it.operation, Operation::Crc32c(..))) {
        return None;
    }
    let plan = plan::Plan::new(list, mode, features);
    let narrow = plan::Plan::narrow(list, mode).filter(|narrow| narrow.unit < plan.unit);
    let code = frame::Compiler::new(list, homes, &plan).compile(narrow.as_ref());
    (code.frame <= FRAME).then_some(code)
}
