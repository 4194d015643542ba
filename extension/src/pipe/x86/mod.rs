//! Compiles lists of pipes to code of x86-64: a loop over units of data ([`blocks`]), another one over the shortest
//! units for what is left behind, and what takes less than a unit, out of a buffer, pipe by pipe ([`rest`]).

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

/// Code for a list, unless it needs what the machine hasn't, or more room on the stack than there is.
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
