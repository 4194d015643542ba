//! The residual function under construction: open blocks, whose successors aren't known yet, and phis that get their
//! inputs one by one. Trivial instructions are not created; the rest of the simplification is left to `tidy`.

use crate::ir::{
    Binary, Block, BlockId, Body, Cast, Const, Instruction, Op, Operand, PlaceId, Terminator, Type, ValueId,
};
use std::rc::Rc;

/// The block of the residual function that allocates its local variables.
pub(super) const PROLOGUE: BlockId = BlockId(0);

/// A residual function.
#[derive(Default)]
pub(super) struct Residual {
    blocks: Vec<Growing>,
    types: Vec<Type>,
    names: Vec<Rc<str>>,
    /// The block and index at which each value is defined; `None` for parameters and phis.
    defined: Vec<Option<(u32, u32)>>,
    /// The number of instructions.
    pub size: usize,
    /// The place of the source for new instructions.
    pub place: Option<PlaceId>,
}

#[derive(Default)]
struct Growing {
    phis: Vec<(ValueId, Vec<(Operand, BlockId)>)>,
    instructions: Vec<Instruction>,
    terminator: Option<Terminator>,
    comment: String,
    /// Whether paths may still return to it, and add inputs to its phis.
    header: bool,
}

impl Residual {
    /// A new value that no instruction defines yet.
    pub fn value(&mut self, ty: Type, name: &str) -> ValueId {
        self.types.push(ty);
        self.names.push(name.into());
        self.defined.push(None);
        ValueId(self.types.len() as u32 - 1)
    }

