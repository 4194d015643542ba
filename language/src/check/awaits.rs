//! Checks conditions of AWAIT. A process that gives up the lock evaluates the conditions of waiting processes, so a
//! condition may read variables, constants and functions, but must not wait, communicate, or make and end components.
//! The same holds for the functions that it calls.

use crate::program::{
    Alternative, Argument, Block, ConnectEnd, Expression, ExpressionKind, Place, PlaceKind, ProcedureId,
    Program, Statement, StatementKind,
};
use crate::source::{Diagnostic, Span};

/// Something that a condition must not do, and where.
type Fault = (&'static str, Span);

/// What a block or expression does, as far as conditions are concerned.
#[derive(Default)]
struct Doings {
    fault: Option<Fault>,
    calls: Vec<(ProcedureId, Span)>,
    /// Conditions of AWAIT in it.
    conditions: Vec<Doings>,
}

/// The conditions that do what they must not.
pub(super) fn check(program: &Program) -> Vec<Diagnostic> {
    let procedures: Vec<Doings> =
        program.procedures.iter().map(|procedure| Doings::of(&procedure.body)).collect();
    let bodies = program.components.iter().flat_map(|component| component.blocks());
    let bodies: Vec<Doings> = bodies.map(Doings::of).collect();
    let faults = faulty(&procedures);
    let mut errors = Vec::new();
    for condition in procedures.iter().chain(&bodies).flat_map(|body| &body.conditions) {
        if let Some((what, span)) = condition.fault {
            let error = Diagnostic::new("await-condition", span, format!("a condition of AWAIT {what}"));
            errors.push(error.label("not in a condition").help(HELP));
        }
        for &(procedure, span) in &condition.calls {
            if let Some((what, place)) = faults[procedure.index()] {
                let name = &program.procedures[procedure.index()].name;
                let message = format!("a condition of AWAIT calls {name}, which {what}");
                let error = Diagnostic::new("await-condition", span, message).label("not in a condition");
                errors.push(error.note(place, "here").help(HELP));
            }
        }
    }
    errors
}

const HELP: &str =
    "a condition uses variables, constants and functions only, since other processes evaluate it";

/// For each procedure, a fault in it or in a procedure that it calls.
fn faulty(procedures: &[Doings]) -> Vec<Option<Fault>> {
    let mut faults: Vec<Option<Fault>> = procedures.iter().map(|doings| doings.fault).collect();
    let mut callers = vec![Vec::new(); procedures.len()];
    for (caller, doings) in procedures.iter().enumerate() {
        for (callee, _) in &doings.calls {
            callers[callee.index()].push(caller);
        }
    }
    let mut spread: Vec<usize> = (0..faults.len()).filter(|&index| faults[index].is_some()).collect();
    while let Some(callee) = spread.pop() {
        for &caller in &callers[callee] {
            if faults[caller].is_none() {
                faults[caller] = faults[callee];
                spread.push(caller);
            }
        }
    }
    faults
}

impl Doings {
    fn of(block: &Block) -> Doings {
        let mut doings = Doings::default();
        doings.block(block);
        doings
    }

    fn fault(&mut self, what: &'static str, span: Span) {
        self.fault.get_or_insert((what, span));
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(place, value)
            | StatementKind::Increase(place, value)
            | StatementKind::Decrease(place, value)
            | StatementKind::NewText(place, value)
            | StatementKind::NewSequence(place, value)
            | StatementKind::Remove(place, value) => {
                self.place(place);
                self.expression(value);
            }
            StatementKind::Insert(place, index, value) => {
                self.place(place);
                index.iter().chain([value]).for_each(|value| self.expression(value));
            }
            StatementKind::Send { .. } | StatementKind::Receive { .. } | StatementKind::Arrivals { .. } => {
                self.fault("communicates", span);
            }
            StatementKind::Select(alternatives) => {
                self.fault("waits", span);
                for alternative in alternatives {
                    if let Alternative::Await(condition, _) = alternative {
                        self.awaits(condition, condition.span);
                    }
                }
            }
            StatementKind::Case(value, branches, otherwise) => {
                self.expression(value);
                branches.iter().map(|(_, block)| block).chain(otherwise).for_each(|block| self.block(block));
            }
            StatementKind::Call(procedure, arguments) => self.call(*procedure, arguments, span),
            StatementKind::If(branches, otherwise) => {
                for (condition, block) in branches {
                    self.expression(condition);
                    self.block(block);
                }
                if let Some(block) = otherwise {
                    self.block(block);
                }
            }
            StatementKind::While(condition, block) | StatementKind::Repeat(block, condition) => {
                self.expression(condition);
                self.block(block);
            }
            StatementKind::For { variable, from, to, by, body } => {
                self.place(variable);
                for bound in [from, to, by] {
                    self.expression(bound);
                }
                self.block(body);
            }
            StatementKind::Foreach { variables, element, body, .. } => {
                for variable in variables.iter().chain(element) {
                    self.place(variable);
                }
                self.block(body);
            }
            StatementKind::Block(block) | StatementKind::Composite(_, block) => self.block(block),
            StatementKind::NewComponent(..) | StatementKind::NewComponentAt { .. } => {
                self.fault("makes a component", span)
            }
            StatementKind::DeleteComponent(_) | StatementKind::DeleteCollection(_) => {
                self.fault("deletes", span);
            }
            StatementKind::Move(..) => self.fault("moves a component", span),
            StatementKind::Connect(a, b, _) => {
                self.fault("changes connections", span);
                self.end(a);
                self.end(b);
            }
            StatementKind::Bind { required: end, .. } | StatementKind::Export { offered: end, .. } => {
                self.fault("changes connections", span);
                self.end(end);
            }
            StatementKind::Disconnect(_) => self.fault("changes connections", span),
            StatementKind::Await(condition) => self.awaits(condition, span),
            StatementKind::Passivate(_) => self.fault("waits", span),
            StatementKind::NewElement(place) | StatementKind::DeleteElement(place) => self.place(place),
            StatementKind::NewArray(_, sizes) => sizes.iter().for_each(|size| self.expression(size)),
            StatementKind::Return(value) => value.iter().for_each(|value| self.expression(value)),
            StatementKind::Assert(condition, number) => {
                self.expression(condition);
                number.iter().for_each(|number| self.expression(number));
            }
            StatementKind::Halt(value) | StatementKind::Write(value) | StatementKind::WriteHex(value) => {
                self.expression(value);
            }
            StatementKind::WriteLine | StatementKind::Exit => (),
        }
    }

    fn end(&mut self, end: &ConnectEnd) {
        if let ConnectEnd::Of { component, .. } = end {
            self.place(component);
        }
    }

    fn call(&mut self, procedure: ProcedureId, arguments: &[Argument], span: Span) {
        self.calls.push((procedure, span));
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.expression(value),
                Argument::Place(place) => self.place(place),
            }
        }
    }

    fn awaits(&mut self, condition: &Expression, span: Span) {
        let mut inner = Doings::default();
        inner.expression(condition);
        self.conditions.push(inner);
        self.fault("waits", span);
    }

    fn place(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Variable(_) => (),
            PlaceKind::Element(_, indices) => indices.iter().for_each(|index| self.expression(index)),
            PlaceKind::Character(_, index) => self.expression(index),
            PlaceKind::Field(inner, _) | PlaceKind::Guarded(inner) => self.place(inner),
            PlaceKind::Item(inner, index) => {
                self.place(inner);
                self.expression(index);
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Boolean(_)
            | ExpressionKind::Character(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Real(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Count(_) => (),
            ExpressionKind::Read(place)
            | ExpressionKind::Exists(place)
            | ExpressionKind::Fault(place)
            | ExpressionKind::Offers(place, _)
            | ExpressionKind::Requires(place, _)
            | ExpressionKind::Is(place, _) => self.place(place),
            ExpressionKind::Call(procedure, arguments) => self.call(*procedure, arguments, expression.span),
            ExpressionKind::Unary(_, operand) | ExpressionKind::Locked(_, operand) => {
                self.expression(operand)
            }
            ExpressionKind::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Builtin(_, values) | ExpressionKind::List(values) => {
                values.iter().for_each(|value| self.expression(value));
            }
            ExpressionKind::Record(values) => values.iter().for_each(|(_, value)| self.expression(value)),
            ExpressionKind::Number(text, place) => {
                self.expression(text);
                self.place(place);
            }
            ExpressionKind::ReceiveTest(..) | ExpressionKind::Input(..) => {
                self.fault("communicates", expression.span);
            }
            ExpressionKind::Await(condition, limit) => {
                self.awaits(condition, expression.span);
                self.expression(limit);
            }
        }
    }
}
