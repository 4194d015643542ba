//! The code of a function: instructions in blocks, and how blocks end.

use std::rc::Rc;

use super::{BlockId, Op, Operand, PlaceId, Type, ValueId};

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// What its result is called; none if it has none.
    pub result: Option<ValueId>,
    /// The type of its result.
    pub ty: Type,
    /// What it does.
    pub op: Op,
    /// Where it stands in the source.
    pub place: Option<PlaceId>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// Back to the caller.
    Return(Option<Operand>),
    /// On in another block.
    Jump(BlockId),
    /// On in the first if the condition (`i1`) is true, else in the second.
    Branch(Operand, BlockId, BlockId),
    /// On where the value belongs, else in the block given first.
    Switch(Operand, BlockId, Vec<(u128, BlockId)>),
    /// Never reached.
    Unreachable,
}

/// Instructions that run one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The instructions, phis first.
    pub instructions: Vec<Instruction>,
    /// How it ends.
    pub terminator: Terminator,
    /// Where its terminator stands in the source.
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
    /// Names that values have in the text, by value, for readers; may be shorter than `types`, may hold empty names.
    pub names: Vec<Rc<str>>,
}

impl Block {
    /// How many phis it begins with.
    pub fn phi_count(&self) -> usize {
        self.instructions.iter().take_while(|instruction| matches!(instruction.op, Op::Phi(_))).count()
    }

    /// What its phis choose from, to be rewritten.
    pub fn phis_mut(&mut self) -> impl Iterator<Item = &mut Vec<(Operand, BlockId)>> {
        self.instructions.iter_mut().map_while(|instruction| match &mut instruction.op {
            Op::Phi(inputs) => Some(inputs),
            _ => None,
        })
    }
}

impl Body {
    /// A new value, without a name, that no instruction defines yet.
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
