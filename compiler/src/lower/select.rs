//! SELECT: waiting for the first of several things.

use drystone_language::program::{Alternative, Arrival, Binary, Expression, ExpressionKind, Pattern, Type};
use drystone_language::source::Span;

use super::Lower;
use super::cases::Range;
use super::communication::arrival;
use crate::entries;
use crate::mir::{Op, Question, Reach, Reg, RegType, Source, SuspensionOp, Terminator};

impl Lower<'_, '_> {
    pub(super) fn select(&mut self, alternatives: &[Alternative], span: Span) {
        let limit = alternatives.iter().find_map(|it| match it {
            Alternative::After(limit, _) => Some(limit),
            _ => None,
        });
        let until = limit.map(|limit| {
            let limit = self.value(limit);
            self.time_limit(limit, span)
        });
        let (first, reaches) = match condition_of(alternatives) {
            None => self.first_of(alternatives, until, false, span),
            Some(condition) => self.first_or_condition(alternatives, until, &condition, span),
        };
        let blocks: Vec<_> = alternatives.iter().map(|_| self.code.new_block()).collect();
        let done = self.code.new_block();
        // The time comes behind all others.
        let (times, sources): (Vec<_>, Vec<_>) = alternatives
            .iter()
            .zip(&blocks)
            .map(|(it, &block)| (matches!(it, Alternative::After(..)), block))
            .partition(|(is_time, _)| *is_time);
        let in_order = sources.into_iter().chain(times).map(|(_, block)| block);
        let ranges: Vec<Range> =
            in_order.zip(0..).map(|(to, number)| Range { first: number, last: number, to }).collect();
        let last = ranges.len() as i64 - 1;
        self.choose(first, ranges, (0, last), done);
        for ((alternative, start), reach) in alternatives.iter().zip(blocks).zip(reaches) {
            self.code.start(start);
            if let (
                Alternative::Arrival(channel, Arrival { message: Some(message), targets, span, .. }),
                Some(reach),
            ) = (alternative, reach)
            {
                self.receive_over(reach, channel.interface, *message, targets, *span);
            }
            self.block_of_statements(alternative.block());
            self.code.go(done);
        }
        self.code.start(done);
    }

    /// Waits for the first of all that isn't a time; gives its number, and the way to each communication.
    fn first_of(
        &mut self,
        alternatives: &[Alternative],
        until: Option<Reg>,
        awaits: bool,
        span: Span,
    ) -> (Reg, Vec<Option<Reach>>) {
        let (mut sources, mut reaches) = (Vec::new(), Vec::new());
        for alternative in alternatives {
            let mut reach = None;
            match alternative {
                Alternative::Arrival(channel, Arrival { message, span, .. }) => {
                    let way = self.reach(channel, *span);
                    let question = Question::Is(message.map_or(Pattern::Finish, Pattern::Message));
                    sources.push(arrival(way.clone(), channel, question));
                    reach = Some(way);
                }
                Alternative::Await(condition, _) => sources.push(Source::Condition(self.value(condition))),
                Alternative::After(..) => {}
            }
            reaches.push(reach);
        }
        (self.select_among(sources, until, awaits, span), reaches)
    }

    /// The same where one of these is a condition, or several: while none holds, the lock is given up.
    fn first_or_condition(
        &mut self,
        alternatives: &[Alternative],
        until: Option<Reg>,
        condition: &Expression,
        span: Span,
    ) -> (Reg, Vec<Option<Reach>>) {
        let header = self.code.begin_loop();
        let outside = self.code.outside_loop();
        let waits = self.code.new_block();
        let (first, reaches) = self.first_of(alternatives, until, true, span);
        let sources = alternatives.iter().filter(|it| !matches!(it, Alternative::After(..))).count();
        let nothing = self.code.int(sources as i64 + 1);
        let is_nothing = self.code.op(Op::Equal, first, nothing);
        self.code.end(Terminator::Branch { condition: is_nothing, yes: waits, no: outside });
        self.code.start(waits);
        self.await_condition(condition, true, span, |lower| {
            let holds = lower.value(condition);
            if !lower.code.in_condition {
                // It takes long, and the process may have been away meanwhile.
                let location = lower.location(span);
                lower.code.suspend(SuspensionOp::Home, location);
            }
            let has_come = lower.code.call(&entries::NEWS, Vec::new());
            lower.code.op(Op::Or, holds, has_come)
        });
        self.code.go(header);
        self.code.leave_loop(outside);
        (first, reaches)
    }

    /// Waits for the first of several things, until a time, see [`SuspensionOp::Select`]; gives its index.
    pub(super) fn select_among(
        &mut self,
        sources: Vec<Source>,
        until: Option<Reg>,
        awaits: bool,
        span: Span,
    ) -> Reg {
        let to = self.code.reg(RegType::Int);
        let location = self.location(span);
        self.code.suspend(SuspensionOp::Select { sources, until, awaits, to }, location);
        to
    }

    /// When a wait is over that begins now and takes so many units of time at most.
    pub(super) fn time_limit(&mut self, limit: Reg, span: Span) -> Reg {
        let location = self.location(span);
        self.code.suspend(SuspensionOp::Home, location);
        self.code.call(&entries::LIMIT, vec![limit])
    }
}

/// What the conditions among these have in common: that one of them holds.
fn condition_of(alternatives: &[Alternative]) -> Option<Expression> {
    let conditions = alternatives.iter().filter_map(|it| match it {
        Alternative::Await(condition, _) => Some(condition.clone()),
        _ => None,
    });
    conditions.reduce(|one, other| {
        let span = one.span;
        let kind = ExpressionKind::Binary(Binary::Or, Box::new(one), Box::new(other));
        Expression { kind, ty: Type::Boolean, span }
    })
}
