//! What generated code has to know of an entry point to call it.

use crate::layout::Status;

/// An entry point: a function of the runtime that generated code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its symbol.
    pub name: &'static str,
    /// Where its code lies in this process.
    pub address: *const u8,
    /// What it gets first: 0: nothing, 1: the worker, 2: the worker and the process that runs.
    pub given: usize,
    /// The further arguments.
    pub arguments: &'static [Machine],
    /// The result, if there is one.
    pub result: Option<Machine>,
    /// The result that means that generated code must leave.
    pub failure: Failure,
    /// It is called at suspension points only.
    pub suspends: bool,
    /// Other processes may have run when it comes back.
    pub lets_others_run: bool,
}

// SAFETY: the address is one of code, which is never written; the rest is plain data.
unsafe impl Sync for EntryPoint {}

/// Types at the machine's level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Machine {
    I32,
    I64,
    F64,
}

/// Which result of an entry point means that generated code must leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It cannot fail.
    Never,
    /// `Status::Leave`
    NotZero,
    /// Null
    Zero,
    /// All bits set
    MinusOne,
    /// 2, beside 0 FALSE and 1 TRUE
    Two,
    /// `i64::MIN`
    Smallest,
}

/// What may stand in the signature of an entry point.
pub(super) trait Word {
    const MACHINE: Machine;
}

macro_rules! words {
    ($($machine:ident: $($word:ty),+;)+) => {
        $($(impl Word for $word { const MACHINE: Machine = Machine::$machine; })+)+
    };
}

words! {
    I32: i32, u32, Status;
    I64: i64, u64, usize;
    F64: f64;
}

impl<T> Word for *const T {
    const MACHINE: Machine = Machine::I64;
}

impl<T> Word for *mut T {
    const MACHINE: Machine = Machine::I64;
}

impl<T> Word for &T {
    const MACHINE: Machine = Machine::I64;
}
