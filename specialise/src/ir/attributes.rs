//! What is said about functions and their calls beyond their types: how arguments are passed, what memory is touched.

/// What a call site or a declaration says about arguments and result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallAttributes {
    /// For each parameter.
    pub params: Vec<ParamAttributes>,
    /// What the call touches in memory, if the call site says so.
    pub memory: Option<Effects>,
    /// Whether the call never comes back.
    pub noreturn: bool,
}

/// What is said about a parameter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParamAttributes {
    /// The callee gets a copy of so many bytes, aligned so, of what the pointer points to.
    pub byval: Option<(u64, u64)>,
    /// The pointer is where a structure is returned; its size and alignment.
    pub sret: Option<(u64, u64)>,
    /// Nothing else points there while the function runs.
    pub noalias: bool,
    /// The callee doesn't keep the pointer.
    pub nocapture: bool,
    /// The callee doesn't write through the pointer.
    pub readonly: bool,
    /// The callee doesn't read through the pointer.
    pub writeonly: bool,
    /// How an integer narrower than 32 bits is widened by the caller.
    pub extension: Option<Extension>,
    /// What the pointer is a multiple of, if it is said.
    pub align: Option<u64>,
}

/// How a narrow integer is passed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Extension {
    Zero,
    Sign,
}

/// What memory a function touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effects {
    /// None at all: its result depends on its arguments only (`memory(none)`, `readnone`).
    None,
    /// It reads.
    Read,
    /// It reads what its arguments point to, nothing else.
    ReadArguments,
    /// It reads and writes what its arguments point to, nothing else.
    Arguments,
    /// It touches memory that the program can't see, and nothing else (`memory(inaccessiblemem: ..)`).
    Inaccessible,
    /// What its arguments point to and memory that the program can't see.
    ArgumentsOrInaccessible,
    /// Anything.
    Any,
}
