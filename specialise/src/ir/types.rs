//! Types, and how their values lie in memory.

use std::rc::Rc;

/// A type. Named structures are expanded, which always ends because pointers are opaque.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of this many bits.
    Int(u32),
    /// 32-bit IEEE floating point.
    Float,
    /// 64-bit IEEE floating point.
    Double,
    /// A pointer, 8 bytes.
    Ptr,
    /// This many elements of one type.
    Array(u64, Rc<Type>),
    /// Fields in order.
    Struct {
        /// The types of the fields.
        fields: Rc<[Type]>,
        /// Whether the fields follow each other without padding.
        packed: bool,
    },
    /// A vector of this many elements. Code with vectors is read and printed, but not evaluated.
    Vector(u32, Rc<Type>),
}

/// Size and alignment in bytes of a type on x86-64 (System V).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The distance in bytes between elements of an array of this type (LLVM's "alloc size").
    pub size: u64,
    /// The alignment that the ABI requires.
    pub align: u64,
}

impl Type {
    /// The type of a pointer-sized integer.
    pub const WORD: Type = Type::Int(64);

    /// The layout of a value of this type in memory.
    pub fn layout(&self) -> Layout {
        match self {
            Type::Void => Layout { size: 0, align: 1 },
            Type::Int(bits) => {
                let bytes = u64::from(bits.div_ceil(8)).next_power_of_two();
                let align = bytes.min(16);
                Layout { size: u64::from(bits.div_ceil(8)).next_multiple_of(align), align }
            }
            Type::Float => Layout { size: 4, align: 4 },
            Type::Double | Type::Ptr => Layout { size: 8, align: 8 },
            Type::Array(count, element) => {
                let element = element.layout();
                Layout { size: element.size * count, align: element.align }
            }
            Type::Struct { fields, packed } => {
                let align =
                    if *packed { 1 } else { fields.iter().map(|f| f.layout().align).max().unwrap_or(1) };
                let end =
                    self.offsets().last().map_or(0, |last| last + fields[fields.len() - 1].layout().size);
                Layout { size: end.next_multiple_of(align), align }
            }
            Type::Vector(count, element) => {
                let bytes = (u64::from(*count) * element.bits()).div_ceil(8).next_power_of_two();
                Layout { size: bytes, align: bytes }
            }
        }
    }

    /// The bytes that a load or a store of this type accesses (LLVM's "store size").
    pub fn store_size(&self) -> u64 {
        match self {
            Type::Int(bits) => u64::from(bits.div_ceil(8)),
            _ => self.layout().size,
        }
    }

    /// The number of bits of a scalar.
    pub fn bits(&self) -> u64 {
        match self {
            Type::Int(bits) => u64::from(*bits),
            _ => self.layout().size * 8,
        }
    }

    /// The offsets of the fields of a structure in bytes; empty for other types.
    pub fn offsets(&self) -> Vec<u64> {
        let Type::Struct { fields, packed } = self else { return Vec::new() };
        let mut end = 0u64;
        fields
            .iter()
            .map(|field| {
                let layout = field.layout();
                let offset = if *packed { end } else { end.next_multiple_of(layout.align) };
                end = offset + layout.size;
                offset
            })
            .collect()
    }

    /// Whether a value of this type is an integer, a float or a pointer.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Int(_) | Type::Float | Type::Double | Type::Ptr)
    }
}
