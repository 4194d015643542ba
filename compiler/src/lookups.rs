//! Common lookups: an element that has just been found is not looked up again. `IF EXISTS(a[k]) THEN INC(a[k]) END`
//! looks it up once.
//!
//! # Why this is sound
//! Only one way leads from the first lookup to the second, and nothing on it makes, deletes or moves elements, or
//! changes the variables that the keys are read from: instructions on it write other registers and variables, and call
//! nothing but operations on texts. If the first lookup allowed the element to be absent, then a branch on the way has
//! tested that it is there.

use std::collections::{HashMap, HashSet};

use crate::entries;
use crate::liveness::{self, Access};
use crate::mir::*;

/// So many instructions before a lookup are searched for an earlier one.
const LOOKED_AT: usize = 64;

/// Where a variable lies.
type Slot = (Base, i32);

/// Replaces lookups of elements that have just been found by copies.
pub fn reuse(code: &mut Code) {
    let finds: Vec<(BlockId, usize)> = finds(code).collect();
    if finds.len() < 2 {
        return;
    }
    let facts = Facts::of(code);
    let known: Vec<_> = finds
        .iter()
        .filter_map(|&(id, number)| Some((id, number, facts.found_before(code, id, number)?)))
        .collect();
    for (id, number, from) in known {
        let instruction = &mut code.blocks[id.0 as usize].instructions[number];
        if let Inst::Find { to, .. } = *instruction {
            *instruction = Inst::Copy { to, from };
        }
    }
}

fn finds(code: &Code) -> impl Iterator<Item = (BlockId, usize)> {
    code.blocks.iter().enumerate().flat_map(|(index, block)| {
        let numbered = block.instructions.iter().enumerate();
        let finds = numbered.filter(|(_, instruction)| matches!(instruction, Inst::Find { .. }));
        finds.map(move |(number, _)| (BlockId(index as u32), number))
    })
}

/// Facts about the code that replacing lookups does not change.
struct Facts {
    /// For each block, its predecessor, if that is the only way to enter it.
    before: Vec<Option<BlockId>>,
    /// For registers that are written by one instruction: its block and number.
    definitions: HashMap<Reg, (BlockId, usize)>,
    /// Variables whose address is taken anywhere.
    exposed: HashSet<Slot>,
}

/// What happens on the way from one lookup to the other.
#[derive(Default)]
struct Way {
    registers: HashSet<Reg>,
    variables: HashSet<Slot>,
    /// Something is written through an address in a register.
    elsewhere: bool,
    /// Conditions of branches on the way, and their outcomes.
    told: Vec<(Reg, bool)>,
}

impl Facts {
    fn of(code: &Code) -> Facts {
        let mut writes: HashMap<Reg, (usize, Option<(BlockId, usize)>)> = HashMap::new();
        let mut exposed = HashSet::new();
        code.parameters.iter().for_each(|&reg| writes.entry(reg).or_default().0 += 1);
        for (index, block) in code.blocks.iter().enumerate() {
            let mut note = |reg, access, place| {
                if access == Access::Write {
                    let (times, last) = writes.entry(reg).or_default();
                    *times += 1;
                    *last = place;
                }
            };
            if let Some(point) = &block.suspension {
                liveness::visit_suspension(&point.op, &mut |reg, access| note(reg, access, None));
            }
            for (number, instruction) in block.instructions.iter().enumerate() {
                let place = Some((BlockId(index as u32), number));
                liveness::visit_instruction(instruction, &mut |reg, access| note(reg, access, place));
                if let Inst::Address { of, .. } = instruction {
                    exposed.insert((of.base, of.offset));
                }
            }
        }
        let once = writes.into_iter().filter(|(_, (times, _))| *times == 1);
        let definitions = once.filter_map(|(reg, (_, place))| Some((reg, place?))).collect();
        Facts { before: only_ways(code), definitions, exposed }
    }

