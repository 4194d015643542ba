//! A block as a list of steps: all instructions except phis and address computations. An address is part of the step
//! that uses it, so that it doesn't matter where it is computed, or how often it is used.

use crate::ir::{Body, Const, GlobalId, Instruction, Op, Operand, Type, ValueId};
use crate::tidy::{Known, Surroundings, known_call};

/// The position of a value that isn't the result of a step of the block.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The form of an operand, without its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum What<'a> {
    /// A value, or an address at an offset from it.
    Value(ValueId),
    /// An integer of this many bits.
    Int(u32),
    /// An address in a global variable.
    Global(GlobalId),
    /// Another constant.
    Fixed(&'a Const),
}

/// An operand, or an index term of an address. The terms follow their address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The operand without its number.
    pub(super) what: What<'a>,
    /// Its number: the value of an integer, or the offset of an address.
    pub(super) number: u128,
    /// The number of index terms that follow.
    pub(super) terms: u32,
    /// The factor of an index term; 0 for an operand that is no term.
    pub(super) scale: i64,
}

impl Seen<'_> {
    /// The mask of the bits of its number.
    pub(super) fn mask(&self) -> u128 {
        let bits = if let What::Int(bits) = self.what { bits } else { 64 };
        if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
    }
}

/// A step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The position of its instruction in the block.
    pub(super) raw: u32,
    /// The position of its first operand; its operands end where those of the next step begin.
    first: u32,
}

/// Facts about a whole function.
pub(super) struct Uses<'a> {
    /// The address computations that become part of the steps that use them.
    addresses: Vec<Option<&'a Op>>,
    /// The block that computes each value.
    home: Vec<u32>,
    /// Whether a value is used by another block, by a phi or by a terminator.
    outside: Vec<bool>,
}

impl<'a> Uses<'a> {
    /// Collects the facts from all instructions.
    pub(super) fn new(body: &'a Body) -> Uses<'a> {
        let count = body.types.len();
        let mut uses =
            Uses { addresses: vec![None; count], home: vec![NOWHERE; count], outside: vec![false; count] };
        for (at, block) in body.blocks.iter().enumerate() {
            for instruction in &block.instructions {
                let Some(result) = instruction.result else { continue };
                uses.home[result.0 as usize] = at as u32;
                if matches!(instruction.op, Op::Address { .. }) {
                    uses.addresses[result.0 as usize] = Some(&instruction.op);
                }
            }
        }
        uses.keep_addresses_of_addresses(body);
        for (at, block) in body.blocks.iter().enumerate() {
            for instruction in &block.instructions {
                let phi = matches!(instruction.op, Op::Phi(_));
                if uses.is_folded(instruction) {
                    continue;
                }
                for operand in instruction.op.operands() {
                    uses.note(operand, if phi { NOWHERE } else { at as u32 });
                }
            }
            block.terminator.operand().into_iter().for_each(|operand| uses.note(operand, NOWHERE));
        }
        uses
    }

    /// Excludes addresses that are based on addresses; tidying leaves these only if both have indices. They stay steps.
    fn keep_addresses_of_addresses(&mut self, body: &Body) {
        let folded = |operand: &Operand| match operand {
            Operand::Value(value) => self.addresses[value.0 as usize].is_some(),
            Operand::Const(_) => false,
        };
        let kept: Vec<ValueId> = body
            .blocks
            .iter()
            .flat_map(|block| &block.instructions)
            .filter(|instruction| match &instruction.op {
                Op::Address { base, terms, .. } => {
                    folded(base) || terms.iter().any(|(index, _)| folded(index))
                }
                _ => false,
            })
            .filter_map(|instruction| instruction.result)
            .collect();
        kept.iter().for_each(|value| self.addresses[value.0 as usize] = None);
    }

    /// Whether an instruction is an address computation that becomes part of the steps that use it.
    pub(super) fn is_folded(&self, instruction: &Instruction) -> bool {
        instruction.result.is_some_and(|result| self.addresses[result.0 as usize].is_some())
    }

    /// Notes that a block uses an operand.
    fn note(&mut self, operand: &Operand, block: u32) {
        let Operand::Value(value) = operand else { return };
        let mut mark = |operand: &Operand| {
            if let Operand::Value(value) = operand {
                let at = value.0 as usize;
                self.outside[at] |= self.home[at] != block;
            }
        };
        match self.addresses[value.0 as usize] {
            Some(address) => address.operands().for_each(mark),
            None => mark(operand),
        }
    }
}

/// A block as a sequence of steps.
pub(super) struct Steps<'a> {
    /// The function.
    pub(super) body: &'a Body,
    /// The block.
    pub(super) block: usize,
    /// Facts of the function.
    pub(super) uses: &'a Uses<'a>,
    /// The steps.
    pub(super) list: Vec<Step>,
    /// The operands of all steps.
    seen: Vec<Seen<'a>>,
    /// For each value, the step that computes it.
    position: Vec<u32>,
    /// For each step, the last step that uses its result.
    last_use: Vec<u32>,
    /// For each step, whether its integer operands must stay constant.
    pub(super) rigid: Vec<bool>,
}

