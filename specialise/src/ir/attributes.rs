//! Attributes of functions and calls beyond their types: how arguments are passed, and which memory is accessed.

/// The attributes of a call site or a declaration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallAttributes {
    /// Those of each parameter.
    pub params: Vec<ParamAttributes>,
    /// The memory that the call accesses, if the call site states it.
    pub memory: Option<Effects>,
    /// Whether the call never returns.
    pub noreturn: bool,
}

/// The attributes of a parameter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParamAttributes {
    /// The callee gets a copy of the memory behind the pointer, with this size and alignment in bytes.
    pub byval: Option<(u64, u64)>,
    /// The callee stores its result, a structure of this size and alignment, behind the pointer.
    pub sret: Option<(u64, u64)>,
    /// No other pointer to this memory is used while the function runs.
    pub noalias: bool,
    /// The callee doesn't keep the pointer.
    pub nocapture: bool,
    /// The callee doesn't write through the pointer.
    pub readonly: bool,
    /// The callee doesn't read through the pointer.
    pub writeonly: bool,
    /// How the caller widens an integer narrower than 32 bits.
    pub extension: Option<Extension>,
    /// The alignment of the pointer, if stated.
    pub align: Option<u64>,
}

/// How a narrow integer is passed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Extension {
    Zero,
    Sign,
}

/// The memory that a function accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effects {
    /// None at all: its result depends on its arguments only (`memory(none)`, `readnone`).
    None,
    /// It only reads.
    Read,
    /// It only reads, and only memory that its arguments point to.
    ReadArguments,
    /// It only accesses memory that its arguments point to.
    Arguments,
    /// It only accesses memory that the program can't see (`memory(inaccessiblemem: ..)`).
    Inaccessible,
    /// It only accesses memory that its arguments point to, and memory that the program can't see.
    ArgumentsOrInaccessible,
    /// It accesses any memory.
    Any,
}
