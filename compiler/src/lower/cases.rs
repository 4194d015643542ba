//! CASE, over a value and over what arrives. A number's branch is found by binary search over the sorted ranges of the
//! labels.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::{Block_, Lower};
use crate::entries;
use crate::mir::{BlockId, Inst, Op, Question, Reg, Symbol, Terminator};

/// Numbers from the first to the last that lead to a block.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) to: BlockId,
}

/// Ranges that are compared one after another.
const FEW: usize = 3;

impl Lower<'_, '_> {
    pub(super) fn case(
        &mut self,
        value: &Expression,
        branches: &[(Vec<Label>, Block_)],
        rest: Option<&Block_>,
    ) {
        let blocks: Vec<BlockId> = branches.iter().map(|_| self.code.new_block()).collect();
        let (otherwise, done) = (self.code.new_block(), self.code.new_block());
        let labels = branches.iter().zip(&blocks);
        let labels = labels.flat_map(|((labels, _), &to)| labels.iter().map(move |label| (label, to)));
        let kept = if value.ty == Type::Text {
            self.choose_by_text(value, labels.collect(), otherwise)
        } else {
            let number = self.value(value);
            let ranges = labels.filter_map(|(label, to)| match *label {
                Label::Numbers(first, last) => Some(Range { first, last, to }),
                Label::Text(_) => None,
            });
            let bounds = match value.ty {
                Type::Boolean => (0, 1),
                Type::Character => (0, 255),
                _ => (i64::MIN, i64::MAX),
            };
            self.choose(number, ranges.collect(), bounds, otherwise);
            None
        };
        let begin = |lower: &mut Self, block| {
            lower.code.start(block);
            if let Some(slot) = kept {
                lower.code.drop_slot(slot);
            }
        };
        for ((_, block), start) in branches.iter().zip(blocks) {
            begin(self, start);
            self.block_of_statements(block);
            self.code.go(done);
        }
        begin(self, otherwise);
        match rest {
            Some(block) => {
                self.block_of_statements(block);
                self.code.go(done);
            }
            None => {
                let location = self.location(value.span);
                self.code.inst(Inst::Fail(Fault::NoBranch, location));
                self.code.end(Terminator::Unreachable);
            }
        }
        self.code.start(done);
    }

    pub(super) fn arrivals(
        &mut self,
        channel: &Channel,
        branches: &[Arrival],
        otherwise: Option<&Block_>,
        span: Span,
    ) {
        let reach = self.reach(channel, span);
        let next = self.ask(reach.clone(), channel, Question::Which, span);
        let blocks: Vec<BlockId> = branches.iter().map(|_| self.code.new_block()).collect();
        let done = self.code.new_block();
        let rest = match otherwise {
            Some(_) => self.code.new_block(),
            None => blocks[Arrival::last_of(branches)],
        };
        let ranges = branches.iter().zip(&blocks).filter(|(_, to)| **to != rest).map(|(branch, &to)| {
            let number = branch.message.map_or(0, |message| message as i64 + 1);
            Range { first: number, last: number, to }
        });
        let messages = self.unit.program.interfaces[channel.interface.index()].messages.len();
        self.choose(next, ranges.collect(), (0, messages as i64), rest);
        for (branch, start) in branches.iter().zip(blocks) {
            self.code.start(start);
            if let Some(message) = branch.message {
                self.receive_over(reach.clone(), channel.interface, message, &branch.targets, branch.span);
            }
            self.block_of_statements(&branch.block);
            self.code.go(done);
        }
        if let Some(block) = otherwise {
            self.code.start(rest);
            self.block_of_statements(block);
            self.code.go(done);
        }
        self.code.start(done);
    }

    /// Goes to the block of a number, which is within these bounds.
    pub(super) fn choose(
        &mut self,
        number: Reg,
        mut ranges: Vec<Range>,
        bounds: (i64, i64),
        otherwise: BlockId,
    ) {
        ranges.sort_by_key(|range| range.first);
        self.decide(number, &ranges, bounds, otherwise);
    }

    fn decide(&mut self, number: Reg, ranges: &[Range], (least, most): (i64, i64), otherwise: BlockId) {
        if ranges.len() <= FEW {
            return self.compare(number, ranges, (least, most), otherwise);
        }
        let (low, high) = ranges.split_at(ranges.len() / 2);
        let middle = high[0].first;
        let (below, above) = (self.code.new_block(), self.code.new_block());
        let first = self.code.int(middle);
        let is_below = self.code.op(Op::Less, number, first);
        self.code.end(Terminator::Branch { condition: is_below, yes: below, no: above });
        self.code.start(below);
        self.decide(number, low, (least, middle - 1), otherwise);
        self.code.start(above);
        self.decide(number, high, (middle, most), otherwise);
    }

    /// Compares with one range after another. What is not in those so far is at least `least`.
    fn compare(&mut self, number: Reg, ranges: &[Range], (mut least, most): (i64, i64), otherwise: BlockId) {
        self.code.cut_if_long();
        for &Range { first, last, to } in ranges {
            if first == least && last == most {
                return self.code.go(to);
            }
            if first == last {
                let label = self.code.int(first);
                let is_it = self.code.op(Op::Equal, number, label);
                self.branch_on(is_it, to);
            } else {
                if first > least {
                    let label = self.code.int(first);
                    let is_below = self.code.op(Op::Less, number, label);
                    self.branch_on(is_below, otherwise);
                    least = first;
                }
                if last == most {
                    return self.code.go(to);
                }
                let label = self.code.int(last);
                let is_within = self.code.op(Op::LessEqual, number, label);
                self.branch_on(is_within, to);
            }
            if first == least {
                least = last + 1;
            }
        }
        self.code.go(otherwise);
    }

    /// Goes on in a new block, unless the condition holds.
    fn branch_on(&mut self, condition: Reg, yes: BlockId) {
        let no = self.code.new_block();
        self.code.end(Terminator::Branch { condition, yes, no });
        self.code.start(no);
    }

    /// Goes to the block of a text. Gives the temporary in which that is kept: each block must drop it.
    fn choose_by_text(
        &mut self,
        value: &Expression,
        labels: Vec<(&Label, BlockId)>,
        otherwise: BlockId,
    ) -> Option<u32> {
        let text = self.text(value);
        for (label, to) in labels {
            let Label::Text(bytes) = label else { continue };
            self.code.cut_if_long();
            let equal = if bytes.is_empty() {
                // The empty text has no block.
                let empty = self.code.int(0);
                self.code.op(Op::Equal, text.reg, empty)
            } else {
                let label = self.code.symbol(Symbol::Text(bytes.clone()));
                self.code.call(&entries::TEXT_EQUAL, vec![text.reg, label])
            };
            self.branch_on(equal, to);
        }
        self.code.go(otherwise);
        if let Some(slot) = text.slot {
            self.code.give_slot(slot, Kind::Text);
        }
        text.slot
    }
}
