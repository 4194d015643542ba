//! Structures the blocks of a function as C statements, along the dominator tree. A block with one predecessor is
//! written where control enters it. A block with several follows the statement of its immediate dominator. Loops become
//! loops. The remaining jumps become `break` or `continue`, or `goto` where neither is possible.

mod switch;

use std::collections::BTreeSet;

use super::expression::{Want, Writer};
use super::statement::{Comparison, Condition, Form, Stmt, ends};
use crate::graph::Graph;
use crate::ir::{Op, Operand, Terminator};

/// The greatest depth of nesting; deeper blocks are reached by a `goto`.
const DEEPEST: usize = 60;

/// Where control goes from the end of the current statements, and which jumps `break` and `continue` can express.
#[derive(Clone, Copy, Default)]
struct Ways {
    next: Option<usize>,
    on_break: Option<usize>,
    on_continue: Option<usize>,
    depth: usize,
}

/// Writes the statements of one function.
pub(super) struct Structure<'w, 'a> {
    writer: &'w mut Writer<'a>,
    graph: &'a Graph,
    /// Blocks that are written after the loop that they leave.
    hoisted: BTreeSet<usize>,
    /// Blocks that are written after their dominator's statements, or in another arm of its `switch`.
    placed: BTreeSet<usize>,
    /// Blocks that are written at the end of the function because the nesting is too deep.
    deferred: Vec<usize>,
    /// The number of blocks that each block dominates, including itself.
    below: Vec<usize>,
    /// Whether a `goto` may lead backwards.
    jumps_back: bool,
}

type Written<T> = Result<T, String>;

/// A block still to be written, and where control goes from its end.
type Rest = Option<(usize, Ways)>;

impl<'w, 'a> Structure<'w, 'a> {
    /// The statements of a function.
    pub fn write(writer: &'w mut Writer<'a>, graph: &'a Graph) -> Written<(Vec<Stmt>, bool)> {
        let mut structure = Structure {
            writer,
            graph,
            hoisted: BTreeSet::new(),
            placed: BTreeSet::new(),
            deferred: Vec::new(),
            below: sizes_below(graph),
            jumps_back: graph.is_irreducible(),
        };
        for &block in &graph.order {
            if graph.entries(block).count() > 1 {
                structure.placed.insert(block);
            }
        }
        let mut list = Vec::new();
        structure.block(0, Ways::default(), &mut list)?;
        while let Some(block) = structure.deferred.pop() {
            structure.block(block, Ways::default(), &mut list)?;
        }
        Ok((list, structure.jumps_back))
    }

    /// Writes a block and all blocks that it dominates.
    fn block(&mut self, block: usize, ways: Ways, list: &mut Vec<Stmt>) -> Written<()> {
        // Blocks at the same depth are written iteratively; recursion is only for nesting.
        let mut rest = Some((block, ways));
        while let Some((block, ways)) = rest {
            list.push(Stmt::Label(block));
            rest = match self.graph.loops.get(&block) {
                Some(members) => self.repetition(block, members, ways, list)?,
                None => self.inside(block, ways, list)?,
            };
        }
        Ok(())
    }

    fn repetition(
        &mut self,
        header: usize,
        members: &BTreeSet<usize>,
        ways: Ways,
        list: &mut Vec<Stmt>,
    ) -> Written<Rest> {
        let exits = self.exits(members);
        self.hoisted.extend(&exits);
        let around = Ways {
            next: Some(header),
            on_break: exits.first().copied().or(ways.next),
            on_continue: Some(header),
            depth: ways.depth + 1,
        };
        let mut body = Vec::new();
        if let Some((rest, ways)) = self.inside(header, around, &mut body)? {
            self.block(rest, ways, &mut body)?;
        }
        list.push(Stmt::Loop { header, form: Form::Forever, body });
        self.sequence(&exits, ways, list)
    }

