//! The accesses of a process to the component around it, each with the lock under which it is done. Visits every
//! statement and expression once, in the order of the text. Judges nothing.

use crate::program::{
    Alternative, Argument, Block, Channel, ChannelKind, ConnectEnd, Expression, ExpressionKind, LockMode,
    Place, PlaceKind, ProcedureId, Program, Statement, StatementKind, VariableId,
};
use crate::source::Span;
use std::collections::HashSet;

/// An event: something that a statement or expression does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reads a variable.
    Read(VariableId),
    /// Changes a variable, or one element of a collection; or may do so.
    Write(VariableId),
    /// Makes or deletes all elements of a collection.
    Replace(VariableId),
    /// Passes a variable to a procedure, which may change it.
    Pass(VariableId),
    /// Sends to, receives from or tests the component that a variable holds.
    TalkToHeld(VariableId),
    /// Sends to, receives from or tests a required interface: index into the component's `requires`.
    TalkToRequired(usize),
    /// Calls a procedure.
    Call(ProcedureId),
    /// Waits for a condition.
    Await,
    /// Takes the exclusive lock.
    Exclusive,
}

/// An event, the lock under which it is done (for [`Event::Exclusive`], the lock held before) and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What happens.
    pub event: Event,
    /// The component's lock.
    pub lock: Option<LockMode>,
    /// Where.
    pub span: Span,
}

/// Reports everything that a process with this body does, also in procedures. A procedure is visited once for each lock
/// under which it is called; its accesses are reported with the first such call.
pub fn walk_process(program: &Program, body: &Block, report: &mut dyn FnMut(Access, Option<Access>)) {
    let mut known: HashSet<(ProcedureId, Option<LockMode>)> = HashSet::new();
    let mut calls: Vec<(ProcedureId, Access)> = Vec::new();
    let mut one = |block: &Block, lock, called, calls: &mut Vec<(ProcedureId, Access)>| {
        walk(block, lock, &mut |access| {
            report(access, called);
            if let Event::Call(procedure) = access.event
                && known.insert((procedure, access.lock))
            {
                calls.push((procedure, access));
            }
        });
    };
    one(body, None, None, &mut calls);
    while let Some((procedure, call)) = calls.pop() {
        one(&program.procedures[procedure.index()].body, call.lock, Some(call), &mut calls);
    }
}

/// Reports everything that `block` itself does, called with `lock` held.
pub fn walk(block: &Block, lock: Option<LockMode>, report: &mut dyn FnMut(Access)) {
    Walk { lock, report }.block(block);
}

/// Reports everything that evaluating `expression` itself does.
pub fn walk_expression(expression: &Expression, report: &mut dyn FnMut(Access)) {
    Walk { lock: None, report }.expression(expression);
}

struct Walk<'a> {
    lock: Option<LockMode>,
    report: &'a mut dyn FnMut(Access),
}

