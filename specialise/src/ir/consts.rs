//! Values that are known before the program runs.

use std::rc::Rc;

use super::{FunctionId, GlobalId, Type};

/// A value that is known before the program runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Const {
    /// An integer of at most 128 bits, zero-extended.
    Int {
        /// Its width.
        bits: u32,
        /// Its value; bits beyond the width are zero.
        value: u128,
    },
    /// A 32-bit float, by its bits.
    Float(u32),
    /// A 64-bit float, by its bits.
    Double(u64),
    /// The null pointer.
    Null,
    /// Any value of a type, `undef` and `poison` alike.
    Undef(Type),
    /// The value of a type whose bytes are all zero.
    Zero(Type),
    /// The address at an offset in a global variable.
    Global(GlobalId, i64),
    /// The address of a function.
    Function(FunctionId),
    /// A structure, array or vector of these.
    Aggregate(Type, Rc<[Const]>),
    /// An array of bytes.
    Bytes(Rc<[u8]>),
    /// An address as an integer (`ptrtoint`) of this many bits.
    Address(u32, Rc<Const>),
    /// An integer as an address (`inttoptr`).
    Pointer(Rc<Const>),
}

impl Const {
    /// An integer, cut to its width.
    pub fn int(bits: u32, value: u128) -> Const {
        let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        Const::Int { bits, value: value & mask }
    }

    /// The type of this constant.
    pub fn ty(&self) -> Type {
        match self {
            Const::Int { bits, .. } | Const::Address(bits, _) => Type::Int(*bits),
            Const::Float(_) => Type::Float,
            Const::Double(_) => Type::Double,
            Const::Null | Const::Global(..) | Const::Function(_) | Const::Pointer(_) => Type::Ptr,
            Const::Undef(ty) | Const::Zero(ty) | Const::Aggregate(ty, _) => ty.clone(),
            Const::Bytes(bytes) => Type::Array(bytes.len() as u64, Rc::new(Type::Int(8))),
        }
    }
}

/// The value of a signed integer of this many bits.
pub fn signed(bits: u32, value: u128) -> i128 {
    let unused = 128 - bits.clamp(1, 128);
    ((value << unused) as i128) >> unused
}
