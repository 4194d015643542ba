//! Unrolls counted loops of one short block, as re-rolling creates them, because Cranelift doesn't unroll. The unrolled
//! loop does several rounds for each test, or all rounds without a test. The original loop does the last rounds, at
//! least one, so that code after it finds its values in the same places.
//!
//! Loops of several blocks, with other steps than one, or with calls are not unrolled.

use crate::ir::{
    Binary, Block, BlockId, Body, Compare, Const, Instruction, Module, Op, Operand, Terminator, Type, ValueId,
};
use std::collections::HashMap;

/// The number of rounds between two tests.
const ROUNDS: u128 = 8;
/// The greatest number of instructions in a loop that gains from unrolling.
const LONGEST: usize = 16;
/// A loop needs no test at all if all its rounds together have at most this many instructions.
const WHOLE: usize = 256;

/// Unrolls the short loops of a function.
pub(crate) fn unroll(body: &mut Body, module: &Module) {
    let loops: Vec<Counted> =
        (0..body.blocks.len()).filter_map(|at| Counted::find(module, body, BlockId(at as u32))).collect();
    for counted in loops {
        counted.unroll(body);
    }
}

/// A block that jumps back to itself while its counter, after a step of one, has not reached its bound.
struct Counted {
    block: BlockId,
    /// The phi that counts.
    counter: ValueId,
    /// The comparison of the stepped counter with the bound that holds while the loop goes on.
    goes_on: Compare,
    bound: Operand,
    bits: u32,
    /// The number of rounds, if it is known and all rounds together are short.
    whole: Option<u128>,
}

impl Counted {
    fn find(module: &Module, body: &Body, id: BlockId) -> Option<Counted> {
        let block = &body.blocks[id.0 as usize];
        let Terminator::Branch(Operand::Value(test), yes, no) = &block.terminator else { return None };
        if (*yes == id) == (*no == id) || block.instructions.len() > LONGEST {
            return None;
        }
        let defined: HashMap<ValueId, &Op> =
            block.instructions.iter().filter_map(|i| Some((i.result?, &i.op))).collect();
        let Op::Compare(comparison, Operand::Value(next), bound) = defined.get(test)? else { return None };
        let goes_on = match (comparison, *yes == id) {
            (Compare::Ne, true) | (Compare::Eq, false) => Compare::Ne,
            (Compare::Ult, true) | (Compare::Uge, false) => Compare::Ult,
            (Compare::Slt, true) | (Compare::Sge, false) => Compare::Slt,
            _ => return None,
        };
        let Op::Binary(Binary::Add, Operand::Value(counter), Operand::Const(Const::Int { value: 1, .. })) =
            defined.get(next)?
        else {
            return None;
        };
        let Op::Phi(incoming) = defined.get(counter)? else { return None };
        let from_itself = incoming.iter().find(|(_, from)| *from == id)?;
        let Some(Type::Int(bits @ 8..=64)) = body.types.get(counter.0 as usize) else { return None };
        let is_fixed = !matches!(bound, Operand::Value(value) if defined.contains_key(value));
        if from_itself.0 != Operand::Value(*next) || !is_fixed {
            return None;
        }
        let is_copied = |instruction: &Instruction| match &instruction.op {
            Op::Phi(incoming) => incoming.iter().any(|(_, from)| *from == id),
            Op::Alloca { .. } => false,
            Op::Call { callee: Operand::Const(Const::Function(function)), .. } => module
                .functions
                .get(function.0 as usize)
                .is_some_and(|function| function.name.starts_with("llvm.")),
            Op::Call { .. } => false,
            _ => true,
        };
        let known = |instruction: &Instruction| {
            instruction.result.is_none_or(|result| (result.0 as usize) < body.types.len())
        };
        block.instructions.iter().all(|i| is_copied(i) && known(i)).then(|| Counted {
            block: id,
            counter: *counter,
            goes_on,
            bound: bound.clone(),
            bits: *bits,
            whole: known_rounds(incoming, id, bound, *bits)
                .filter(|rounds| *rounds <= (WHOLE / block.instructions.len()) as u128),
        })
    }