impl Walk<'_> {
    fn event(&mut self, event: Event, span: Span) {
        (self.report)(Access { event, lock: self.lock, span });
    }

    /// Does `inside` under the lock, unless a lock is held already.
    fn locked(&mut self, mode: Option<LockMode>, span: Span, inside: impl FnOnce(&mut Self)) {
        if mode == Some(LockMode::Exclusive) {
            self.event(Event::Exclusive, span);
        }
        let before = self.lock;
        self.lock = before.or(mode);
        inside(self);
        self.lock = before;
    }

    fn block(&mut self, block: &Block) {
        let span = block.statements.first().map(|first| first.span).unwrap_or_default();
        self.locked(block.lock, span, |walk| block.statements.iter().for_each(|it| walk.statement(it)));
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind::*;
        match &statement.kind {
            Assign(target, value)
            | Increase(target, value)
            | Decrease(target, value)
            | NewText(target, value)
            | NewSequence(target, value)
            | Remove(target, value) => {
                self.expression(value);
                self.write(target);
            }
            Insert(target, index, value) => {
                self.expressions(index.iter().chain([value]));
                self.write(target);
            }
            Send { channel, arguments, .. } => {
                self.channel(channel, statement.span);
                self.arguments(arguments, Event::Write);
            }
            Receive { channel, targets, .. } => {
                self.channel(channel, statement.span);
                targets.iter().for_each(|target| self.write(target));
            }
            Call(procedure, arguments) => {
                self.arguments(arguments, Event::Pass);
                self.event(Event::Call(*procedure), statement.span);
            }
            If(branches, otherwise) => {
                for (condition, block) in branches {
                    self.expression(condition);
                    self.block(block);
                }
                otherwise.iter().for_each(|block| self.block(block));
            }
            Case(value, branches, otherwise) => {
                self.expression(value);
                branches.iter().map(|(_, block)| block).chain(otherwise).for_each(|block| self.block(block));
            }
            Arrivals { channel, branches, otherwise } => {
                self.channel(channel, statement.span);
                for branch in branches {
                    branch.targets.iter().for_each(|target| self.write(target));
                    self.block(&branch.block);
                }
                otherwise.iter().for_each(|block| self.block(block));
            }
            Select(alternatives) => {
                for alternative in alternatives {
                    match alternative {
                        Alternative::Arrival(channel, arrival) => {
                            self.channel(channel, arrival.span);
                            arrival.targets.iter().for_each(|target| self.write(target));
                        }
                        Alternative::Await(condition, _) => {
                            self.event(Event::Await, condition.span);
                            self.expression(condition);
                        }
                        Alternative::After(limit, _) => self.expression(limit),
                    }
                    self.block(alternative.block());
                }
            }
            While(condition, body) => {
                self.expression(condition);
                self.block(body);
            }
            Repeat(body, condition) => {
                self.block(body);
                self.expression(condition);
            }
            For { variable, from, to, by, body } => {
                self.expressions([from, to, by]);
                self.write(variable);
                self.block(body);
            }
            Foreach { variables, element, collection, body } => {
                self.event(Event::Read(*collection), statement.span);
                variables.iter().chain(element).for_each(|variable| self.write(variable));
                self.block(body);
            }
            Block(block) | Composite(_, block) => self.block(block),
            Return(value) => self.expressions(value),
            NewComponent(target, _)
            | NewElement(target)
            | DeleteComponent(target)
            | DeleteElement(target) => {
                self.write(target);
            }
            NewArray(array, sizes) => {
                self.expressions(sizes);
                self.event(Event::Replace(*array), statement.span);
            }
            DeleteCollection(collection) => self.event(Event::Replace(*collection), statement.span),
            Move(from, to) => {
                self.write(from);
                self.write(to);
            }
            NewComponentAt { target, domain, by, .. } => {
                self.expressions([domain, by]);
                self.write(target);
            }
            Connect(required, offered, by) => {
                self.connect_end(required);
                self.connect_end(offered);
                self.expressions(by);
            }
            Bind { required: end, name, by, .. } | Export { offered: end, name, by, .. } => {
                self.connect_end(end);
                self.expressions([name, by]);
            }
            Disconnect(required) => self.connect_end(required),
            Await(condition) => {
                self.event(Event::Await, statement.span);
                self.expression(condition);
            }
            Assert(condition, number) => {
                self.expression(condition);
                self.expressions(number);
            }
            Halt(value) | Write(value) | WriteHex(value) | Passivate(value) => self.expression(value),
            WriteLine | Exit => {}
        }
    }

    fn connect_end(&mut self, end: &ConnectEnd) {
        match end {
            ConnectEnd::Of { component, index, .. } => {
                self.read(component);
                self.expressions(index);
            }
            ConnectEnd::OwnOffered(_) => {}
            // To pass an interface on is no communication over it.
            ConnectEnd::OwnRequired(_, index) => self.expressions(index),
        }
    }

    /// Arguments; `change` is what happens to the variables among them.
    fn arguments(&mut self, arguments: &[Argument], change: fn(VariableId) -> Event) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expression(value),
                Argument::Place(place) => {
                    self.indices(place);
                    self.event(change(place.variable()), place.span);
                }
            }
        }
    }

    fn channel(&mut self, channel: &Channel, span: Span) {
        match &channel.kind {
            ChannelKind::Service => {}
            ChannelKind::Required(index, slot) => {
                self.expressions(slot.as_deref());
                self.event(Event::TalkToRequired(*index), span);
            }
            ChannelKind::Held(place) => {
                self.indices(place);
                self.event(Event::TalkToHeld(place.variable()), span);
            }
        }
    }

    fn read(&mut self, place: &Place) {
        self.indices(place);
        self.event(Event::Read(place.variable()), place.span);
    }

    fn write(&mut self, place: &Place) {
        self.indices(place);
        self.event(Event::Write(place.variable()), place.span);
    }

    fn indices(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Variable(_) => {}
            PlaceKind::Element(_, indices) => self.expressions(indices),
            PlaceKind::Character(_, index) => self.expression(index),
            PlaceKind::Field(inner, _) | PlaceKind::Guarded(inner) => self.indices(inner),
            PlaceKind::Item(inner, index) => {
                self.indices(inner);
                self.expression(index);
            }
        }
    }

    fn expressions<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expression>) {
        expressions.into_iter().for_each(|expression| self.expression(expression));
    }

    fn expression(&mut self, expression: &Expression) {
        use ExpressionKind::*;
        match &expression.kind {
            Boolean(_) | Character(_) | Integer(_) | Real(_) | Text(_) | Count(_) => {}
            Read(place)
            | Exists(place)
            | Fault(place)
            | Offers(place, _)
            | Requires(place, _)
            | Is(place, _) => {
                self.read(place);
            }
            Call(procedure, arguments) => {
                self.arguments(arguments, Event::Pass);
                self.event(Event::Call(*procedure), expression.span);
            }
            Unary(_, operand) => self.expression(operand),
            Binary(_, left, right) => self.expressions([&**left, &**right]),
            Builtin(_, values) | List(values) => self.expressions(values),
            Record(values) => self.expressions(values.iter().map(|(_, value)| value)),
            Number(text, target) => {
                self.expression(text);
                self.write(target);
            }
            Locked(mode, inner) => self.locked(Some(*mode), expression.span, |walk| walk.expression(inner)),
            ReceiveTest(channel, _) => self.channel(channel, expression.span),
            Input(channel, _, limit) => {
                self.channel(channel, expression.span);
                self.expressions(limit.as_deref());
            }
            Await(condition, limit) => {
                self.event(Event::Await, expression.span);
                self.expressions([&**condition, &**limit]);
            }
        }
    }
}