    /// Writes blocks one after the other, except the last, which is the result.
    fn sequence(&mut self, blocks: &[usize], ways: Ways, list: &mut Vec<Stmt>) -> Written<Rest> {
        for pair in blocks.windows(2) {
            self.block(pair[0], Ways { next: Some(pair[1]), ..ways }, list)?;
        }
        Ok(blocks.last().map(|&last| (last, ways)))
    }

    /// The blocks outside a loop that its blocks dominate and that are written after it.
    fn exits(&self, members: &BTreeSet<usize>) -> Vec<usize> {
        let mut candidates: Vec<usize> = members
            .iter()
            .flat_map(|&member| self.graph.children[member].iter().copied())
            .filter(|child| !members.contains(child) && !self.hoisted.contains(child))
            .collect();
        candidates.sort_by_key(|&block| self.graph.position[block]);
        let merges: Vec<usize> =
            candidates.iter().copied().filter(|block| self.placed.contains(block)).collect();
        if !merges.is_empty() {
            return merges;
        }
        // Of several exits, one is written after the loop: that which dominates the most blocks, or the last of these.
        candidates.into_iter().max_by_key(|&block| self.below[block]).into_iter().collect()
    }

    /// Writes a block's own statements and its end. The result is the block to be written after them.
    fn inside(&mut self, block: usize, ways: Ways, list: &mut Vec<Stmt>) -> Written<Rest> {
        let body = self.writer.body;
        let behind: Vec<usize> = self.graph.children[block]
            .iter()
            .copied()
            .filter(|child| self.placed.contains(child) && !self.hoisted.contains(child))
            .collect();
        let (behind, chained) = match &body.blocks[block].terminator {
            Terminator::Switch(..) => self.chains(&self.graph.successors[block], behind),
            _ => (behind, Vec::new()),
        };
        let comment = &body.blocks[block].comment;
        if !comment.is_empty() {
            list.push(Stmt::Comment(comment.clone()));
        }
        for &at in &self.writer.plan.order[block] {
            self.writer.statement(block, at, list)?;
        }
        let own = Ways { next: behind.first().copied().or(ways.next), ..ways };
        let rest = self.terminator(block, own, &chained, list)?;
        if behind.is_empty() {
            return Ok(rest);
        }
        if let Some((rest, ways)) = rest {
            self.block(rest, ways, list)?;
        }
        self.sequence(&behind, ways, list)
    }

    fn is_written_at_its_edge(&self, from: usize, to: usize) -> bool {
        self.graph.dominator[to] == from
            && to != from
            && !self.placed.contains(&to)
            && !self.hoisted.contains(&to)
    }

    fn terminator(
        &mut self,
        block: usize,
        ways: Ways,
        chained: &[(usize, usize)],
        list: &mut Vec<Stmt>,
    ) -> Written<Rest> {
        let body = self.writer.body;
        match &body.blocks[block].terminator {
            Terminator::Return(operand) => {
                let value = self.writer.returned(operand.as_ref())?;
                list.push(Stmt::Return(value));
            }
            Terminator::Unreachable => list.push(Stmt::Unreachable),
            Terminator::Jump(to) => return self.edge(block, to.0 as usize, ways, list),
            Terminator::Branch(_, yes, no) if yes == no => {
                return self.edge(block, yes.0 as usize, ways, list);
            }
            Terminator::Branch(condition, yes, no) => {
                let condition = self.condition(condition)?;
                return self.choice(block, condition, (yes.0 as usize, no.0 as usize), ways, list);
            }
            Terminator::Switch(on, default, cases) => {
                let cases: Vec<(u128, usize)> =
                    cases.iter().map(|(value, to)| (*value, to.0 as usize)).collect();
                self.switch(block, (on, default.0 as usize, &cases), ways, chained, list)?;
            }
        }
        Ok(None)
    }

