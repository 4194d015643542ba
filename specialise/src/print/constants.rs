//! Types and constants.

use super::names::{Escaped, Spelling};
use crate::ir::{Const, Module, Type, signed};
use crate::parse::fold::widen;
use std::fmt::{self, Display, Formatter};

impl Display for Type {
    /// As LLVM spells it.
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Type::Void => f.write_str("void"),
            Type::Int(bits) => write!(f, "i{bits}"),
            Type::Float => f.write_str("float"),
            Type::Double => f.write_str("double"),
            Type::Ptr => f.write_str("ptr"),
            Type::Array(count, element) => write!(f, "[{count} x {element}]"),
            Type::Vector(count, element) => write!(f, "<{count} x {element}>"),
            Type::Struct { fields, packed } => {
                f.write_str(if *packed { "<{" } else { "{" })?;
                listed(f, fields, |f, field| write!(f, "{field}"))?;
                f.write_str(if *packed { "}>" } else { "}" })
            }
        }
    }
}

fn listed<T>(f: &mut Formatter, all: &[T], write: impl Fn(&mut Formatter, &T) -> fmt::Result) -> fmt::Result {
    for (position, one) in all.iter().enumerate() {
        f.write_str(if position > 0 { ", " } else { "" })?;
        write(f, one)?;
    }
    Ok(())
}

/// A constant of a module, preceded by its type.
pub(super) struct Typed<'a>(pub(super) &'a Module, pub(super) &'a Const);

impl Display for Typed<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{} {}", self.1.ty(), Untyped(self.0, self.1))
    }
}

/// A constant of a module.
pub(super) struct Untyped<'a>(pub(super) &'a Module, pub(super) &'a Const);

impl Display for Untyped<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Untyped(module, constant) = self;
        match constant {
            Const::Int { bits: 1, value } => write!(f, "{}", *value != 0),
            Const::Int { bits, value } => write!(f, "{}", signed(*bits, *value)),
            Const::Float(bits) => write!(f, "0x{:016X}", widen(*bits)),
            Const::Double(bits) => write!(f, "0x{bits:016X}"),
            Const::Null => f.write_str("null"),
            Const::Undef(_) => f.write_str("undef"),
            Const::Zero(_) => f.write_str("zeroinitializer"),
            Const::Global(id, 0) => write!(f, "@{}", Spelling(&module.globals[id.0 as usize].name)),
            Const::Global(id, offset) => {
                let name = Spelling(&module.globals[id.0 as usize].name);
                write!(f, "getelementptr (i8, ptr @{name}, i64 {offset})")
            }
            Const::Function(id) => write!(f, "@{}", Spelling(&module.functions[id.0 as usize].name)),
            Const::Aggregate(ty, elements) => {
                let (open, close) = match ty {
                    Type::Struct { packed: true, .. } => ("<{", "}>"),
                    Type::Struct { .. } => ("{", "}"),
                    Type::Vector(..) => ("<", ">"),
                    _ => ("[", "]"),
                };
                f.write_str(open)?;
                listed(f, elements, |f, element| write!(f, "{}", Typed(module, element)))?;
                f.write_str(close)
            }
            Const::Bytes(bytes) => write!(f, "c\"{}\"", Escaped(bytes)),
            Const::Address(bits, address) => write!(f, "ptrtoint ({} to i{bits})", Typed(module, address)),
            Const::Pointer(integer) => write!(f, "inttoptr ({} to ptr)", Typed(module, integer)),
        }
    }
}
