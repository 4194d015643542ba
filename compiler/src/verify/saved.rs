//! Every register is written before it is read: in the same function, or before its segment, which finds it saved. A
//! forward analysis, and so independent of `liveness`, which goes backwards.

use std::collections::{HashMap, HashSet};

use super::spot::{At, Broken, Spot};
use crate::liveness::{self, Access};
use crate::mir::*;
use crate::segments::{Cut, Segment};

pub fn verify(cut: &Cut) -> Result<(), Broken> {
    let code = &cut.code;
    if code.native {
        let all: Vec<BlockId> = (0..code.blocks.len() as u32).map(BlockId).collect();
        return Function { cut, blocks: &all, segment: None }.verify(&code.parameters);
    }
    for segment in &cut.segments {
        slots(cut, segment)?;
        let saved = &cut.live[&segment.entry];
        Function { cut, blocks: &segment.blocks, segment: Some(segment) }.verify(saved)?;
    }
    Ok(())
}

/// Each register that is saved for a segment has a slot of its own in the frame. Parameters may lie where variables do,
/// until the procedure begins.
fn slots(cut: &Cut, segment: &Segment) -> Result<(), Broken> {
    let code = &cut.code;
    let spot = Spot { code, block: segment.entry, at: At::Beginning };
    let is_entry = segment.entry == BlockId(0);
    let saved = &cut.live[&segment.entry];
    let unwritten = saved.iter().find(|reg| is_entry && !code.parameters.contains(reg));
    if let Some(reg) = unwritten {
        return spot.broken(format!("{reg} is read before it is written"));
    }
    if let (true, Some(reg)) = (code.finally == Some(segment.entry), saved.first()) {
        return spot.broken(format!("{reg} is needed where FINALLY begins"));
    }
    let mut taken: HashSet<u32> = match is_entry {
        true => HashSet::new(),
        false => code.owned.iter().map(|slot| slot.offset).collect(),
    };
    for reg in saved {
        let Some(&slot) = cut.slots.get(reg) else { return spot.broken(format!("{reg} is saved nowhere")) };
        let fits = slot % 8 == 0 && slot + 8 <= code.frame_size;
        spot.require(fits, || format!("{reg} is saved outside the frame"))?;
        spot.require(taken.insert(slot), || format!("{reg} is saved where something else lies"))?;
    }
    Ok(())
}

/// The blocks of one function, the first of which is its entry.
struct Function<'c> {
    cut: &'c Cut,
    blocks: &'c [BlockId],
    /// None if it runs on the processor's stack.
    segment: Option<&'c Segment>,
}

/// A set of registers, each by its number in a function.
type Set = Vec<u64>;

impl Function<'_> {
    fn verify(&self, at_entry: &[Reg]) -> Result<(), Broken> {
        let numbers = self.numbers();
        let mut first = vec![0; numbers.len().div_ceil(64)];
        at_entry.iter().filter_map(|reg| numbers.get(reg)).for_each(|&number| add(&mut first, number));
        let known = self.known(&numbers, first);
        for (id, known) in self.blocks.iter().zip(known) {
            if let Some(known) = known {
                self.block(*id, &numbers, known, at_entry)?;
            }
        }
        Ok(())
    }

    /// The registers that the function mentions, numbered.
    fn numbers(&self) -> HashMap<Reg, usize> {
        let mut numbers = HashMap::new();
        for &id in self.blocks {
            liveness::visit(self.cut.code.block(id), &mut |reg, _| {
                let next = numbers.len();
                numbers.entry(reg).or_insert(next);
            });
        }
        numbers
    }

    /// For each block, what has been written on every way to it; none if there is no way.
    fn known(&self, numbers: &HashMap<Reg, usize>, first: Set) -> Vec<Option<Set>> {
        let index: HashMap<BlockId, usize> =
            self.blocks.iter().enumerate().map(|(index, &id)| (id, index)).collect();
        let mut known: Vec<Option<Set>> = vec![None; self.blocks.len()];
        known[0] = Some(first);
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let block = self.cut.code.block(self.blocks[at]);
            let mut after = known[at].clone().expect("only blocks with a way to them are open");
            liveness::visit(block, &mut |reg, access| {
                if access == Access::Write {
                    add(&mut after, numbers[&reg]);
                }
            });
            for to in block.goes_to().filter(|&to| !self.leaves_at(to)) {
                let next = index[&to];
                let changed = match &mut known[next] {
                    Some(before) => narrow(before, &after),
                    none => {
                        *none = Some(after.clone());
                        true
                    }
                };
                if changed {
                    open.push(next);
                }
            }
        }
        known
    }

    /// Whether control that goes there leaves this function.
    fn leaves_at(&self, to: BlockId) -> bool {
        self.segment
            .is_some_and(|segment| self.cut.leaves(segment.entry, to) && !segment.inlined.contains(&to))
    }

    /// Checks that a block has all registers that it reads, and those that the segments after it need.
    fn block(
        &self,
        id: BlockId,
        numbers: &HashMap<Reg, usize>,
        mut known: Set,
        at_entry: &[Reg],
    ) -> Result<(), Broken> {
        let block = self.cut.code.block(id);
        let spot = Spot { code: &self.cut.code, block: id, at: At::Beginning };
        let is_known = |known: &Set, reg: &Reg| match numbers.get(reg) {
            Some(&number) => has(known, number),
            None => at_entry.binary_search(reg).is_ok(),
        };
        let saved = |known: &Set, to: BlockId, spot: Spot| {
            let missing =
                self.cut.live.get(&to).and_then(|live| live.iter().find(|reg| !is_known(known, reg)));
            match missing {
                Some(reg) => spot.broken(format!("{reg} is needed in {to} and was not written")),
                None => Ok(()),
            }
        };
        // Where it may have to wait or give way, its own segment goes on; so does the condition.
        saved(&known, id, spot)?;
        if let Some(condition) = block.condition() {
            saved(&known, condition, spot.at(At::SuspensionPoint))?;
        }
        let mut unknown = None;
        liveness::visit(block, &mut |reg, access| match access {
            Access::Read if !is_known(&known, &reg) => unknown = unknown.or(Some(reg)),
            Access::Read => {}
            Access::Write => add(&mut known, numbers[&reg]),
        });
        if let Some(reg) = unknown {
            return spot.broken(format!("{reg} is read before it is written"));
        }
        let others = block.goes_to().filter(|&to| self.leaves_at(to));
        let returned = match block.end {
            Terminator::CallProcedure { then, .. } => Some(then),
            _ => None,
        };
        others.chain(returned).try_for_each(|to| saved(&known, to, spot.at(At::End)))
    }
}

fn add(set: &mut Set, number: usize) {
    set[number / 64] |= 1 << (number % 64);
}

fn has(set: &Set, number: usize) -> bool {
    set[number / 64] & 1 << (number % 64) != 0
}

/// Intersects a set with another one; gives whether it has changed.
fn narrow(set: &mut Set, other: &Set) -> bool {
    let mut changed = false;
    for (word, &other) in set.iter_mut().zip(other) {
        changed |= *word & !other != 0;
        *word &= other;
    }
    changed
}
