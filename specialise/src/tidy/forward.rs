//! Forwards values within each block, from top to bottom: folds address computations, replaces repeated computations
//! and loads by their first result, and a load from stored bytes by the stored value.

use super::calls::{Known, effects, known_call};
use super::hash::{Mixer, Table};
use super::memory::{Addresses, Memory, Place};
use super::roots::Roots;
use super::surroundings::Surroundings;
use crate::ir::{Access, Body, Const, Effects, Instruction, Op, Operand, Type, ValueId, signed};
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// Replacements for values that need not be computed.
pub(crate) struct Replaced {
    /// The replacement of each value.
    by: Vec<Option<Operand>>,
}

impl Replaced {
    /// No replacements yet.
    pub(crate) fn new(body: &Body) -> Replaced {
        Replaced { by: vec![None; body.types.len()] }
    }

    /// Records the replacement of a value.
    pub(crate) fn replace(&mut self, value: ValueId, by: Operand) {
        self.by[value.0 as usize] = Some(by);
    }

    /// Replaces an operand, if there is a replacement.
    pub(crate) fn resolve(&mut self, operand: &mut Operand) {
        let Operand::Value(first) = *operand else { return };
        let mut last = first;
        let mut steps = self.by.len();
        let end = loop {
            match &self.by[last.0 as usize] {
                Some(Operand::Value(next)) if steps > 0 => last = *next,
                Some(Operand::Const(constant)) => break Operand::Const(constant.clone()),
                _ => break Operand::Value(last),
            }
            steps -= 1;
        };
        if last != first || matches!(end, Operand::Const(_)) {
            self.by[first.0 as usize] = Some(end.clone());
            *operand = end;
        }
    }

    /// Replaces all operands of a function.
    pub(crate) fn apply(mut self, body: &mut Body) {
        if self.by.iter().all(Option::is_none) {
            return;
        }
        for block in &mut body.blocks {
            for instruction in &mut block.instructions {
                instruction.op.operands_mut().for_each(|operand| self.resolve(operand));
            }
            if let Some(operand) = block.terminator.operand_mut() {
                self.resolve(operand);
            }
        }
    }
}

/// Forwards the values of a whole function.
pub(crate) fn forward(body: &mut Body, around: &Surroundings) {
    let roots = Roots::new(body, around);
    let mut pass = Forward {
        around,
        roots,
        replaced: Replaced::new(body),
        addresses: Addresses::default(),
        computed: Table::default(),
        memory: Memory::default(),
    };
    let mut blocks = std::mem::take(&mut body.blocks);
    for block in &mut blocks {
        pass.computed = Table::default();
        pass.memory = Memory::default();
        let old = std::mem::take(&mut block.instructions);
        block.instructions.reserve(old.len());
        for mut instruction in old {
            instruction.op.operands_mut().for_each(|operand| pass.replaced.resolve(operand));
            if pass.keep(&mut instruction, body, &block.instructions) {
                if let Some(key) = pass.key(&instruction) {
                    pass.computed.insert(key, block.instructions.len());
                }
                block.instructions.push(instruction);
            }
        }
    }
    body.blocks = blocks;
    pass.replaced.apply(body);
}

/// The facts known at a point of a block.
struct Forward<'a> {
    /// The module.
    around: &'a Surroundings<'a>,
    /// The objects that pointers point into.
    roots: Roots,
    /// Values that are replaced by others.
    replaced: Replaced,
    /// All addresses so far.
    addresses: Addresses,
    /// The position in the new block of each computation, by hash.
    computed: Table<u64, usize>,
    /// The operands whose values are in memory.
    memory: Memory<Operand>,
}

