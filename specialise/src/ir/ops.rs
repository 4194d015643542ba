//! Operations and operands of instructions.

use std::rc::Rc;

use super::{BlockId, CallAttributes, Const, Type, ValueId, signed};

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A value of the function.
    Value(ValueId),
    /// A constant.
    Const(Const),
}

impl Operand {
    /// The value of a known integer, zero-extended.
    pub fn known_int(&self) -> Option<u128> {
        match self {
            Operand::Const(Const::Int { value, .. }) => Some(*value),
            Operand::Const(Const::Zero(Type::Int(_))) => Some(0),
            _ => None,
        }
    }
}

/// Arithmetic on two values of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// A comparison of integers or pointers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Compare {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

impl Compare {
    /// The comparison that holds when this one doesn't.
    pub fn opposite(self) -> Compare {
        match self {
            Compare::Eq => Compare::Ne,
            Compare::Ne => Compare::Eq,
            Compare::Ugt => Compare::Ule,
            Compare::Uge => Compare::Ult,
            Compare::Ult => Compare::Uge,
            Compare::Ule => Compare::Ugt,
            Compare::Sgt => Compare::Sle,
            Compare::Sge => Compare::Slt,
            Compare::Slt => Compare::Sge,
            Compare::Sle => Compare::Sgt,
        }
    }

    /// The comparison that is equivalent after swapping the operands.
    pub fn swapped(self) -> Compare {
        match self {
            Compare::Eq | Compare::Ne => self,
            Compare::Ugt => Compare::Ult,
            Compare::Uge => Compare::Ule,
            Compare::Ult => Compare::Ugt,
            Compare::Ule => Compare::Uge,
            Compare::Sgt => Compare::Slt,
            Compare::Sge => Compare::Sle,
            Compare::Slt => Compare::Sgt,
            Compare::Sle => Compare::Sge,
        }
    }

    /// Whether it holds for two integers of this many bits.
    pub fn holds(self, bits: u32, a: u128, b: u128) -> bool {
        let (signed_a, signed_b) = (signed(bits, a), signed(bits, b));
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Ugt => a > b,
            Compare::Uge => a >= b,
            Compare::Ult => a < b,
            Compare::Ule => a <= b,
            Compare::Sgt => signed_a > signed_b,
            Compare::Sge => signed_a >= signed_b,
            Compare::Slt => signed_a < signed_b,
            Compare::Sle => signed_a <= signed_b,
        }
    }
}

/// A comparison of floats; the `O` ones are false and the `U` ones true when an operand is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum FloatCompare {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    True,
}

/// A conversion between types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    IntToPtr,
    BitCast,
}

/// Which reorderings a memory access allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// It may be moved, merged or left out.
    Plain,
    /// It must happen exactly as written.
    Volatile,
    /// It is atomic, with any ordering, and thus a barrier. The residual program makes it sequentially consistent.
    Atomic,
}

/// The operation of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Arithmetic.
    Binary(Binary, Operand, Operand),
    /// Floating-point negation.
    FNeg(Operand),
    /// A comparison of integers or pointers; gives `i1`.
    Compare(Compare, Operand, Operand),
    /// A comparison of floats; gives `i1`.
    FloatCompare(FloatCompare, Operand, Operand),
    /// A conversion to the type of the instruction.
    Cast(Cast, Operand),
    /// The second if the first (`i1`) is true, else the third.
    Select(Operand, Operand, Operand),
    /// The same value, but fixed if it was undefined.
    Freeze(Operand),
    /// A value of the instruction's type from an address.
    Load {
        /// The address.
        from: Operand,
        /// The alignment of the address.
        align: u64,
        /// Whether it may be moved.
        access: Access,
    },
    /// Stores a value at an address.
    Store {
        /// The value.
        value: Operand,
        /// The address.
        to: Operand,
        /// The alignment of the address.
        align: u64,
        /// Whether it may be moved.
        access: Access,
    },
    /// Stack memory until the function returns: `count` times `size` bytes.
    Alloca {
        /// The size of an element in bytes.
        size: u64,
        /// The number of elements.
        count: Operand,
        /// The alignment of the address.
        align: u64,
    },
    /// An address: `base + offset + sum of index * scale`, in bytes; indices are sign-extended to 64 bits.
    Address {
        /// The base address.
        base: Operand,
        /// The constant offset in bytes.
        offset: i64,
        /// Indices, with the bytes for each unit.
        terms: Vec<(Operand, i64)>,
    },
    /// Calls a function; intrinsics are functions whose name begins with `llvm.`.
    Call {
        /// The function's address; `Const::Function` if it is known.
        callee: Operand,
        /// The arguments.
        args: Vec<Operand>,
        /// For a variadic function, the number of named parameters of its type.
        variadic: Option<usize>,
        /// The attributes of the call site, in addition to those of the function's declaration.
        attributes: Rc<CallAttributes>,
    },
    /// The value that belongs to the predecessor from which control came. Phis come first in a block.
    Phi(Vec<(Operand, BlockId)>),
    /// A field of a structure or array value.
    ExtractValue(Operand, Vec<u32>),
    /// The same aggregate with one field changed: aggregate, value, path.
    InsertValue(Operand, Operand, Vec<u32>),
    /// An element of a vector.
    ExtractElement(Operand, Operand),
    /// The same vector with one element changed: vector, element, index.
    InsertElement(Operand, Operand, Operand),
    /// Elements of two vectors in a new order; -1 is undefined.
    Shuffle(Operand, Operand, Vec<i32>),
    /// `atomicrmw`: LLVM's name of the operation, address, operand.
    AtomicUpdate(Rc<str>, Operand, Operand),
    /// `cmpxchg`: address, expected, new; gives a structure of the old value and whether it was replaced.
    CompareExchange(Operand, Operand, Operand),
    /// A fence.
    Fence,
}

impl Op {
    /// LLVM's word for the operation.
    pub fn word(&self) -> String {
        let word = match self {
            Op::Binary(binary, ..) => return format!("{binary:?}").to_lowercase(),
            Op::Cast(cast, _) => return format!("{cast:?}").to_lowercase(),
            Op::FNeg(_) => "fneg",
            Op::Compare(..) => "icmp",
            Op::FloatCompare(..) => "fcmp",
            Op::Select(..) => "select",
            Op::Freeze(_) => "freeze",
            Op::Load { .. } => "load",
            Op::Store { .. } => "store",
            Op::Alloca { .. } => "alloca",
            Op::Address { .. } => "getelementptr",
            Op::Call { .. } => "call",
            Op::Phi(_) => "phi",
            Op::ExtractValue(..) => "extractvalue",
            Op::InsertValue(..) => "insertvalue",
            Op::ExtractElement(..) => "extractelement",
            Op::InsertElement(..) => "insertelement",
            Op::Shuffle(..) => "shufflevector",
            Op::AtomicUpdate(..) => "atomicrmw",
            Op::CompareExchange(..) => "cmpxchg",
            Op::Fence => "fence",
        };
        word.into()
    }
}