impl<'a> Steps<'a> {
    /// Divides a block into steps. `position` must be [`NOWHERE`] for all values; it is reused from block to block.
    pub(super) fn new(
        body: &'a Body,
        block: usize,
        uses: &'a Uses<'a>,
        around: &Surroundings,
        position: Vec<u32>,
    ) -> Steps<'a> {
        let mut steps = Steps {
            body,
            block,
            uses,
            list: Vec::new(),
            seen: Vec::new(),
            position,
            last_use: Vec::new(),
            rigid: Vec::new(),
        };
        for (raw, instruction) in body.blocks[block].instructions.iter().enumerate() {
            if matches!(instruction.op, Op::Phi(_)) || uses.is_folded(instruction) {
                continue;
            }
            let at = steps.list.len() as u32;
            steps.list.push(Step { raw: raw as u32, first: steps.seen.len() as u32 });
            steps.last_use.push(0);
            steps.rigid.push(is_rigid(&instruction.op, around));
            instruction.op.operands().for_each(|operand| steps.see(operand));
            for index in steps.list[at as usize].first as usize..steps.seen.len() {
                if let What::Value(value) = steps.seen[index].what
                    && let Some(maker) = steps.position(value)
                {
                    steps.last_use[maker] = at;
                }
            }
            if let Some(result) = instruction.result {
                steps.position[result.0 as usize] = at;
            }
        }
        steps
    }

    /// Gives the table of positions back, reset to [`NOWHERE`].
    pub(super) fn into_position(mut self) -> Vec<u32> {
        for instruction in &self.body.blocks[self.block].instructions {
            if let Some(result) = instruction.result {
                self.position[result.0 as usize] = NOWHERE;
            }
        }
        self.position
    }

    /// Adds an operand, with the parts of its address.
    fn see(&mut self, operand: &'a Operand) {
        let folded = match operand {
            Operand::Value(value) => self.uses.addresses[value.0 as usize],
            Operand::Const(_) => None,
        };
        let Some(Op::Address { base, offset, terms }) = folded else {
            self.seen.push(plain(operand));
            return;
        };
        let base = plain(base);
        let number = u128::from((base.number as u64).wrapping_add_signed(*offset));
        self.seen.push(Seen { number, terms: terms.len() as u32, ..base });
        self.seen.extend(terms.iter().map(|(index, scale)| Seen { scale: *scale, ..plain(index) }));
    }

    /// The operands of a step.
    pub(super) fn operands(&self, step: usize) -> &[Seen<'a>] {
        let end = self.list.get(step + 1).map_or(self.seen.len(), |next| next.first as usize);
        &self.seen[self.list[step].first as usize..end]
    }

    /// The instruction of a step.
    pub(super) fn instruction(&self, step: usize) -> &'a Instruction {
        &self.body.blocks[self.block].instructions[self.list[step].raw as usize]
    }

    /// The step of this block that computes a value.
    pub(super) fn position(&self, value: ValueId) -> Option<usize> {
        let at = self.position[value.0 as usize];
        (at != NOWHERE).then_some(at as usize)
    }

    /// Whether the result of a step is used by step `end` or a later one, or outside the block.
    pub(super) fn is_used_from(&self, step: usize, end: usize) -> bool {
        let outside =
            self.instruction(step).result.is_some_and(|result| self.uses.outside[result.0 as usize]);
        outside || self.last_use[step] as usize >= end
    }
}

/// An operand other than an address with parts.
fn plain(operand: &Operand) -> Seen<'_> {
    let (what, number) = match operand {
        Operand::Value(value) => (What::Value(*value), 0),
        Operand::Const(Const::Int { bits, value }) => (What::Int(*bits), *value),
        Operand::Const(Const::Zero(Type::Int(bits))) => (What::Int(*bits), 0),
        Operand::Const(Const::Global(global, offset)) => {
            (What::Global(*global), u128::from(offset.cast_unsigned()))
        }
        Operand::Const(other) => (What::Fixed(other), 0),
    };
    Seen { what, number, terms: 0, scale: 0 }
}

/// Whether integer arguments of an instruction must stay constant, as those of most intrinsics.
fn is_rigid(op: &Op, around: &Surroundings) -> bool {
    let Op::Call { callee: Operand::Const(Const::Function(id)), .. } = op else { return false };
    let intrinsic = around.module.functions.get(id.0 as usize).is_some_and(|f| f.name.starts_with("llvm."));
    intrinsic || matches!(known_call(around.module, op), Some(Known::Lifetime))
}
