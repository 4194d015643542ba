//! The effects of calls, as far as declarations or the names of functions tell.

use crate::ir::{CallAttributes, Const, Effects, Function, Module, Op, Operand};

/// A call whose meaning follows from the name of its callee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    /// `llvm.memcpy`, or `llvm.memmove`, which may also be used in its place: to, from, length.
    Copy,
    /// `llvm.memset`: to, byte, length.
    Fill,
    /// `llvm.lifetime.start` and `.end`.
    Lifetime,
    /// `malloc` or `calloc`.
    Allocate,
    /// `free`.
    Free,
    /// An intrinsic that depends on nothing but its arguments and does nothing but give its result.
    Pure,
    /// An intrinsic that tells something to an optimiser (`llvm.assume`).
    Hint,
}

/// Intrinsics that compute, up to the type in their name.
const PURE: [&str; 34] = [
    "bswap",
    "bitreverse",
    "ctpop",
    "ctlz",
    "cttz",
    "abs",
    "umin",
    "umax",
    "smin",
    "smax",
    "fshl",
    "fshr",
    "sadd",
    "uadd",
    "ssub",
    "usub",
    "smul",
    "umul",
    "fabs",
    "sqrt",
    "fma",
    "fmuladd",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "round",
    "roundeven",
    "copysign",
    "minnum",
    "maxnum",
    "expect",
    "sshl",
];

/// The function that a call is known to reach.
pub(crate) fn target<'a>(module: &'a Module, callee: &Operand) -> Option<&'a Function> {
    match callee {
        Operand::Const(Const::Function(id)) => module.functions.get(id.0 as usize),
        _ => None,
    }
}

/// What an instruction is known to be as a call; none for other instructions and other calls. Volatile copies are
/// other calls.
pub(crate) fn known_call(module: &Module, op: &Op) -> Option<Known> {
    let Op::Call { callee, args, .. } = op else { return None };
    let name = &*target(module, callee)?.name;
    let Some(intrinsic) = name.strip_prefix("llvm.") else {
        return match (name, args.len()) {
            ("malloc", 1) | ("calloc", 2) => Some(Known::Allocate),
            ("free", 1) => Some(Known::Free),
            _ => None,
        };
    };
    let plain = || args.len() == 4 && args[3].known_int() == Some(0);
    match intrinsic.split('.').next().unwrap_or_default() {
        "memcpy" | "memmove" => plain().then_some(Known::Copy),
        "memset" => plain().then_some(Known::Fill),
        "lifetime" => Some(Known::Lifetime),
        "assume" => Some(Known::Hint),
        word => PURE.contains(&word).then_some(Known::Pure),
    }
}

/// What memory a call may touch.
pub(crate) fn effects(module: &Module, callee: &Operand, attributes: &CallAttributes) -> Effects {
    attributes.memory.or_else(|| target(module, callee).map(|f| f.memory)).unwrap_or(Effects::Any)
}
