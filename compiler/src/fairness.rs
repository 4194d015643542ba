//! Loops that need no check of the time slice, because a process in them waits again and again (*structured concurrent
//! programs*, section 3.2).
//!
//! # Why this is sound
//! A communication buffers one message, in either direction, or c where its interface says so. A sent message is gone
//! when the peer has received it, and a received one was sent by the peer. So among 2c + 1 operations of a process on
//! one communication there is one before which it has waited. A loop that sends or receives in every iteration, over
//! finitely many communications, therefore waits after finitely many iterations: two, or 2049 with the largest buffer.
//! Each is short, for loops in it and calls that take long look at the time slice themselves. A message to a peer that
//! has closed is dropped without waiting: there the runtime checks the time slice (`ds_send`). Tests, locks and
//! conditions don't count, since they may succeed for ever. A loop that writes to standard output is checked all the
//! same: while nobody reads the output, it is to wait there.

use std::collections::{HashMap, HashSet};

use crate::entries;
use crate::liveness::{self, Access};
use crate::mir::*;
use crate::ranges::Ranges;

/// For each loop, whether it waits after finitely many iterations.
pub fn loops_that_give_way(code: &Code, ranges: &Ranges) -> Vec<bool> {
    (0..code.loops.len())
        .map(|number| {
            if code.loops[number].writes {
                return false;
            }
            let body = Body::new(code, number);
            !body.comes_round(|block| body.gives_way(ranges, block))
        })
        .collect()
}

/// One loop.
struct Body<'c> {
    code: &'c Code,
    number: usize,
    /// Nothing in it connects, makes, moves or deletes components.
    is_calm: bool,
    /// Registers that are written in it, and whether each is always loaded from a fixed place.
    fixed: HashMap<Reg, bool>,
}

impl<'c> Body<'c> {
    fn new(code: &'c Code, number: usize) -> Body<'c> {
        let mut body = Body { code, number, is_calm: true, fixed: HashMap::new() };
        let mut seen = HashSet::from([code.loops[number].header]);
        let mut open = vec![code.loops[number].header];
        while let Some(id) = open.pop() {
            let block = code.block(id);
            body.is_calm &= is_calm(block);
            body.note_writes(block);
            let inside = block.successors().into_iter().filter(|&next| body.holds(next));
            open.extend(inside.filter(|&next| seen.insert(next)));
        }
        body
    }

    fn holds(&self, id: BlockId) -> bool {
        self.code.is_inside(self.code.block(id).in_loop, self.number)
    }

    fn note_writes(&mut self, block: &Block) {
        for instruction in &block.instructions {
            let is_fixed =
                matches!(instruction, Inst::Load { from, .. } if !matches!(from.base, Base::Reg(_)));
            liveness::visit_instruction(instruction, &mut |reg, access| {
                if access == Access::Write {
                    *self.fixed.entry(reg).or_insert(true) &= is_fixed;
                }
            });
        }
    }

    /// Whether a process that comes there often must wait.
    fn gives_way(&self, ranges: &Ranges, id: BlockId) -> bool {
        match &self.code.block(id).suspension {
            Some(SuspensionPoint {
                op: SuspensionOp::Send { reach, .. } | SuspensionOp::Receive { reach, .. },
                ..
            }) => match reach {
                Reach::Service => true,
                Reach::Required(_) => self.is_calm,
                Reach::Held { instance, .. } => self.is_calm && *self.fixed.get(instance).unwrap_or(&true),
                Reach::Indexed { .. } | Reach::HeldSlot { .. } => false,
            },
            Some(SuspensionPoint { op: SuspensionOp::Call { entry, arguments, .. }, .. }) => {
                let time = || ranges.of(self.code, arguments[0], id);
                *entry == &entries::PASSIVATE && time().is_some_and(|(least, _)| least > 0)
            }
            _ => false,
        }
    }

    /// Whether the loop's header can be reached again without passing such a block. The outcome of the last branch is
    /// remembered for its register.
    fn comes_round(&self, is_passed: impl Fn(BlockId) -> bool) -> bool {
        let header = self.code.loops[self.number].header;
        let mut seen = HashSet::new();
        let mut open = vec![(header, None)];
        while let Some((id, known)) = open.pop() {
            if is_passed(id) {
                continue;
            }
            let block = self.code.block(id);
            let known = known.filter(|&(reg, _)| !writes(block, reg));
            let next = match block.end {
                Terminator::Branch { condition: reg, yes, no } => match known {
                    Some((same, true)) if same == reg => vec![(yes, known)],
                    Some((same, false)) if same == reg => vec![(no, known)],
                    _ => vec![(yes, Some((reg, true))), (no, Some((reg, false)))],
                },
                _ => block.successors().into_iter().map(|next| (next, known)).collect(),
            };
            for (next, known) in next.into_iter().filter(|&(next, _)| self.holds(next)) {
                if next == header {
                    return true;
                }
                if seen.insert((next, known)) {
                    open.push((next, known));
                }
            }
        }
        false
    }
}

fn is_calm(block: &Block) -> bool {
    let calls = matches!(block.end, Terminator::CallProcedure { .. });
    let changes = match &block.suspension {
        Some(SuspensionPoint { op: SuspensionOp::Call { entry, .. }, .. }) => *entry != &entries::PASSIVATE,
        _ => false,
    };
    !calls && !changes
}

fn writes(block: &Block, reg: Reg) -> bool {
    let mut written = false;
    liveness::visit(block, &mut |other, access| written |= access == Access::Write && other == reg);
    written
}
