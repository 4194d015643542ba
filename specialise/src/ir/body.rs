//! The code of a function: blocks of instructions, with terminators.

use std::rc::Rc;

use super::{BlockId, Op, Operand, PlaceId, Type, ValueId};

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The value of its result, if it has one.
    pub result: Option<ValueId>,
    /// The type of its result.
    pub ty: Type,
    /// The operation.
    pub op: Op,
    /// The place in the source.
    pub place: Option<PlaceId>,
}

/// The end of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// Returns to the caller.
    Return(Option<Operand>),
    /// Continues in another block.
    Jump(BlockId),
    /// Continues in the first block if the condition (`i1`) is true, otherwise in the second.
    Branch(Operand, BlockId, BlockId),
    /// Continues in the block of the value's case, or in the block given first if there is none.
    Switch(Operand, BlockId, Vec<(u128, BlockId)>),
    /// Never reached.
    Unreachable,
}

/// Instructions that run one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The instructions, phis first.
    pub instructions: Vec<Instruction>,
    /// The terminator.
    pub terminator: Terminator,
    /// The place of the terminator in the source.
    pub place: Option<PlaceId>,
    /// A comment for readers of the residual program; may be empty.
    pub comment: String,
}

/// The code of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// The blocks; the first is the entry and has no phis.
    pub blocks: Vec<Block>,
    /// The types of all values, parameters first.
    pub types: Vec<Type>,
    /// Names of values in the text, for readers. There may be fewer names than `types`, and empty names.
    pub names: Vec<Rc<str>>,
}

impl Block {
    /// The number of phis at its beginning.
    pub fn phi_count(&self) -> usize {
        self.instructions.iter().take_while(|instruction| matches!(instruction.op, Op::Phi(_))).count()
    }

    /// The inputs of its phis, mutable.
    pub fn phis_mut(&mut self) -> impl Iterator<Item = &mut Vec<(Operand, BlockId)>> {
        self.instructions.iter_mut().map_while(|instruction| match &mut instruction.op {
            Op::Phi(inputs) => Some(inputs),
            _ => None,
        })
    }
}

impl Body {
    /// A new value without a name and without a defining instruction.
    pub fn new_value(&mut self, ty: Type) -> ValueId {
        self.types.push(ty);
        self.names.resize(self.types.len(), "".into());
        ValueId(self.types.len() as u32 - 1)
    }

    /// An instruction that computes a new value, and that value.
    pub fn computing(&mut self, ty: Type, op: Op, place: Option<PlaceId>) -> (Instruction, Operand) {
        let result = self.new_value(ty.clone());
        (Instruction { result: Some(result), ty, op, place }, Operand::Value(result))
    }

    /// The type of an operand of this body.
    pub fn type_of(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Value(value) => self.types[value.0 as usize].clone(),
            Operand::Const(constant) => constant.ty(),
        }
    }
}
