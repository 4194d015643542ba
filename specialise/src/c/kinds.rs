//! Classifies LLVM's intrinsics by name: those without effects, those that do nothing, those that fill structures.

use crate::ir::Function;

/// Intrinsics whose result depends on their arguments only.
const PURE: &str = "bswap bitreverse ctpop ctlz cttz abs smax smin umax umin fshl fshr uadd.sat usub.sat sadd.sat \
    ssub.sat ucmp scmp expect expect.with.probability is.constant objectsize ptrmask threadlocal.address ssa.copy \
    launder.invariant.group strip.invariant.group uadd.with.overflow usub.with.overflow umul.with.overflow \
    sadd.with.overflow ssub.with.overflow smul.with.overflow stacksave fmuladd fptosi.sat fptoui.sat \
    returnaddress frameaddress ";

/// Functions of the mathematical library, as builtins of the same name.
pub(super) const MATHEMATICAL: &str = "fabs sqrt floor ceil trunc rint nearbyint round roundeven copysign \
    fma pow exp exp2 log log2 log10 sin cos minnum maxnum lround llround lrint llrint";

/// Intrinsics that only inform the optimiser.
const LEFT_OUT: &str = "lifetime.start lifetime.end assume donothing invariant.start invariant.end dbg.value \
    dbg.declare dbg.assign dbg.label experimental.noalias.scope.decl var.annotation stackrestore sideeffect \
    pseudoprobe ubsantrap.none";

/// The name of an intrinsic, without `llvm.` and the types at its end; `None` for other functions.
pub(super) fn plain(name: &str) -> Option<&str> {
    let mut name = name.strip_prefix("llvm.")?;
    while let Some((head, tail)) = name.rsplit_once('.') {
        let is_type = tail.len() > 1
            && tail.starts_with(['i', 'p', 'f', 'v'])
            && tail[1..].starts_with(|digit: char| digit.is_ascii_digit());
        if !is_type {
            break;
        }
        name = head;
    }
    Some(name)
}

fn is_among(name: &str, list: &str) -> bool {
    plain(name).is_some_and(|name| list.split_whitespace().any(|one| one == name))
}

/// Whether a function is an intrinsic without memory or effect.
pub(super) fn is_pure(name: &str) -> bool {
    is_among(name, PURE) || is_among(name, MATHEMATICAL)
}

/// Whether a function is an intrinsic that does nothing.
pub(super) fn is_left_out(name: &str) -> bool {
    is_among(name, LEFT_OUT)
}

/// Whether a function is an intrinsic that returns a structure, which C fills in place.
pub(super) fn fills_structure(function: Option<&Function>) -> bool {
    function.is_some_and(|function| {
        function.name.starts_with("llvm.") && function.name.contains(".with.overflow")
    })
}

/// The C builtin that fills the structure of an intrinsic, and whether its operands are signed.
pub(super) fn overflow_builtin(name: &str) -> Option<(&'static str, Signedness)> {
    let name = plain(name)?.strip_suffix(".with.overflow")?;
    let signedness = if name.starts_with('s') { Signedness::Signed } else { Signedness::Unsigned };
    match &name[1..] {
        "add" => Some(("__builtin_add_overflow", signedness)),
        "sub" => Some(("__builtin_sub_overflow", signedness)),
        "mul" => Some(("__builtin_mul_overflow", signedness)),
        _ => None,
    }
}

/// How an operation interprets its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signedness {
    Signed,
    Unsigned,
}
