//! Transfer functions of statements.

use super::communications::forget;
use super::state::{Flow, Here, Loop};
use crate::conformance::faults::What;
use crate::conformance::positions::{Known, join};
use crate::program::{Argument, Block, Expression, ExpressionKind, Place, Statement, StatementKind, Type};
use crate::stops::stops;

impl Flow<'_> {
    pub(super) fn block(&mut self, block: &Block, here: Known) -> Here {
        let locks = block.lock.is_some();
        self.locked(locks, here, |flow, here| {
            block.statements.iter().try_fold(here, |here, statement| flow.statement(statement, here))
        })
    }

    fn statement(&mut self, statement: &Statement, here: Known) -> Here {
        use StatementKind::*;
        self.spend(1 + here.size() / 8)?;
        let span = statement.span;
        match &statement.kind {
            Assign(target, value)
            | Increase(target, value)
            | Decrease(target, value)
            | NewText(target, value)
            | NewSequence(target, value)
            | Remove(target, value) => {
                let here = self.value(value, here)?;
                self.place(target, here)
            }
            Insert(target, index, value) => {
                let here = self.values(index.iter().chain([value]), here)?;
                self.place(target, here)
            }
            Send { channel, message, arguments } => {
                let here = self.channel(channel, here)?;
                let mut here = self.arguments(arguments, here)?;
                for argument in arguments {
                    if let Argument::Place(place) = argument {
                        forget(&mut here, place.variable());
                    }
                }
                self.talk(channel, What::Send(*message), span, here)
            }
            Receive { channel, message, targets } => {
                let here = self.channel(channel, here)?;
                let here = self.talk(channel, What::Receive(*message), span, here)?;
                self.brought(targets, here)
            }
            Call(procedure, arguments) => {
                let here = self.arguments(arguments, here)?;
                self.call(*procedure, span, here)
            }
            If(branches, otherwise) => self.branches(branches, otherwise.as_ref(), here),
            Case(value, branches, otherwise) => {
                let here = self.value(value, here)?;
                // A value without a branch ends the program.
                self.trace.survives |= otherwise.is_none();
                let blocks = branches.iter().map(|(_, block)| block).chain(otherwise);
                blocks.fold(None, |end, block| join(end, self.block(block, here.clone())))
            }
            Arrivals { channel, branches, otherwise } => {
                self.arrivals(channel, branches, otherwise.as_ref(), span, here)
            }
            Select(alternatives) => self.select(alternatives, here),
            While(condition, body) => self.repeat(here, |flow, here| {
                let (yes, no) = flow.condition(condition, here);
                (yes.and_then(|here| flow.block(body, here)), no)
            }),
            Repeat(body, condition) => self.repeat(here, |flow, here| {
                let Some(here) = flow.block(body, here) else { return (None, None) };
                let (yes, no) = flow.condition(condition, here);
                (no, yes)
            }),
            For { variable, from, to, by, body } => {
                let here = self.values([from, to, by], here)?;
                let here = self.place(variable, here)?;
                let runs = runs_at_least_once(from, to, by);
                self.repeat(here, |flow, here| {
                    let end = flow.block(body, here.clone());
                    (end.clone(), if runs { end } else { Some(here) })
                })
            }
            Foreach { variables, element, body, .. } => {
                let mut variables = variables.iter().chain(element);
                let here = variables.try_fold(here, |here, variable| self.place(variable, here))?;
                self.repeat(here, |flow, here| (flow.block(body, here.clone()), Some(here)))
            }
            Block(block) => self.block(block, here),
            Composite(id, block) => {
                let here = self.block(block, here)?;
                self.leave(&self.process.program.composites[id.index()].channels, span, here)
            }
            Return(value) => {
                let here = self.values(value, here)?;
                let here = if self.depth == 0 { self.end(here, span)? } else { here };
                self.returned = join(self.returned.take(), Some(here));
                None
            }
            Exit => {
                let innermost = self.loops.last().expect("the checker saw a loop");
                // The lock is released if the loop doesn't have it.
                let here = if self.held && !innermost.held { self.without_shared(here) } else { here };
                let innermost = self.loops.last_mut().expect("it is there");
                innermost.left = join(innermost.left.take(), Some(here));
                None
            }
            NewComponent(target, template) => {
                let mut here = self.place(target, here)?;
                self.fresh(target, &Type::Component(*template), &mut here);
                Some(here)
            }
            DeleteComponent(target) => {
                let mut here = self.place(target, here)?;
                self.leave_behind(target.variable(), &here);
                forget(&mut here, target.variable());
                Some(here)
            }
            Move(from, to) => {
                let here = self.place(from, here)?;
                let mut here = self.place(to, here)?;
                forget(&mut here, to.variable());
                if let (Some(from), Some(to)) = (self.container(from), self.container(to)) {
                    here.moved(from, to);
                }
                forget(&mut here, from.variable());
                here.retain(|key| self.is_followed(key));
                Some(here)
            }
            NewElement(place) | DeleteElement(place) => self.place(place, here),
            NewArray(_, sizes) => self.values(sizes, here),
            DeleteCollection(_) | WriteLine => Some(here),
            NewComponentAt { target, template, domain, by } => {
                let here = self.place(target, here)?;
                let mut here = self.values([domain, by], here)?;
                self.fresh(target, &Type::Component(*template), &mut here);
                Some(here)
            }
            Connect(required, offered, by) => {
                let here = self.connect_end(required, here)?;
                let here = self.connect_end(offered, here)?;
                self.values(by, here)
            }
            Bind { required: end, interface, name, by } | Export { offered: end, interface, name, by } => {
                if !is_local(name) {
                    self.uses.bind(*interface);
                }
                let here = self.connect_end(end, here)?;
                self.values([name, by], here)
            }
            Disconnect(required) => self.connect_end(required, here),
            Await(condition) => {
                let here = self.value(condition, here)?;
                Some(self.without_shared(here))
            }
            Assert(condition, number) => {
                let here = self.values(number, here)?;
                let (yes, no) = self.condition(condition, here);
                self.refuse(condition, no.as_ref());
                self.trace.survives |= yes.is_none();
                yes
            }
            Halt(value) => {
                self.value(value, here)?;
                self.trace.survives = true;
                None
            }
            Write(value) | WriteHex(value) | Passivate(value) => self.value(value, here),
        }
    }

    /// What a message brings has come to these places.
    pub(super) fn brought(&mut self, targets: &[Place], here: Known) -> Here {
        targets.iter().try_fold(here, |here, target| {
            let mut here = self.place(target, here)?;
            if target.ty.is_component() {
                self.fresh(target, &target.ty, &mut here);
            }
            Some(here)
        })
    }

    fn branches(&mut self, branches: &[(Expression, Block)], otherwise: Option<&Block>, here: Known) -> Here {
        let program = self.process.program;
        let (mut end, mut rest) = (None, Some(here));
        for (condition, block) in branches {
            let Some(here) = rest else { return end };
            let (yes, no) = self.condition(condition, here);
            if stops(program, block) {
                self.refuse(condition, yes.as_ref());
            }
            end = join(end, yes.and_then(|here| self.block(block, here)));
            rest = no;
        }
        let Some(block) = otherwise else { return join(end, rest) };
        if stops(program, block) {
            for (condition, _) in branches {
                self.refuse(condition, rest.as_ref());
            }
        }
        join(end, rest.and_then(|here| self.block(block, here)))
    }

    /// A loop: `step` gives the situations in which it goes on and in which it is left.
    fn repeat(&mut self, start: Known, step: impl FnMut(&mut Self, Known) -> (Here, Here)) -> Here {
        self.loops.push(Loop { held: self.held, left: None });
        let end = self.rounds(start, step);
        let Loop { left, .. } = self.loops.pop().expect("it was pushed");
        join(end, left)
    }

    /// The rounds of a loop, until another one changes nothing.
    fn rounds(&mut self, start: Known, mut step: impl FnMut(&mut Self, Known) -> (Here, Here)) -> Here {
        let mut head = start;
        loop {
            self.spend(head.size())?;
            let (again, left) = step(self, head.clone());
            let Some(again) = again else { return left };
            let joined = head.clone().join(&again);
            if joined == head {
                self.trace.survives = true;
                return left;
            }
            head = joined;
        }
    }
}

/// Whether a name is one within this program.
fn is_local(name: &Expression) -> bool {
    matches!(&name.kind, ExpressionKind::Text(name) if name.starts_with(b"local:"))
}

fn runs_at_least_once(from: &Expression, to: &Expression, by: &Expression) -> bool {
    match (&from.kind, &to.kind, &by.kind) {
        (ExpressionKind::Integer(from), ExpressionKind::Integer(to), ExpressionKind::Integer(by)) => {
            if *by > 0 { from <= to } else { from >= to }
        }
        _ => false,
    }
}
