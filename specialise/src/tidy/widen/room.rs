//! A block whose accesses are being moved and joined.

use crate::ir::{Body, Effects, FunctionId, Instruction, Module, Op, Operand, Type, ValueId};
use std::collections::BTreeMap;

/// The functions that swap the bytes of a value.
#[derive(Clone, Copy)]
pub(crate) struct Swaps {
    /// `llvm.bswap.i32`.
    four: FunctionId,
    /// `llvm.bswap.i64`.
    eight: FunctionId,
}

impl Swaps {
    /// Finds the functions in a module, or declares them there.
    pub(crate) fn declare(module: &mut Module) -> Swaps {
        let mut swap = |bits: u32| {
            let ty = Type::Int(bits);
            module.declare(
                &format!("llvm.bswap.i{bits}"),
                std::slice::from_ref(&ty),
                ty.clone(),
                Effects::None,
            )
        };
        Swaps { four: swap(32), eight: swap(64) }
    }

    /// The function for this many bits.
    pub(super) fn of(self, bits: u32) -> FunctionId {
        if bits == 32 { self.four } else { self.eight }
    }
}

/// The instructions of the block, with gaps for removed ones, and access to the function for new values.
pub(super) struct Room<'a> {
    /// The instructions.
    pub(super) old: Vec<Option<Instruction>>,
    /// New instructions, by the position of the instruction before which they are inserted.
    pub(super) before: BTreeMap<usize, Vec<Instruction>>,
    /// The functions that swap bytes, if byte-swapped elements are joined.
    pub(super) swaps: Option<Swaps>,
    /// The function, without this block's instructions.
    pub(super) body: &'a mut Body,
}

impl Room<'_> {
    /// A new value.
    pub(super) fn value(&mut self, ty: Type) -> ValueId {
        self.body.new_value(ty)
    }

    /// Inserts a computation before the instruction at a position.
    pub(super) fn compute(&mut self, position: usize, ty: &Type, op: Op) -> Operand {
        let place = self.old[position].as_ref().and_then(|instruction| instruction.place);
        let (instruction, result) = self.body.computing(ty.clone(), op, place);
        self.before.entry(position).or_default().push(instruction);
        result
    }

    /// The resulting instructions of the block.
    pub(super) fn written(mut self) -> Vec<Instruction> {
        let mut written = Vec::with_capacity(self.old.len());
        for (at, old) in self.old.into_iter().enumerate() {
            written.extend(self.before.remove(&at).into_iter().flatten());
            written.extend(old);
        }
        written
    }
}