impl Forward<'_> {
    /// Simplifies an instruction. The result is false if another operand replaces its result.
    fn keep(&mut self, instruction: &mut Instruction, body: &Body, before: &[Instruction]) -> bool {
        if let Some(same) = self.simplified(instruction) {
            return self.stand_for(instruction.result, same);
        }
        let same = self
            .key(instruction)
            .and_then(|key| self.computed.get(&key))
            .map(|at| &before[*at])
            .filter(|first| first.ty == instruction.ty && first.op == instruction.op);
        if let Some(Instruction { result: Some(first), .. }) = same {
            return self.stand_for(instruction.result, Operand::Value(*first));
        }
        self.addresses.note(instruction.result, &instruction.op);
        self.touch(instruction, body)
    }

    /// Replaces a result. The answer is false: the instruction need not be kept.
    fn stand_for(&mut self, result: Option<ValueId>, by: Operand) -> bool {
        if let Some(result) = result {
            self.replaced.replace(result, by);
        }
        false
    }

    /// Folds addresses. The result is the operand to which an instruction reduces, if it does.
    fn simplified(&mut self, instruction: &mut Instruction) -> Option<Operand> {
        match &mut instruction.op {
            Op::Address { base, offset, terms } => {
                terms.retain(|(index, scale)| match constant_index(index) {
                    Some(index) => {
                        *offset = offset.wrapping_add(index.wrapping_mul(*scale));
                        false
                    }
                    None => *scale != 0,
                });
                let (inner, start, inner_terms) = self.addresses.parts(base);
                // Terms of two addresses are not combined, because a chain of addresses would grow with each link.
                if terms.is_empty() || inner_terms.is_empty() {
                    *base = inner;
                    *offset = offset.wrapping_add(start);
                    terms.extend(inner_terms.iter().cloned());
                }
                match base {
                    _ if !terms.is_empty() => None,
                    base if *offset == 0 => Some(base.clone()),
                    Operand::Const(Const::Global(global, start)) => {
                        Some(Operand::Const(Const::Global(*global, start.wrapping_add(*offset))))
                    }
                    _ => None,
                }
            }
            Op::Select(condition, then, other) => match condition.known_int() {
                Some(0) => Some(other.clone()),
                Some(_) => Some(then.clone()),
                None if then == other => Some(then.clone()),
                None => None,
            },
            Op::Freeze(Operand::Const(constant @ (Const::Int { .. } | Const::Null | Const::Global(..)))) => {
                Some(Operand::Const(constant.clone()))
            }
            _ => None,
        }
    }

    /// Updates the facts about memory, and uses them. The result is false if the instruction is unnecessary.
    fn touch(&mut self, instruction: &Instruction, body: &Body) -> bool {
        match &instruction.op {
            Op::Load { from, access: Access::Plain, .. } if instruction.ty.is_scalar() => {
                let place = self.addresses.access(from, &instruction.ty, &self.roots);
                if let Some(held) = self.memory.at(&place)
                    && body.type_of(held) == instruction.ty
                {
                    let held = held.clone();
                    return self.stand_for(instruction.result, held);
                }
                if let Some(result) = instruction.result {
                    self.memory.put(&place, Operand::Value(result));
                }
            }
            Op::Load { access: Access::Plain | Access::Volatile, .. } => {}
            Op::Store { value, to, access: access @ (Access::Plain | Access::Volatile), .. } => {
                let ty = body.type_of(value);
                let place = self.addresses.access(to, &ty, &self.roots);
                if *access == Access::Plain && self.memory.at(&place) == Some(value) {
                    return false; // it is in memory already
                }
                self.memory.forget(&place);
                if *access == Access::Plain && ty.is_scalar() && is_whole(&ty) {
                    self.memory.put(&place, value.clone());
                }
            }
            op @ Op::Call { .. } => self.call(op),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::AtomicUpdate(..)
            | Op::CompareExchange(..)
            | Op::Fence => {
                self.memory = Memory::default();
            }
            _ => {}
        }
        true
    }

    /// Forgets facts that a call may change.
    fn call(&mut self, op: &Op) {
        let Op::Call { callee, args, attributes, .. } = op else { return };
        match known_call(self.around.module, op) {
            Some(Known::Copy | Known::Fill) => {
                let place = self.written(&args[0], &args[2]);
                self.memory.forget(&place);
            }
            Some(Known::Free) => {
                let place = self.addresses.place(&args[0], None, &self.roots);
                self.memory.forget(&place);
            }
            Some(Known::Lifetime) => {
                for pointer in args {
                    let place = self.addresses.place(pointer, None, &self.roots);
                    self.memory.forget(&place);
                }
            }
            Some(Known::Pure | Known::Hint | Known::Allocate) => {}
            None => match effects(self.around.module, callee, attributes) {
                Effects::None | Effects::Read | Effects::ReadArguments | Effects::Inaccessible => {}
                Effects::Arguments | Effects::ArgumentsOrInaccessible | Effects::Any => {
                    self.memory.forget_public();
                }
            },
        }
    }

    /// The bytes that a copy or fill writes.
    fn written(&self, to: &Operand, length: &Operand) -> Place {
        let size = length.known_int().and_then(|size| u64::try_from(size).ok());
        self.addresses.place(to, size, &self.roots)
    }

    /// The hash for finding the same computation again; `None` if repeating it could change the result.
    fn key(&self, instruction: &Instruction) -> Option<u64> {
        instruction.result?;
        match &instruction.op {
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Alloca { .. }
            | Op::Phi(_)
            | Op::AtomicUpdate(..)
            | Op::CompareExchange(..)
            | Op::Fence => return None,
            op @ Op::Call { callee, attributes, .. } => {
                let pure = known_call(self.around.module, op) == Some(Known::Pure)
                    || effects(self.around.module, callee, attributes) == Effects::None;
                if !pure {
                    return None;
                }
            }
            _ => {}
        }
        let mut hasher = Mixer::default();
        discriminant(&instruction.op).hash(&mut hasher);
        if let Op::Address { offset, .. } = &instruction.op {
            offset.hash(&mut hasher);
        }
        instruction.op.operands().for_each(|operand| operand.hash(&mut hasher));
        Some(hasher.finish())
    }
}

/// A constant index of an address, sign-extended.
fn constant_index(index: &Operand) -> Option<i64> {
    let Operand::Const(Const::Int { bits, value }) = index else { return None };
    Some(signed(*bits, *value) as i64)
}

/// Whether a store of this type writes only bits of the value, without padding.
fn is_whole(ty: &Type) -> bool {
    ty.bits() == ty.store_size() * 8
}