    fn unroll(self, body: &mut Body) {
        let ways =
            Ways { guard: BlockId(body.blocks.len() as u32), main: BlockId(body.blocks.len() as u32 + 1) };
        for (at, block) in body.blocks.iter_mut().enumerate() {
            if at != self.block.0 as usize {
                let back = block.terminator.successors_mut().filter(|to| **to == self.block);
                back.for_each(|to| *to = ways.guard);
            }
        }
        let original = body.blocks[self.block.0 as usize].clone();
        if let Some(rounds) = self.whole {
            return self.unroll_wholly(body, &original, &ways, rounds);
        }
        let (guard, entry, stop) = self.guard(body, &original, &ways);
        let (main, latest) = self.main(body, &original, &ways, &entry, stop);
        body.blocks.extend([guard, main]);
        for instruction in &mut body.blocks[self.block.0 as usize].instructions {
            let (Op::Phi(incoming), Some(result)) = (&mut instruction.op, instruction.result) else { break };
            incoming.retain(|(_, from)| *from == self.block);
            incoming.push((entry[&result].clone(), ways.guard));
            incoming.push((latest[&result].clone(), ways.main));
        }
    }

    /// Places all rounds but the last before the block, which then goes on without a test.
    fn unroll_wholly(&self, body: &mut Body, original: &Block, ways: &Ways, rounds: u128) {
        let mut draft = Draft { body, instructions: Vec::new() };
        let mut latest = self.entry(&mut draft, original);
        let first = latest[&self.counter].clone();
        for round in 1..rounds {
            latest = self.round(&mut draft, original, latest, (&first, round - 1));
        }
        let before = draft.block(Terminator::Jump(self.block));
        body.blocks.push(before);
        let last = &mut body.blocks[self.block.0 as usize];
        if let Terminator::Branch(_, yes, no) = last.terminator {
            last.terminator = Terminator::Jump(if yes == self.block { no } else { yes });
        }
        for instruction in &mut last.instructions {
            self.count_in_bytes(&mut instruction.op, &first, rounds - 1);
            if let (Op::Phi(incoming), Some(result)) = (&mut instruction.op, instruction.result) {
                *incoming = vec![(latest[&result].clone(), ways.guard)];
            }
        }
    }

    /// The initial values of the loop's phis.
    fn entry(&self, draft: &mut Draft, original: &Block) -> Values {
        let mut entry = HashMap::new();
        for (result, ty, incoming) in phis(original) {
            let outside = incoming.iter().filter(|(_, from)| *from != self.block).cloned().collect();
            entry.insert(result, draft.add(ty.clone(), Op::Phi(outside)));
        }
        entry
    }

    /// The block before the loop, which computes how many rounds the unrolled form does. The result also has the
    /// initial values of the loop's phis, and the counter after those rounds.
    fn guard(&self, body: &mut Body, original: &Block, ways: &Ways) -> (Block, Values, Operand) {
        let mut draft = Draft { body, instructions: Vec::new() };
        let entry = self.entry(&mut draft, original);
        let ty = Type::Int(self.bits);
        let number = |value: u128| Operand::Const(Const::int(self.bits, value));
        let first = entry[&self.counter].clone();
        let distance = draft.add(ty.clone(), Op::Binary(Binary::Sub, self.bound.clone(), first.clone()));
        // The number of rounds after the first, which is done without a test. A counter that starts at a bound that it
        // must not equal wraps around, and so does this number.
        let mut after = draft.add(ty.clone(), Op::Binary(Binary::Sub, distance, number(1)));
        if self.goes_on != Compare::Ne {
            let below = draft.add(Type::Int(1), Op::Compare(self.goes_on, first, self.bound.clone()));
            after = draft.add(ty.clone(), Op::Select(below, after, number(0)));
        }
        // Masking directly would be shorter, but Cranelift would repeat it in each round.
        let rest = draft.add(ty.clone(), Op::Binary(Binary::And, after.clone(), number(ROUNDS - 1)));
        let count = draft.add(ty.clone(), Op::Binary(Binary::Sub, after, rest));
        let any = draft.add(Type::Int(1), Op::Compare(Compare::Ne, count.clone(), number(0)));
        let stop = draft.add(ty, Op::Binary(Binary::Add, entry[&self.counter].clone(), count));
        (draft.block(Terminator::Branch(any, ways.main, self.block)), entry, stop)
    }