    /// A new open block.
    pub fn block(&mut self, comment: String) -> BlockId {
        self.blocks.push(Growing { comment, ..Growing::default() });
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// A new open block to which paths return later.
    pub fn header(&mut self) -> BlockId {
        self.blocks.push(Growing { header: true, ..Growing::default() });
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// The type of a value.
    pub fn type_of(&self, value: ValueId) -> &Type {
        &self.types[value.0 as usize]
    }

    /// The operation whose result is this value, if an instruction defines it.
    pub fn definition(&self, value: ValueId) -> Option<&Op> {
        let (block, index) = self.defined[value.0 as usize]?;
        Some(&self.blocks[block as usize].instructions[index as usize].op)
    }

    /// The constants among which a value is, if that is known. `None` for a phi that may still get inputs.
    pub fn choices(&self, value: ValueId) -> Option<Vec<Const>> {
        let of = |operand: &Operand| match operand {
            Operand::Const(constant) => Some(vec![constant.clone()]),
            Operand::Value(value) => self.choices(*value),
        };
        let all = |operands: &[&Operand]| {
            let mut choices = Vec::new();
            for constant in operands.iter().map(|operand| of(operand)).collect::<Option<Vec<_>>>()?.concat() {
                if !choices.contains(&constant) {
                    choices.push(constant);
                }
            }
            Some(choices)
        };
        match self.definition(value) {
            Some(Op::Cast(Cast::ZExt, Operand::Value(bit))) if *self.type_of(*bit) == Type::Int(1) => {
                let bits = self.type_of(value).bits() as u32;
                Some(vec![Const::int(bits, 0), Const::int(bits, 1)])
            }
            Some(Op::Select(_, yes, no)) => all(&[yes, no]),
            Some(_) => None,
            None => {
                let joins = self.blocks.iter().filter(|block| !block.header);
                let (_, inputs) = joins.flat_map(|block| &block.phis).find(|(phi, _)| *phi == value)?;
                all(&inputs.iter().map(|(input, _)| input).collect::<Vec<_>>())
            }
        }
    }

    /// Adds an instruction without a result.
    pub fn effect(&mut self, block: BlockId, op: Op) {
        self.size += 1;
        let instructions = &mut self.blocks[block.0 as usize].instructions;
        instructions.push(Instruction { result: None, ty: Type::Void, op, place: self.place });
    }

    /// Adds an instruction, and gives its result.
    pub fn emit(&mut self, block: BlockId, ty: Type, op: Op) -> ValueId {
        let result = self.value(ty.clone(), "");
        self.size += 1;
        let instructions = &mut self.blocks[block.0 as usize].instructions;
        self.defined[result.0 as usize] = Some((block.0, instructions.len() as u32));
        instructions.push(Instruction { result: Some(result), ty, op, place: self.place });
        result
    }

    /// Names a value that has no name yet.
    pub fn name(&mut self, value: ValueId, name: &str) {
        let slot = &mut self.names[value.0 as usize];
        if slot.is_empty() && !name.is_empty() {
            *slot = name.into();
        }
    }

    /// Adds a phi to a block; its inputs follow later.
    pub fn phi(&mut self, block: BlockId, ty: Type) -> ValueId {
        let result = self.value(ty, "");
        self.blocks[block.0 as usize].phis.push((result, Vec::new()));
        result
    }

    /// Adds an input to the phi at a position of a block.
    pub fn phi_input(&mut self, block: BlockId, phi: usize, input: Operand, from: BlockId) {
        self.blocks[block.0 as usize].phis[phi].1.push((input, from));
    }

    /// Sets the terminator of a block.
    pub fn end(&mut self, block: BlockId, terminator: Terminator) {
        let slot = &mut self.blocks[block.0 as usize].terminator;
        debug_assert!(slot.is_none(), "a residual block ends once");
        *slot = Some(terminator);
    }

    /// The address at an offset from another one. Constant offsets are added here.
    pub fn address(&mut self, block: BlockId, base: Operand, offset: i64) -> Operand {
        match &base {
            _ if offset == 0 => base,
            Operand::Const(Const::Global(global, at)) => {
                Operand::Const(Const::Global(*global, at.wrapping_add(offset)))
            }
            Operand::Value(value) => {
                let op = match self.definition(*value) {
                    Some(Op::Address { base, offset: inner, terms }) => {
                        let offset = inner.wrapping_add(offset);
                        if offset == 0 && terms.is_empty() {
                            return base.clone();
                        }
                        Op::Address { base: base.clone(), offset, terms: terms.clone() }
                    }
                    _ => Op::Address { base, offset, terms: Vec::new() },
                };
                Operand::Value(self.emit(block, Type::Ptr, op))
            }
            _ => {
                let op = Op::Address { base, offset, terms: Vec::new() };
                Operand::Value(self.emit(block, Type::Ptr, op))
            }
        }
    }

    /// The operand, and the byte of it, that equals one byte of a value, through casts and shifts by whole bytes;
    /// `None` for a zero byte that an extension added.
    pub fn origin(&self, value: ValueId, byte: u32) -> Option<(ValueId, u32)> {
        let operand = |operand: &Operand| match operand {
            Operand::Value(value) => Some(*value),
            Operand::Const(_) => None,
        };
        let amount = |operand: &Operand| match operand {
            Operand::Const(Const::Int { value, .. }) if value % 8 == 0 => Some(*value as u32 / 8),
            _ => None,
        };
        let step = match self.definition(value) {
            Some(Op::Cast(Cast::Trunc, from)) => operand(from).map(|from| (from, byte)),
            Some(Op::Cast(Cast::ZExt, from)) => operand(from)
                .filter(|from| {
                    u64::from(byte) < self.type_of(*from).store_size()
                        && self.type_of(*from).bits().is_multiple_of(8)
                })
                .map(|from| (from, byte)),
            Some(Op::Binary(Binary::LShr, from, by)) => {
                let bytes = self.type_of(value).store_size() as u32;
                operand(from)
                    .zip(amount(by))
                    .filter(|(_, by)| byte + by < bytes)
                    .map(|(from, by)| (from, byte + by))
            }
            Some(Op::Binary(Binary::Shl, from, by)) => operand(from)
                .zip(amount(by))
                .filter(|(_, by)| byte >= *by)
                .map(|(from, by)| (from, byte - by)),
            _ => None,
        };
        match step {
            Some((from, byte)) => self.origin(from, byte),
            None => Some((value, byte)),
        }
    }

    /// The finished body. Blocks without a terminator are never reached.
    pub fn finish(self) -> Body {
        let types = self.types;
        let blocks = self.blocks.into_iter().map(|block| {
            let phis = block.phis.into_iter().map(|(result, inputs)| Instruction {
                result: Some(result),
                ty: types[result.0 as usize].clone(),
                op: Op::Phi(inputs),
                place: None,
            });
            Block {
                instructions: phis.chain(block.instructions).collect(),
                terminator: block.terminator.unwrap_or(Terminator::Unreachable),
                place: None,
                comment: block.comment,
            }
        });
        let blocks = blocks.collect();
        Body { blocks, types, names: self.names }
    }
}
