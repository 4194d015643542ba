//! How values of the language's types are held.

use drystone_language::program::Type;

use crate::mir::RegType;

/// What a register for a value of this type holds.
pub(crate) fn reg_type(ty: &Type) -> RegType {
    if *ty == Type::Real { RegType::Real } else { RegType::Int }
}

/// Whether a value of this type takes one byte in memory.
pub(super) fn is_byte(ty: &Type) -> bool {
    matches!(ty, Type::Boolean | Type::Character)
}