    /// The unrolled form. The result also has the phis' values after it.
    fn main(
        &self,
        body: &mut Body,
        original: &Block,
        ways: &Ways,
        entry: &Values,
        stop: Operand,
    ) -> (Block, Values) {
        let mut draft = Draft { body, instructions: Vec::new() };
        let mut latest = HashMap::new();
        for (result, ty, _) in phis(original) {
            latest.insert(result, draft.add(ty.clone(), Op::Phi(vec![(entry[&result].clone(), ways.guard)])));
        }
        let first = latest[&self.counter].clone();
        for round in 0..ROUNDS {
            latest = self.round(&mut draft, original, latest, (&first, round));
        }
        let again = Op::Compare(Compare::Ne, latest[&self.counter].clone(), stop);
        let again = draft.add(Type::Int(1), again);
        let after = phis(original).map(|(result, ..)| latest[&result].clone());
        let mut main = draft.block(Terminator::Branch(again, ways.main, self.block));
        for (instruction, after) in main.instructions.iter_mut().zip(after) {
            if let Op::Phi(incoming) = &mut instruction.op {
                incoming.push((after, ways.main));
            }
        }
        (main, latest)
    }

    /// Adds one round with these values of the phis, `rounds` rounds after `first`. The result is the values for the
    /// next round.
    fn round(
        &self,
        draft: &mut Draft,
        original: &Block,
        phi_values: Values,
        (first, rounds): (&Operand, u128),
    ) -> Values {
        let mut values = phi_values;
        let renamed = |operand: &mut Operand, values: &Values| {
            if let Operand::Value(value) = operand
                && let Some(now) = values.get(value)
            {
                *operand = now.clone();
            }
        };
        for instruction in original.instructions.iter().filter(|i| !matches!(i.op, Op::Phi(_))) {
            let mut op = instruction.op.clone();
            self.count_in_bytes(&mut op, first, rounds);
            op.operands_mut().for_each(|operand| renamed(operand, &values));
            match instruction.result {
                Some(result) => {
                    let copy = draft.add(instruction.ty.clone(), op);
                    values.insert(result, copy);
                }
                None => draft.add_effect(instruction, op),
            }
        }
        let next = phis(original).filter_map(|(result, _, incoming)| {
            let mut operand = incoming.iter().find(|(_, from)| *from == self.block)?.0.clone();
            renamed(&mut operand, &values);
            Some((result, operand))
        });
        next.collect()
    }

    /// Addresses in all rounds are based on the first counter, so that the distances between them are visible.
    fn count_in_bytes(&self, op: &mut Op, first: &Operand, rounds: u128) {
        let Op::Address { offset, terms, .. } = op else { return };
        // A narrower counter may wrap around to zero.
        for (index, scale) in terms.iter_mut().filter(|_| self.bits == 64) {
            if *index == Operand::Value(self.counter) {
                *index = first.clone();
                *offset = offset.wrapping_add(scale.wrapping_mul(rounds as i64));
            }
        }
    }
}

/// The values of the loop in one of its rounds.
type Values = HashMap<ValueId, Operand>;

/// The new blocks.
struct Ways {
    guard: BlockId,
    main: BlockId,
}

/// A block under construction.
struct Draft<'a> {
    body: &'a mut Body,
    instructions: Vec<Instruction>,
}

impl Draft<'_> {
    fn add(&mut self, ty: Type, op: Op) -> Operand {
        let (instruction, result) = self.body.computing(ty, op, None);
        self.instructions.push(instruction);
        result
    }

    fn add_effect(&mut self, original: &Instruction, op: Op) {
        self.instructions.push(Instruction { op, ..original.clone() });
    }

    fn block(self, terminator: Terminator) -> Block {
        Block { instructions: self.instructions, terminator, place: None, comment: String::new() }
    }
}

/// The phis of a block: result, type and inputs.
fn phis(block: &Block) -> impl Iterator<Item = (ValueId, &Type, &[(Operand, BlockId)])> {
    block.instructions.iter().map_while(|instruction| match (&instruction.op, instruction.result) {
        (Op::Phi(incoming), Some(result)) => Some((result, &instruction.ty, &incoming[..])),
        _ => None,
    })
}

/// The number of rounds of a loop that always starts at the same number.
fn known_rounds(incoming: &[(Operand, BlockId)], id: BlockId, bound: &Operand, bits: u32) -> Option<u128> {
    let Operand::Const(Const::Int { value: bound, .. }) = bound else { return None };
    let mut outside = incoming.iter().filter(|(_, from)| *from != id);
    let (start, _) = outside.next()?;
    let Operand::Const(Const::Int { value: first, .. }) = start else { return None };
    let rounds = bound.checked_sub(*first).filter(|rounds| *rounds > 0)?;
    // A signed comparison would not count up from a positive number to a negative one.
    let is_one_sign = (bound ^ first) >> (bits - 1) == 0;
    (is_one_sign && outside.all(|(other, _)| other == start)).then_some(rounds)
}
