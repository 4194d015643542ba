//! The effects of calls, as far as they follow from declarations or names of functions.

use crate::ir::{CallAttributes, Const, Effects, Function, Module, Op, Operand};

/// A call whose meaning follows from the name of its callee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    /// `llvm.memcpy`, or `llvm.memmove`, which may replace it: to, from, length.
    Copy,
    /// `llvm.memset`: to, byte, length.
    Fill,
    /// `llvm.lifetime.start` and `.end`.
    Lifetime,
    /// `malloc` or `calloc`.
    Allocate,
    /// `free`.
    Free,
    /// An intrinsic whose result depends only on its arguments, and that has no effect.
    Pure,
    /// An intrinsic that only informs the optimiser (`llvm.assume`).
    Hint,
}

/// Intrinsics that only compute, without the types in their names.
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

/// The function that a call certainly reaches.
pub(crate) fn target<'a>(module: &'a Module, callee: &Operand) -> Option<&'a Function> {
    match callee {
        Operand::Const(Const::Function(id)) => module.functions.get(id.0 as usize),
        _ => None,
    }
}

/// The known kind of a call; `None` for other calls, among them volatile copies, and for other instructions.
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

/// The memory that a call may access.
pub(crate) fn effects(module: &Module, callee: &Operand, attributes: &CallAttributes) -> Effects {
    attributes.memory.or_else(|| target(module, callee).map(|f| f.memory)).unwrap_or(Effects::Any)
}
