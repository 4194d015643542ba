//! What every program knows without declaring it: types, constants, statements and functions by name, and the
//! interfaces of the system. A program may declare any of these names anew.

use crate::program::{Builtin, Type};

/// The interfaces of the system, in the language itself.
pub(super) const SYSTEM: &str = include_str!("system.dry");

/// The file number of [`SYSTEM`] in spans: a place that no user can look at.
pub(super) const SYSTEM_FILE: u32 = u32::MAX;

/// What a predeclared name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Predeclared {
    /// A basic type, which as a call converts to it.
    Type(Basic),
    /// `TRUE` or `FALSE`
    Truth(bool),
    /// `PI`
    Pi,
    /// A function of REAL.
    Real(Builtin),
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

/// Which end of an order.
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
    ("TIME", Predeclared::Function(Function::Time)),
    ("LENGTH", Predeclared::Function(Function::Length)),
    ("RANDOM", Predeclared::Function(Function::Random)),
    ("SLICE", Predeclared::Function(Function::Slice)),
    ("FIND", Predeclared::Function(Function::Find)),
    ("NUMBER", Predeclared::Function(Function::Number)),
    ("COUNT", Predeclared::Function(Function::Count)),
    ("AWAIT", Predeclared::Function(Function::Await)),
    ("INC", Predeclared::Statement(Action::Increase)),
    ("DEC", Predeclared::Statement(Action::Decrease)),
    ("ASSERT", Predeclared::Statement(Action::Assert)),
    ("HALT", Predeclared::Statement(Action::Halt)),
    ("WRITE", Predeclared::Statement(Action::Write)),
    ("WRITEHEX", Predeclared::Statement(Action::WriteHex)),
    ("WRITELINE", Predeclared::Statement(Action::WriteLine)),
    ("PASSIVATE", Predeclared::Statement(Action::Passivate)),
];

#[cfg(test)]
mod tests {
    use super::{SYSTEM, SYSTEM_FILE};
    use crate::{check, parser};

    #[test]
    fn the_interfaces_of_the_system_are_written_without_error() {
        let (_, errors) = parser::parse(SYSTEM_FILE, SYSTEM);
        assert_eq!(errors, []);
        let (program, offered) = check::system();
        assert!(program.interfaces.iter().all(|interface| interface.states.len() > 1));
        let names: Vec<_> = offered.iter().map(|id| program.interfaces[id.index()].name.as_str()).collect();
        let wanted = [
            "SystemTime",
            "FileSystem",
            "GraphicView",
            "Console",
            "Arguments",
            "Files",
            "Network",
            "Bindings",
        ];
        assert_eq!(names, wanted);
    }

    #[test]
    fn the_reference_declares_them_so() {
        let reference = include_str!("../../../docs/src/language.md");
        let (_, section) = reference.split_once("\n## 8. System interfaces\n").expect("section 8");
        let (section, _) = section.split_once("\n## ").expect("section 9");
        let blocks: Vec<_> = section.split("\n```\n").skip(1).step_by(2).collect();
        let text = blocks.join("\n") + "\nCOMPONENT Main; END Main;";
        let files = [crate::source::SourceFile { path: "language.md".into(), text }];
        let program = check::check(&files).expect("the reference's declarations are right");
        let (system, _) = check::system();
        let names = |program: &crate::program::Program| -> Vec<_> {
            program.interfaces.iter().map(|interface| interface.name.clone()).collect()
        };
        // Had one been declared otherwise, there would be two of that name.
        assert_eq!(names(&program), names(&system));
        for interface in names(&system) {
            assert!(section.contains(&format!("\nINTERFACE {interface};")), "{interface} is missing");
        }
    }
}