    /// Writes an `if`, the smaller side first: if that side leaves, the other need not be nested.
    fn choice(
        &mut self,
        block: usize,
        condition: Condition,
        (yes, no): (usize, usize),
        ways: Ways,
        list: &mut Vec<Stmt>,
    ) -> Written<Rest> {
        let weight = |to: usize| if self.is_written_at_its_edge(block, to) { self.below[to] } else { 0 };
        let deeper = Ways { depth: ways.depth + 1, ..ways };
        let (condition, first, second) = match weight(no) < weight(yes) {
            true => (condition.not(), no, yes),
            false => (condition, yes, no),
        };
        let (mut then, mut otherwise) = (Vec::new(), Vec::new());
        self.whole_edge(block, first, deeper, &mut then)?;
        if ends(&then) {
            list.push(Stmt::If { condition, then, otherwise });
            return self.edge(block, second, ways, list);
        }
        self.whole_edge(block, second, deeper, &mut otherwise)?;
        let (condition, then, otherwise) = match (then.is_empty(), ends(&otherwise)) {
            (true, _) if otherwise.is_empty() => return Ok(None),
            (true, _) | (_, true) => (condition.not(), otherwise, then),
            _ if first == no => (condition.not(), otherwise, then),
            _ => (condition, then, otherwise),
        };
        if ends(&then) {
            list.push(Stmt::If { condition, then, otherwise: Vec::new() });
            list.extend(otherwise);
        } else {
            list.push(Stmt::If { condition, then, otherwise });
        }
        Ok(None)
    }

    /// A condition and its negation.
    fn condition(&mut self, operand: &Operand) -> Written<Condition> {
        let yes = self.writer.expr(operand, Want::Number)?;
        let no = self.writer.negated(operand)?;
        Ok(Condition { yes, no, compared: self.comparison(operand) })
    }

    /// The comparison that defines an operand, if it is written as a comparison.
    fn comparison(&self, operand: &Operand) -> Option<Comparison> {
        let Writer { plan, body, variables, .. } = &*self.writer;
        let Operand::Value(value) = operand else { return None };
        let Some(Op::Compare(compare, left, right)) = plan.op(body, *value) else { return None };
        if !plan.folded[value.0 as usize] {
            return None;
        }
        let variable = match left {
            Operand::Value(left) if !plan.folded[left.0 as usize] => Some(variables.of(left.0 as usize)),
            _ => None,
        };
        Some(Comparison { compare: *compare, left: left.clone(), right: right.clone(), variable })
    }

    /// Writes the edge between two blocks, and the target if this is the only edge to it.
    fn whole_edge(&mut self, from: usize, to: usize, ways: Ways, list: &mut Vec<Stmt>) -> Written<()> {
        match self.edge(from, to, ways, list)? {
            Some((rest, ways)) => self.block(rest, ways, list),
            None => Ok(()),
        }
    }

    /// Writes the edge between two blocks. The result is the target if this is the only edge to it.
    fn edge(&mut self, from: usize, to: usize, ways: Ways, list: &mut Vec<Stmt>) -> Written<Rest> {
        if self.is_written_at_its_edge(from, to) {
            list.extend(self.writer.moves(from, to)?);
            if ways.depth < DEEPEST {
                return Ok(Some((to, ways)));
            }
            self.deferred.push(to);
            self.jumps_back = true;
            list.push(Stmt::Goto(to));
            return Ok(None);
        }
        let is_near = ways.next == Some(to) || ways.on_break == Some(to) || ways.on_continue == Some(to);
        if !is_near && let Some(value) = self.writer.returned_through(from, to)? {
            list.push(Stmt::Return(value));
            return Ok(None);
        }
        list.extend(self.writer.moves(from, to)?);
        if ways.next != Some(to) {
            list.push(match to {
                _ if ways.on_break == Some(to) => Stmt::Break,
                _ if ways.on_continue == Some(to) => Stmt::Continue,
                _ => Stmt::Goto(to),
            });
        }
        Ok(None)
    }
}

/// The number of blocks that each block dominates, including itself.
fn sizes_below(graph: &Graph) -> Vec<usize> {
    let mut sizes = vec![1; graph.position.len()];
    for &block in graph.order.iter().skip(1).rev() {
        sizes[graph.dominator[block]] += sizes[block];
    }
    sizes
}
