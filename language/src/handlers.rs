//! Handlers: services that run where their requests arrive (`IMPLEMENTATION {HANDLER}`; language reference, section 9;
//! *ASHs*). Such a service may be copied into an operating system's receive path, where it can neither wait nor
//! allocate, nor use the rest of its component. Refuses statements that would.

use std::collections::BTreeSet;

use crate::accesses::{Event, walk, walk_process};
use crate::ast::Direction;
use crate::program::{
    Argument, Binary, Block, Builtin, Channel, ChannelKind, Component, ComponentId, Expression,
    ExpressionKind, Implementation, Interface, Owner, Place, PlaceKind, Program, Statement, StatementKind,
    Type, Unary, VariableId,
};
use crate::source::{Diagnostic, Span};

/// How deeply expressions and statements may be nested.
const DEEPEST: usize = 16;
/// How many words of memory a handler has: for its own variables, those of the component that it uses, and the
/// parameters of messages.
const WORDS: usize = 44;
/// How many branches a CASE may have. (Blocks within blocks may be four times as deep.)
const MOST_BRANCHES: usize = 16;

/// Everything in handlers that can't run there.
pub fn check(program: &Program) -> Vec<Diagnostic> {
    let mut refusals = Vec::new();
    for (index, component) in program.components.iter().enumerate() {
        let handlers = component.implementations.iter().filter(|it| it.handler);
        for implementation in handlers {
            let mut check = Check {
                program,
                component,
                implementation,
                refusals: &mut refusals,
                depth: 0,
                loops: 0,
                cases: 0,
                locked: false,
            };
            check.interface();
            check.block(&implementation.body);
            if implementation.finally.is_some() {
                check.refuse(implementation.span, "a handler has no FINALLY", NO_FINALLY);
            }
            check.size(ComponentId(index as u32));
        }
        others(program, ComponentId(index as u32), &mut refusals);
    }
    refusals
}

/// The variables of a component that its handlers use. They are kept where the handlers run.
pub fn kept(program: &Program, id: ComponentId) -> Vec<VariableId> {
    let mut kept = BTreeSet::new();
    for implementation in program.components[id.index()].implementations.iter().filter(|it| it.handler) {
        walk(&implementation.body, None, &mut |access| match access.event {
            Event::Read(variable) | Event::Write(variable)
                if program.variables[variable.index()].owner == Owner::Component(id) =>
            {
                kept.insert(variable);
            }
            _ => {}
        });
    }
    kept.into_iter().collect()
}

fn refusal(span: Span, message: &str, help: &str) -> Diagnostic {
    Diagnostic::new("no-handler", span, message).label("not in a handler").help(help)
}

/// Checks that only handlers, BEGIN and FINALLY use these variables.
fn others(program: &Program, id: ComponentId, refusals: &mut Vec<Diagnostic>) {
    let kept = kept(program, id);
    let component = &program.components[id.index()];
    let services = component.implementations.iter().filter(|it| !it.handler).flat_map(|it| it.blocks());
    for body in component.activity.iter().chain(services) {
        walk_process(program, body, &mut |access, _| {
            let (Event::Read(variable)
            | Event::Write(variable)
            | Event::Replace(variable)
            | Event::Pass(variable)
            | Event::TalkToHeld(variable)) = access.event
            else {
                return;
            };
            if kept.contains(&variable) {
                let name = &program.variables[variable.index()].name;
                let message =
                    format!("{name} belongs to the handlers of {}, which may run elsewhere", component.name);
                let help = "ask for it by an interface that a {HANDLER} implements";
                refusals
                    .push(Diagnostic::new("no-handler", access.span, message).label("used here").help(help));
            }
        });
    }
}

struct Check<'p> {
    program: &'p Program,
    component: &'p Component,
    implementation: &'p Implementation,
    refusals: &'p mut Vec<Diagnostic>,
    depth: usize,
    loops: usize,
    cases: usize,
    /// Whether the block is within one that has the component's lock.
    locked: bool,
}