    fn definition<'c>(&self, code: &'c Code, reg: Reg) -> Option<&'c Inst> {
        let &(id, number) = self.definitions.get(&reg)?;
        Some(&code.block(id).instructions[number])
    }

    /// The register that holds the address of the element that an instruction looks up, if there is one.
    fn found_before(&self, code: &Code, mut id: BlockId, mut number: usize) -> Option<Reg> {
        let Inst::Find { absent, .. } = &code.block(id).instructions[number] else { return None };
        let (wanted, may_be_absent) = ((id, number), *absent == IfAbsent::Null);
        let mut way = Way::default();
        for _ in 0..LOOKED_AT {
            while number == 0 {
                let before = self.before[id.0 as usize]?;
                if let Terminator::Branch { condition, yes, no } = code.block(before).end
                    && yes != no
                {
                    way.told.push((condition, yes == id));
                }
                (id, number) = (before, code.block(before).instructions.len());
            }
            number -= 1;
            let instruction = &code.block(id).instructions[number];
            if let Some((to, absent)) = self.same_element(code, (id, number), wanted, &way) {
                let is_there = absent != IfAbsent::Null || may_be_absent || self.was_there(code, to, &way);
                let stays = self.definitions.contains_key(&to);
                return (is_there && stays).then_some(to);
            }
            if instruction.lets_others_run() || !way.pass(instruction) {
                return None;
            }
        }
        None
    }

    /// The result of the first lookup, if it looks up the same element as the second.
    fn same_element(
        &self,
        code: &Code,
        first: (BlockId, usize),
        second: (BlockId, usize),
        way: &Way,
    ) -> Option<(Reg, IfAbsent)> {
        let [one, other] = [first, second].map(|(id, number)| &code.block(id).instructions[number]);
        let Inst::Find { to, variable, collection, keys, absent, .. } = one else { return None };
        let Inst::Find { variable: v, collection: c, keys: k, .. } = other else { return None };
        let stays = match collection.base {
            Base::Reg(reg) => self.definitions.contains_key(&reg) && !way.registers.contains(&reg),
            _ => true,
        };
        let same = (variable, collection) == (v, c)
            && stays
            && keys.iter().zip(k).all(|(&a, &b)| self.is_same(code, first, a, b, way));
        same.then_some((*to, *absent))
    }

    /// Whether keys of the two lookups have the same value.
    fn is_same(&self, code: &Code, first: (BlockId, usize), a: Reg, b: Reg, way: &Way) -> bool {
        if a == b {
            return !way.registers.contains(&a);
        }
        match (self.definition(code, a), self.definition(code, b)) {
            (Some(Inst::Int(_, a)), Some(Inst::Int(_, b))) => a == b,
            (Some(Inst::Copy { from, .. }), _) if *from == b => {
                self.is_near(code, first, a, |inst| writes(inst, b)) && !way.registers.contains(&b)
            }
            (Some(Inst::Load { from, .. }), Some(Inst::Load { from: other, .. })) => {
                let slot = (from.base, from.offset);
                let is_written = |inst: &Inst| match inst {
                    Inst::Store { to, .. } => (to.base, to.offset) == slot || matches!(to.base, Base::Reg(_)),
                    Inst::Call { .. } | Inst::CallNative { .. } => true,
                    _ => false,
                };
                from == other
                    && self.is_own(code, slot)
                    && way.registers.contains(&b)
                    && !way.variables.contains(&slot)
                    && (slot.0 == Base::Frame || !way.elsewhere)
                    && self.is_near(code, first, a, is_written)
            }
            _ => false,
        }
    }

    /// Whether a key is computed in the same block as it is used, and not changed from there to its use.
    fn is_near(
        &self,
        code: &Code,
        used: (BlockId, usize),
        key: Reg,
        changed: impl Fn(&Inst) -> bool,
    ) -> bool {
        self.definitions.get(&key).is_some_and(|&(id, number)| {
            let between = || &code.block(id).instructions[number + 1..used.1];
            id == used.0 && number < used.1 && !between().iter().any(changed)
        })
    }

    /// Whether only stores to a variable change it, as long as no procedure is called.
    fn is_own(&self, code: &Code, slot: Slot) -> bool {
        match slot.0 {
            Base::Frame => !self.exposed.contains(&slot) && !self.exposed.contains(&(Base::Frame, 0)),
            Base::Process | Base::Instance => code.procedure.is_none() && !self.exposed.contains(&slot),
            Base::Reg(_) => false,
        }
    }

    /// Whether a branch on the way was taken because the address is not 0.
    fn was_there(&self, code: &Code, address: Reg, way: &Way) -> bool {
        let is_zero = |reg| matches!(self.definition(code, reg), Some(Inst::Int(_, 0)));
        way.told.iter().any(|&(condition, held)| match self.definition(code, condition) {
            _ if condition == address => held,
            Some(&Inst::Op { op, a, b, .. }) if a == address && is_zero(b) => {
                op == if held { Op::NotEqual } else { Op::Equal }
            }
            _ => false,
        })
    }
}

impl Way {
    /// Goes back over an instruction; fails if that may change what is found.
    fn pass(&mut self, instruction: &Inst) -> bool {
        match instruction {
            Inst::Store { to: Address { base: Base::Reg(_), .. }, .. } => self.elsewhere = true,
            Inst::Store { to, .. } => _ = self.variables.insert((to.base, to.offset)),
            Inst::Call { entry, .. } if is_harmless(entry) => {}
            Inst::Find { absent: IfAbsent::Make(_), .. }
            | Inst::Call { .. }
            | Inst::CallNative { .. }
            | Inst::Room { .. }
            | Inst::Sent { .. }
            | Inst::Received { .. }
            | Inst::Result(_) => return false,
            _ => {}
        }
        liveness::visit_instruction(instruction, &mut |reg, access| {
            if access == Access::Write {
                self.registers.insert(reg);
            }
        });
        true
    }
}

/// Whether an entry point works on texts only.
fn is_harmless(entry: &EntryPoint) -> bool {
    let harmless = [&entries::TEXT_COPY, &entries::TEXT_DROP, &entries::TEXT_EQUAL, &entries::TEXT_COMPARE];
    harmless.iter().any(|other| other.name == entry.name)
}

fn writes(instruction: &Inst, reg: Reg) -> bool {
    let mut written = false;
    liveness::visit_instruction(instruction, &mut |other, access| {
        written |= access == Access::Write && other == reg;
    });
    written
}

/// For each block, its predecessor, if it has only one, and no segment begins in between.
fn only_ways(code: &Code) -> Vec<Option<BlockId>> {
    let mut before = vec![None; code.blocks.len()];
    let mut ways = vec![0; code.blocks.len()];
    ways[0] = 1;
    for (index, block) in code.blocks.iter().enumerate() {
        for to in block.successors() {
            ways[to.0 as usize] += 1;
        }
        for to in block.goes_to() {
            before[to.0 as usize] = Some(BlockId(index as u32));
        }
    }
    for (index, block) in code.blocks.iter().enumerate() {
        if ways[index] != 1 || block.must_begin() || block.header_of.is_some() {
            before[index] = None;
        }
    }
    before
}
