//! `switch` statements, with arms that fall through.

use super::{Structure, Ways, Written};
use crate::c::expression::Want;
use crate::c::statement::{Arm, Stmt, ends};
use crate::c::types::number;
use crate::ir::{Op, Operand};

impl Structure<'_, '_> {
    /// The blocks to be written after a `switch`, and the pairs of arms in which the first falls through into the
    /// second.
    pub(super) fn chains(&self, targets: &[usize], behind: Vec<usize>) -> (Vec<usize>, Vec<(usize, usize)>) {
        let mut chained: Vec<(usize, usize)> = Vec::new();
        let mut left = Vec::new();
        // The last block is left out: the arms meet there.
        for (at, &block) in behind.iter().enumerate() {
            let mut from = targets.iter().copied().filter(|&arm| {
                arm != block && self.graph.entries(block).any(|entry| self.graph.dominates(arm, entry))
            });
            let sets_nothing = !matches!(
                self.writer.body.blocks[block].instructions.first(),
                Some(first) if matches!(first.op, Op::Phi(_))
            );
            let first =
                from.next().filter(|_| sets_nothing && targets.contains(&block) && at + 1 < behind.len());
            let others = from.any(|arm| Some(arm) != first);
            match first {
                Some(arm)
                    if !others
                        && chained.iter().all(|(one, _)| *one != arm)
                        && self.may_chain(arm, &left) =>
                {
                    chained.push((arm, block));
                }
                _ => left.push(block),
            }
        }
        (left, chained)
    }

    pub(super) fn switch(
        &mut self,
        block: usize,
        (on, default, cases): (&Operand, usize, &[(u128, usize)]),
        ways: Ways,
        chained: &[(usize, usize)],
        list: &mut Vec<Stmt>,
    ) -> Written<()> {
        let bits = self.writer.body.type_of(on).bits() as u32;
        let on = self.writer.expr(on, Want::Number)?;
        let mut order: Vec<usize> = Vec::new();
        for target in cases.iter().map(|(_, to)| *to).chain([default]) {
            let is_second = chained.iter().any(|(_, second)| *second == target);
            if is_second || order.contains(&target) {
                continue;
            }
            order.push(target);
            while let Some((_, second)) = chained.iter().find(|(first, _)| order.last() == Some(first)) {
                order.push(*second);
            }
        }
        let mut arms = Vec::new();
        for target in order {
            let second = chained.iter().find(|(first, _)| *first == target).map(|(_, second)| *second);
            let next = second.or(ways.next);
            let inside =
                Ways { next, on_break: ways.next, on_continue: ways.on_continue, depth: ways.depth + 1 };
            let mut body = Vec::new();
            if chained.iter().any(|(_, second)| *second == target) {
                self.block(target, inside, &mut body)?;
            } else {
                self.whole_edge(block, target, inside, &mut body)?;
            }
            let values: Vec<String> =
                cases.iter().filter(|(_, to)| *to == target).map(|(value, _)| number(bits, *value)).collect();
            let is_default = target == default;
            if is_default && values.is_empty() && body.is_empty() && second.is_none() {
                continue;
            }
            let falls_through = second.is_some() && !ends(&body);
            arms.push(Arm { values, is_default, body, falls_through });
        }
        list.push(Stmt::Switch { on, arms });
        Ok(())
    }

    /// Whether an arm is written inside the `switch`.
    fn may_chain(&self, arm: usize, behind: &[usize]) -> bool {
        !behind.contains(&arm) && !self.hoisted.contains(&arm)
    }
}