impl Check<'_> {
    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        self.refusals.push(refusal(span, message, help));
    }

    fn served(&self) -> Option<&Interface> {
        let facet = self.component.offers.get(self.implementation.offered)?;
        Some(&self.program.interfaces[facet.interface.index()])
    }

    /// Checks the interface: requests that carry numbers, each with one answer or none.
    fn interface(&mut self) {
        let Some(interface) = self.served() else { return };
        let (name, span) = (interface.name.clone(), self.implementation.span);
        let is_client = |state: usize| {
            let state = &interface.states[state];
            state.may_end
                && state.transitions.iter().all(|(it, _)| interface.messages[*it].direction == Direction::In)
        };
        let is_answered = |state: usize| {
            let transitions = &interface.states[state].transitions;
            let goes_on = |(message, next): &(usize, usize)| {
                interface.messages[*message].direction == Direction::Out && is_client(*next)
            };
            !transitions.is_empty() && transitions.iter().all(goes_on)
        };
        let begin = &interface.states[0].transitions;
        let is_fit = begin.iter().all(|(message, next)| {
            interface.messages[*message].direction == Direction::In
                && (is_client(*next) || is_answered(*next))
        });
        let strange = interface.messages.iter().find(|it| it.parameters.iter().any(|(_, ty)| !is_plain(ty)));
        let strange = strange.map(|message| message.name.clone());
        if !is_fit {
            let message = format!("{name} is no interface of requests and their answers");
            let help =
                "a handler gets one message, and gives one answer or none: { IN Ask OUT Answer | IN Tell }";
            self.refuse(span, &message, help);
        }
        if let Some(message) = strange {
            let message = format!("{message} of {name} carries what a handler can't have");
            self.refuse(span, &message, PLAIN);
        }
    }

    /// Checks that the handler's words of memory suffice.
    fn size(&mut self, id: ComponentId) {
        let most =
            self.served().map_or(0, |it| it.messages.iter().map(|it| it.parameters.len()).max().unwrap_or(0));
        let variables = kept(self.program, id).len() + self.implementation.variables.len();
        // The parameters of a message are computed first, in a word for each type.
        // So is the value of CASE.
        let words = variables + 4 * most + 2 * self.loops + self.cases.min(PLAIN_TYPES);
        if words > WORDS {
            let message =
                format!("this handler needs {words} words for variables and messages, and there are {WORDS}");
            self.refuse(self.implementation.span, &message, "use fewer variables, or leave out {HANDLER}");
        }
    }

    fn deeper(&mut self, span: Span, what: impl FnOnce(&mut Self)) {
        if self.depth == DEEPEST {
            return self.refuse(span, "this is too deep for a handler", "use variables for parts of it");
        }
        self.depth += 1;
        what(self);
        self.depth -= 1;
    }

    fn block(&mut self, block: &Block) {
        let before = self.locked;
        self.locked |= block.lock.is_some();
        for statement in &block.statements {
            self.deeper(statement.span, |check| check.statement(statement));
        }
        self.locked = before;
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind::*;
        let span = statement.span;
        match &statement.kind {
            Assign(target, value) | Increase(target, value) | Decrease(target, value) => {
                self.expression(value);
                self.place(target);
            }
            Send { channel, arguments, .. } => {
                self.channel(channel, span);
                for argument in arguments {
                    match argument {
                        Argument::Value(value) => self.expression(value),
                        Argument::Place(place) => {
                            self.refuse(place.span, "components stay in their program", PLAIN)
                        }
                    }
                }
            }
            Receive { channel, targets, .. } => {
                self.channel(channel, span);
                targets.iter().for_each(|target| self.place(target));
            }
            If(branches, otherwise) => {
                for (condition, block) in branches {
                    self.expression(condition);
                    self.block(block);
                }
                otherwise.iter().for_each(|block| self.block(block));
            }
            Case(value, branches, otherwise) => {
                self.cases += 1;
                self.many(span, branches.len());
                self.expression(value);
                branches.iter().map(|(_, block)| block).chain(otherwise).for_each(|block| self.block(block));
            }
            Arrivals { channel, branches, otherwise } => {
                self.many(span, branches.len());
                self.channel(channel, span);
                for branch in branches {
                    branch.targets.iter().for_each(|target| self.place(target));
                    self.block(&branch.block);
                }
                otherwise.iter().for_each(|block| self.block(block));
            }
            While(condition, body) | Repeat(body, condition) => {
                self.expression(condition);
                self.block(body);
            }
            For { variable, from, to, by, body } => {
                self.loops += 1;
                [from, to, by].into_iter().for_each(|bound| self.expression(bound));
                self.place(variable);
                self.block(body);
            }
            Block(block) => self.block(block),
            Return(None) => {}
            Exit => {
                self.refuse(span, "a handler has no EXIT", "use WHILE, or let the handler end with RETURN")
            }
            Assert(condition, number) => {
                self.expression(condition);
                number.iter().for_each(|number| self.expression(number));
            }
            Await(_) | Passivate(_) | Select(_) => self.refuse(span, "a handler can't wait", WAIT),
            Call(..) => self.procedure(span),
            NewText(..) => self.refuse(span, "a handler has no TEXTs", PLAIN),
            Write(_) | WriteHex(_) | WriteLine | Halt(_) => {
                self.refuse(
                    span,
                    "a handler may run outside its program",
                    "leave that to a service of another component",
                );
            }
            Foreach { .. }
            | NewArray(..)
            | NewSequence(..)
            | Insert(..)
            | Remove(..)
            | DeleteCollection(_)
            | NewElement(_)
            | DeleteElement(_) => self.refuse(span, "a handler has no collections", PLAIN),
            Return(_)
            | Composite(..)
            | NewComponent(..)
            | NewComponentAt { .. }
            | DeleteComponent(_)
            | Move(..)
            | Connect(..)
            | Bind { .. }
            | Export { .. }
            | Disconnect(_) => {
                self.refuse(
                    span,
                    "a handler only computes and answers",
                    "leave that to a service of another component",
                );
            }
        }
    }

    /// Branches are nested in one another where the handler runs.
    fn many(&mut self, span: Span, branches: usize) {
        if branches > MOST_BRANCHES {
            let message = format!("a CASE in a handler has at most {MOST_BRANCHES} branches");
            self.refuse(span, &message, "put some into another CASE, behind ELSE");
        }
    }

    fn procedure(&mut self, span: Span) {
        self.refuse(span, "procedures stay in their program", "write what it does into the handler");
    }

    fn channel(&mut self, channel: &Channel, span: Span) {
        match channel.kind {
            ChannelKind::Service if self.locked => {
                let help = "keep what it says in a variable, and say it behind the block";
                self.refuse(span, "a handler says nothing while it has the lock", help);
            }
            ChannelKind::Service => {}
            _ => self.refuse(
                span,
                "a handler can't wait for other processes",
                "it communicates with its client only",
            ),
        }
    }

    fn place(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Variable(id) => {
                let variable = &self.program.variables[id.index()];
                if variable.collection.is_some() || !is_plain(&variable.ty) {
                    let message = format!("{} is of a type that handlers haven't got", variable.name);
                    self.refuse(place.span, &message, PLAIN);
                }
            }
            PlaceKind::Element(..) | PlaceKind::Item(..) => {
                self.refuse(place.span, "a handler has no collections", PLAIN);
            }
            PlaceKind::Character(..) => self.refuse(place.span, "a handler has no TEXTs", PLAIN),
            PlaceKind::Field(..) => self.refuse(place.span, "a handler has no records", PLAIN),
            PlaceKind::Guarded(_) => self.refuse(place.span, "components stay in their program", PLAIN),
        }
    }

    fn expression(&mut self, expression: &Expression) {
        self.deeper(expression.span, |check| check.expression_here(expression));
    }

    fn expression_here(&mut self, expression: &Expression) {
        use ExpressionKind::*;
        let span = expression.span;
        match &expression.kind {
            Boolean(_) | Character(_) | Integer(_) => {}
            Read(place) => self.place(place),
            Unary(self::Unary::NegateReal, _) | Real(_) => self.refuse(span, "a handler has no REALs", PLAIN),
            Text(_) => self.refuse(span, "a handler has no TEXTs", PLAIN),
            Unary(_, operand) => self.expression(operand),
            Binary(operator, left, right) => {
                if matches!(
                    operator,
                    self::Binary::AddReal
                        | self::Binary::SubtractReal
                        | self::Binary::MultiplyReal
                        | self::Binary::DivideReal
                        | self::Binary::Concatenate
                        | self::Binary::Join
                ) {
                    return self.refuse(span, "a handler has neither REALs nor TEXTs", PLAIN);
                }
                [left, right].into_iter().for_each(|it| self.expression(it));
            }
            Builtin(
                self::Builtin::MinInteger
                | self::Builtin::MaxInteger
                | self::Builtin::BitAnd
                | self::Builtin::BitOr
                | self::Builtin::BitXor
                | self::Builtin::BitNot
                | self::Builtin::Shift
                | self::Builtin::Rotate
                | self::Builtin::AddWrap
                | self::Builtin::SubtractWrap
                | self::Builtin::MultiplyWrap
                | self::Builtin::IntegerToCharacter
                | self::Builtin::CharacterToInteger
                | self::Builtin::BooleanToInteger,
                arguments,
            ) => arguments.iter().for_each(|argument| self.expression(argument)),
            Builtin(self::Builtin::Time | self::Builtin::Random, _) => {
                self.refuse(
                    span,
                    "a handler is asked nothing that isn't in its request",
                    "let the client send it",
                );
            }
            Record(_) => self.refuse(span, "a handler has no records", PLAIN),
            List(_) => self.refuse(span, "a handler has no collections", PLAIN),
            Builtin(..) | Number(..) => self.refuse(span, "a handler has neither REALs nor TEXTs", PLAIN),
            Locked(_, inner) => {
                let before = std::mem::replace(&mut self.locked, true);
                self.expression(inner);
                self.locked = before;
            }
            ReceiveTest(channel, _) | Input(channel, _, None) => self.channel(channel, span),
            Await(..) | Input(_, _, Some(_)) => self.refuse(span, "a handler can't wait", WAIT),
            Call(..) => self.procedure(span),
            Count(_) | Exists(_) | Fault(_) | Offers(..) | Requires(..) | Is(..) => {
                self.refuse(span, "components stay in their program", PLAIN);
            }
        }
    }
}

const PLAIN: &str =
    "a handler has INTEGERs, BOOLEANs and CHARACTERs; leave out {HANDLER}, or send what it needs";
const NO_FINALLY: &str =
    "where it runs it answers one request, and nothing is left to be put in order; or leave out {HANDLER}";
const WAIT: &str = "answer what is so now, or leave out {HANDLER}";

/// How many types those are.
const PLAIN_TYPES: usize = 3;

fn is_plain(ty: &Type) -> bool {
    matches!(ty, Type::Integer | Type::Boolean | Type::Character)
}
