//! Predeclared names: types, constants, statements, functions, and the interfaces of the system. A program may declare
//! any of them anew.

use crate::program::{Builtin, Type};

/// The interfaces of the system, as declarations in the language.
pub(super) const SYSTEM: &str = include_str!("system.dry");

/// The file number of [`SYSTEM`] in spans. Messages never point there.
pub(super) const SYSTEM_FILE: u32 = u32::MAX;

/// What a predeclared name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Predeclared {
    /// A basic type. A call of it is a conversion.
    Type(Basic),
    /// `TRUE` or `FALSE`
    Truth(bool),
    /// `PI`
    Pi,
    /// A function of REAL.
    Real(Builtin),
    /// A function of that many INTEGERs.
    Integer(Builtin, usize),
    /// `MIN` or `MAX`
    Extreme(Extreme),
    /// Any other function.
    Function(Function),
    /// A statement.
    Statement(Action),
}

/// Basic types by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Basic {
    Boolean,
    Character,
    Integer,
    Real,
    Text,
}

impl Basic {
    pub(super) fn ty(self) -> Type {
        match self {
            Basic::Boolean => Type::Boolean,
            Basic::Character => Type::Character,
            Basic::Integer => Type::Integer,
            Basic::Real => Type::Real,
            Basic::Text => Type::Text,
        }
    }
}

/// The least or the greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extreme {
    Least,
    Greatest,
}

/// Functions that have rules of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    Time,
    Length,
    Random,
    Slice,
    Find,
    Number,
    Count,
    Await,
    Fault,
}

/// Statements that look like procedure calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    Increase,
    Decrease,
    Assert,
    Halt,
    Write,
    WriteHex,
    WriteLine,
    Passivate,
    Exit,
    Append,
    Insert,
    Remove,
    Sort,
}

/// Every predeclared name that is not an interface.
pub(super) const NAMES: &[(&str, Predeclared)] = &[
    ("BOOLEAN", Predeclared::Type(Basic::Boolean)),
    ("CHARACTER", Predeclared::Type(Basic::Character)),
    ("INTEGER", Predeclared::Type(Basic::Integer)),
    ("REAL", Predeclared::Type(Basic::Real)),
    ("TEXT", Predeclared::Type(Basic::Text)),
    ("TRUE", Predeclared::Truth(true)),
    ("FALSE", Predeclared::Truth(false)),
    ("PI", Predeclared::Pi),
    ("SQRT", Predeclared::Real(Builtin::Sqrt)),
    ("SIN", Predeclared::Real(Builtin::Sin)),
    ("COS", Predeclared::Real(Builtin::Cos)),
    ("TAN", Predeclared::Real(Builtin::Tan)),
    ("ARCSIN", Predeclared::Real(Builtin::Arcsin)),
    ("ARCCOS", Predeclared::Real(Builtin::Arccos)),
    ("ARCTAN", Predeclared::Real(Builtin::Arctan)),
    ("MIN", Predeclared::Extreme(Extreme::Least)),
    ("MAX", Predeclared::Extreme(Extreme::Greatest)),
    ("BITAND", Predeclared::Integer(Builtin::BitAnd, 2)),
    ("BITOR", Predeclared::Integer(Builtin::BitOr, 2)),
    ("BITXOR", Predeclared::Integer(Builtin::BitXor, 2)),
    ("BITNOT", Predeclared::Integer(Builtin::BitNot, 1)),
    ("SHIFT", Predeclared::Integer(Builtin::Shift, 2)),
    ("ROTATE", Predeclared::Integer(Builtin::Rotate, 2)),
    ("ADDWRAP", Predeclared::Integer(Builtin::AddWrap, 2)),
    ("SUBWRAP", Predeclared::Integer(Builtin::SubtractWrap, 2)),
    ("MULWRAP", Predeclared::Integer(Builtin::MultiplyWrap, 2)),
    ("TIME", Predeclared::Function(Function::Time)),
    ("LENGTH", Predeclared::Function(Function::Length)),
    ("RANDOM", Predeclared::Function(Function::Random)),
    ("SLICE", Predeclared::Function(Function::Slice)),
    ("FIND", Predeclared::Function(Function::Find)),
    ("NUMBER", Predeclared::Function(Function::Number)),
    ("COUNT", Predeclared::Function(Function::Count)),
    ("AWAIT", Predeclared::Function(Function::Await)),
    ("FAULT", Predeclared::Function(Function::Fault)),
    ("INC", Predeclared::Statement(Action::Increase)),
    ("DEC", Predeclared::Statement(Action::Decrease)),
    ("ASSERT", Predeclared::Statement(Action::Assert)),
    ("HALT", Predeclared::Statement(Action::Halt)),
    ("WRITE", Predeclared::Statement(Action::Write)),
    ("WRITEHEX", Predeclared::Statement(Action::WriteHex)),
    ("WRITELINE", Predeclared::Statement(Action::WriteLine)),
    ("PASSIVATE", Predeclared::Statement(Action::Passivate)),
    ("EXIT", Predeclared::Statement(Action::Exit)),
    ("APPEND", Predeclared::Statement(Action::Append)),
    ("INSERT", Predeclared::Statement(Action::Insert)),
    ("REMOVE", Predeclared::Statement(Action::Remove)),
    ("SORT", Predeclared::Statement(Action::Sort)),
];
