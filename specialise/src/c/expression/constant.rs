//! Constants as expressions.

use super::{Expr, Text, Want, Writer};
use crate::c::types::{CType, container, float, number, unsigned};
use crate::ir::{Const, Type};

impl Writer<'_> {
    /// A constant in the form that its context needs.
    pub(super) fn constant(&mut self, constant: &Const, want: Want) -> Text {
        let exact = |text: String, bits: u32| match want {
            Want::Exact if container(bits) == 1 => Expr::new(text, 16, CType::Unsigned(1)),
            _ if text.starts_with('(') && container(bits) == 128 => Expr::new(text, 16, CType::Unsigned(128)),
            Want::Exact if container(bits) == 32 && !text.starts_with("0x") => {
                Expr::new(format!("{text}u"), 16, CType::Unsigned(32))
            }
            Want::Exact if container(bits) == 32 => Expr::new(text, 16, CType::Unsigned(32)),
            Want::Exact => {
                Expr::new(format!("({}){text}", unsigned(bits)), 15, CType::Unsigned(container(bits)))
            }
            _ => Expr::new(text, 16, CType::Number),
        };
        Ok(match constant {
            Const::Int { bits, value } => exact(number(*bits, *value), *bits),
            Const::Undef(Type::Int(bits)) | Const::Zero(Type::Int(bits)) => exact("0".into(), *bits),
            Const::Undef(Type::Ptr) | Const::Zero(Type::Ptr) | Const::Null => {
                Expr::new("NULL", 16, CType::Other)
            }
            Const::Undef(Type::Float) | Const::Zero(Type::Float) => Expr::new("0.0f", 16, CType::Other),
            Const::Undef(Type::Double) | Const::Zero(Type::Double) => Expr::new("0.0", 16, CType::Other),
            Const::Float(bits) => {
                let single = f32::from_bits(*bits);
                let text = float(f64::from(single), u64::from(*bits), Some(single));
                Expr::new(text.clone(), if text.starts_with('-') { 15 } else { 16 }, CType::Other)
            }
            Const::Double(bits) => {
                let text = float(f64::from_bits(*bits), *bits, None);
                Expr::new(text.clone(), if text.starts_with('-') { 15 } else { 16 }, CType::Other)
            }
            Const::Global(..) | Const::Function(_) => {
                let text = self.symbols.pointer(constant)?;
                let level = if text.contains(" + ") || text.contains(" - ") { 12 } else { 15 };
                Expr::new(text, level, CType::Other)
            }
            Const::Address(bits, inner) => {
                let word = self.constant(inner, Want::Exact)?.cast("uintptr_t", CType::Unsigned(64));
                if *bits == 64 { word } else { Expr { ty: CType::Modulo, ..word } }
            }
            Const::Pointer(inner) => {
                let word = self.constant(inner, Want::Number)?;
                word.cast("uintptr_t", CType::Other).cast("void *", CType::Other)
            }
            Const::Undef(ty) | Const::Zero(ty) => {
                let name = self.prelude.name(ty)?;
                Expr::new(format!("({name}){{ 0 }}"), 16, CType::Other)
            }
            Const::Aggregate(ty, _) => {
                let name = self.prelude.name(ty)?;
                let members = self.members(constant)?;
                Expr::new(format!("({name}){members}"), 16, CType::Other)
            }
            Const::Bytes(_) => {
                let name = self.prelude.name(&constant.ty())?;
                let members = self.members(constant)?;
                Expr::new(format!("({name}){members}"), 16, CType::Other)
            }
        })
    }
}
