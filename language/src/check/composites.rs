//! Composite calls: blocks that may be shipped to the server they talk to (`BEGIN {COMPOSITE} .. END`; language
//! reference, section 9; *composite calls*). Refuses statements that can only run here, and finds the variables that
//! travel with the block.

use std::collections::BTreeSet;

use crate::program::{
    Argument, Binary, Block, Builtin, Channel, ChannelKind, Composite, Expression, ExpressionKind, Place,
    PlaceKind, ProcedureId, Program, Slot, Statement, StatementKind, Travels, Type, Unary, VariableId,
};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;

/// How deeply statements and expressions may be nested. The server that runs a block has no room for more.
const DEEPEST: usize = 40;

/// How many branches a CASE may have.
const MOST_BRANCHES: usize = 16;

impl BodyChecker<'_> {
    /// The statement for a block with the attribute.
    pub(super) fn composite(&mut self, attribute: Span, block: Block) -> Option<StatementKind> {
        let Some(component) = self.component() else {
            let message = "a procedure at the top level has no interfaces that a block could talk over";
            self.report(
                Diagnostic::new("not-shippable", attribute, message)
                    .help("declare the procedure in the component that calls it"),
            );
            return None;
        };
        let mut cargo = Cargo::new(&self.known.program);
        cargo.block(&block);
        cargo.look_at_slots();
        if cargo.channels.is_empty() && cargo.refusals.is_empty() {
            let message = "the block communicates with no component, so there is nowhere to ship it to";
            cargo.refusals.push(Diagnostic::new("not-shippable", attribute, message));
        }
        let Cargo { refusals, channels, .. } = &mut cargo;
        if !refusals.is_empty() {
            let refusals = std::mem::take(refusals);
            refusals.into_iter().for_each(|refusal| self.report(refusal));
            return None;
        }
        let channels = std::mem::take(channels);
        let variables = cargo.variables();
        let id = self.add_composite(Composite { component, channels, variables });
        Some(StatementKind::Composite(id, block))
    }
}

/// Collects what a block needs where it runs, and what can't be shipped.
struct Cargo<'p> {
    program: &'p Program,
    refusals: Vec<Diagnostic>,
    channels: Vec<Channel>,
    /// Variables that may be read before the block has assigned to them.
    read: BTreeSet<VariableId>,
    written: BTreeSet<VariableId>,
    /// Variables of branches in the block.
    own: BTreeSet<VariableId>,
    /// Variables that are assigned on every path to this point.
    surely: BTreeSet<VariableId>,
    depth: usize,
}

impl<'p> Cargo<'p> {
    fn new(program: &'p Program) -> Self {
        let (refusals, channels, read, written, own, surely) = Default::default();
        Cargo { program, refusals, channels, read, written, own, surely, depth: 0 }
    }

    /// The variables that travel, in the order of their declaration.
    fn variables(&self) -> Vec<(VariableId, Travels)> {
        let of = |&id: &VariableId| match (self.written.contains(&id), self.read.contains(&id)) {
            _ if self.own.contains(&id) => (id, Travels::Not),
            (false, _) => (id, Travels::In),
            (true, false) if self.surely.contains(&id) => (id, Travels::Out),
            _ => (id, Travels::Both),
        };
        (&(&self.read | &self.written) | &self.own).iter().map(of).collect()
    }

    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        let refusal = Diagnostic::new("not-shippable", span, message).label("can't be shipped");
        self.refusals.push(refusal.help(help));
    }

    /// Does something one level deeper.
    fn deeper(&mut self, span: Span, what: impl FnOnce(&mut Self)) {
        match self.depth {
            DEEPEST => self.refuse(span, "this is too deep to be shipped", "use variables for parts of it"),
            _ => {
                self.depth += 1;
                what(self);
                self.depth -= 1;
            }
        }
    }

    fn block(&mut self, block: &Block) {
        if let (Some(_), Some(first)) = (block.lock, block.statements.first()) {
            let message = "the lock of this component can't be taken elsewhere";
            self.refuse(first.span, message, "take it around the whole block: {EXCLUSIVE, COMPOSITE}");
        }
        for statement in &block.statements {
            self.deeper(statement.span, |cargo| cargo.statement(statement));
        }
    }

    /// A block that may not be executed.
    fn perhaps(&mut self, block: &Block) {
        let surely = self.surely.clone();
        self.block(block);
        self.surely = surely;
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind::*;
        let span = statement.span;
        match &statement.kind {
            Assign(target, value) => {
                self.whole(value);
                self.write(target);
            }
            Increase(target, value) | Decrease(target, value) => {
                self.expression(value);
                self.read(target);
                self.write(target);
            }
            NewText(target, length) => {
                self.expression(length);
                self.write(target);
            }
            Send { channel, arguments, .. } => {
                self.channel(channel, span);
                for argument in arguments {
                    match argument {
                        Argument::Value(value) => self.expression(value),
                        Argument::Place(place) => self.component(place.span),
                    }
                }
            }
            Receive { channel, targets, .. } => {
                self.channel(channel, span);
                for target in targets {
                    match target.ty.is_component() {
                        true => self.component(target.span),
                        false => self.write(target),
                    }
                }
            }
            If(branches, otherwise) => {
                for (condition, block) in branches {
                    self.whole(condition);
                    self.perhaps(block);
                }
                otherwise.iter().for_each(|block| self.perhaps(block));
            }
            Case(value, branches, otherwise) => {
                self.many(span, branches.len());
                self.whole(value);
                for block in branches.iter().map(|(_, block)| block).chain(otherwise) {
                    self.perhaps(block);
                }
            }
            Arrivals { channel, branches, otherwise } => {
                self.many(span, branches.len());
                self.channel(channel, span);
                for branch in branches {
                    let surely = self.surely.clone();
                    // Whatever a branch does with a component is of no interest then.
                    if branch.targets.iter().all(|target| self.brought(target)) {
                        self.block(&branch.block);
                    }
                    self.surely = surely;
                }
                otherwise.iter().for_each(|block| self.perhaps(block));
            }
            While(condition, body) => {
                self.whole(condition);
                self.perhaps(body);
            }
            Repeat(body, condition) => {
                self.block(body);
                self.whole(condition);
            }
            For { variable, from, to, by, body } => {
                [from, to, by].into_iter().for_each(|bound| self.expression(bound));
                self.write(variable);
                self.perhaps(body);
            }
            Block(block) => self.block(block),
            Assert(condition, number) => {
                self.whole(condition);
                number.iter().for_each(|number| self.expression(number));
            }
            Select(_) => {
                let message = "SELECT waits for things of this program";
                self.refuse(span, message, "leave the block before it, or use CASE");
            }
            Composite(..) => {
                self.refuse(
                    span,
                    "a block that is shipped can't ship another one",
                    "leave out {COMPOSITE} here",
                );
            }
            Call(procedure, _) => self.procedure(*procedure, span),
            Exit => {
                self.refuse(span, "EXIT can't be shipped", "let the loop's condition say when it is over")
            }
            Return(_) => self.refuse(span, "RETURN leaves the block, which may be elsewhere", "let it end"),
            Write(_) | WriteHex(_) | WriteLine => {
                self.refuse(
                    span,
                    "what is written must be written here",
                    "keep it in a TEXT, and write that behind the block",
                );
            }
            Await(_) => self.refuse(
                span,
                "AWAIT waits for other processes of this component",
                "wait before the block",
            ),
            Passivate(_) => self.refuse(
                span,
                "a server that runs the block does not wait for time to pass",
                "wait before the block",
            ),
            Halt(_) => self.refuse(
                span,
                "HALT ends this program, not the one that it is shipped to",
                "halt behind the block",
            ),
            Foreach { .. } | NewArray(..) | DeleteCollection(_) | NewElement(_) | DeleteElement(_) => {
                self.collection(span)
            }
            NewSequence(..) | Insert(..) | Remove(..) => self.elements(span),
            NewComponent(..) | NewComponentAt { .. } | DeleteComponent(_) | Move(..) => self.component(span),
            Connect(..) | Bind { .. } | Export { .. } | Disconnect(_) => {
                self.refuse(
                    span,
                    "connections are made and changed here",
                    "do that before the block, or behind it",
                );
            }
        }
    }

    /// Branches are nested in one another in a block that is shipped.
    fn many(&mut self, span: Span, branches: usize) {
        if branches > MOST_BRANCHES {
            let message = format!("a CASE that is shipped has at most {MOST_BRANCHES} branches");
            self.refuse(span, &message, "put some into another CASE, behind ELSE");
        }
    }

    /// A variable of a branch, which gets its value from a message; gives whether it may.
    fn brought(&mut self, target: &Place) -> bool {
        if target.ty.is_component() {
            self.component(target.span);
            return false;
        }
        self.own.insert(target.variable());
        self.surely.insert(target.variable());
        true
    }

    fn component(&mut self, span: Span) {
        self.refuse(span, "components stay in their program", "a block that is shipped has values only");
    }

    fn collection(&mut self, span: Span) {
        self.refuse(span, "collections stay where they are", "use variables, or a TEXT");
    }

    fn elements(&mut self, span: Span) {
        let help =
            "do that before the block, or behind it; the block can take, send, assign and COUNT whole ones";
        self.refuse(span, "a block that may be shipped can't look into sequences", help);
    }

    fn procedure(&mut self, procedure: ProcedureId, span: Span) {
        let name = &self.program.procedures[procedure.index()].name;
        let message = format!("{name} is a procedure, which stays here");
        self.refuse(span, &message, "write what it does into the block");
    }

    fn channel(&mut self, channel: &Channel, span: Span) {
        let interface = &self.program.interfaces[channel.interface.index()].name;
        match &channel.kind {
            ChannelKind::Required(_, slot) => {
                slot.iter().for_each(|number| self.slot(channel, number));
                if !self.channels.iter().any(|known| known.required() == channel.required()) {
                    self.channels.push(channel.clone());
                }
            }
            ChannelKind::Service => {
                self.refuse(
                    span,
                    "the block talks to its own client, which stays here",
                    "do that before the block, or behind it",
                );
            }
            ChannelKind::Held(_) => {
                let message = format!("the block talks to a component that is held here, by {interface}");
                let help = format!("let a component that REQUIRES {interface} do that");
                self.refuse(span, &message, &help);
            }
        }
    }

    /// The index of an indexed connection.
    fn slot(&mut self, channel: &Channel, number: &Expression) {
        match channel.required() {
            Some((_, Slot::Computed)) => {
                let message = "which connection it is must be known before the block";
                let help = "use a constant, or a variable that the block doesn't change";
                self.refuse(number.span, message, help);
            }
            _ => self.expression(number),
        }
    }

    fn look_at_slots(&mut self) {
        for channel in self.channels.clone() {
            if let (ChannelKind::Required(_, Some(slot)), Some((_, Slot::Variable(id)))) =
                (&channel.kind, channel.required())
                && self.written.contains(&id)
            {
                let message = "the block changes the variable that says which connection this is";
                self.refuse(slot.span, message, "use another variable for that");
            }
        }
    }

    fn read(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Variable(id) => self.reads(*id),
            PlaceKind::Character(id, index) => {
                self.expression(index);
                self.reads(*id);
            }
            PlaceKind::Field(record, _) => self.read(record),
            PlaceKind::Element(..) => self.collection(place.span),
            PlaceKind::Item(..) => self.elements(place.span),
            PlaceKind::Guarded(_) => self.component(place.span),
        }
    }

    fn reads(&mut self, id: VariableId) {
        if !self.surely.contains(&id) {
            self.read.insert(id);
        }
    }

    fn write(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Variable(id) => {
                self.written.insert(*id);
                self.surely.insert(*id);
            }
            // The rest of the TEXT or record stays.
            PlaceKind::Character(..) | PlaceKind::Field(..) => {
                self.read(place);
                self.written.insert(place.variable());
            }
            PlaceKind::Element(..) => self.collection(place.span),
            PlaceKind::Item(..) => self.elements(place.span),
            PlaceKind::Guarded(_) => self.component(place.span),
        }
    }

    /// An expression that may begin with NUMBER, which assigns to a variable.
    fn whole(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Number(text, place) => {
                self.expression(text);
                if !matches!(place.kind, PlaceKind::Variable(_)) {
                    return self.write(place);
                }
                self.read(place);
                self.written.insert(place.variable());
            }
            ExpressionKind::Unary(Unary::Not, operand) => self.whole(operand),
            ExpressionKind::Binary(Binary::And | Binary::Or, left, right) => {
                self.whole(left);
                self.expression(right);
            }
            _ => self.expression(expression),
        }
    }

    fn expression(&mut self, expression: &Expression) {
        self.deeper(expression.span, |cargo| cargo.expression_here(expression));
    }

    fn expression_here(&mut self, expression: &Expression) {
        use ExpressionKind::*;
        let span = expression.span;
        match &expression.kind {
            Boolean(_) | Character(_) | Integer(_) | Real(_) | Text(_) => {}
            Read(place) => self.read(place),
            Unary(_, operand) => self.expression(operand),
            Binary(_, left, _) if matches!(left.ty, Type::Record(_)) => {
                self.refuse(
                    span,
                    "a block that may be shipped can't compare records",
                    "compare their fields",
                );
            }
            Binary(_, left, _) if matches!(left.ty, Type::Sequence(_)) => self.elements(span),
            Binary(_, left, right) => [left, right].into_iter().for_each(|it| self.expression(it)),
            Builtin(self::Builtin::Time, _) => {
                self.refuse(span, "TIME is another one there", "ask for it before the block");
            }
            Builtin(self::Builtin::Random, _) => {
                self.refuse(span, "RANDOM is another one there", "ask for it before the block");
            }
            Builtin(self::Builtin::Part | self::Builtin::Sorted, _) => self.elements(span),
            Builtin(_, arguments) => arguments.iter().for_each(|argument| self.expression(argument)),
            ReceiveTest(channel, _) | Input(channel, _, None) => self.channel(channel, span),
            Input(_, _, Some(_)) => {
                let message = "INPUT with a limit waits by the clock of this program";
                self.refuse(span, message, "leave out the limit, or ask before the block");
            }
            Call(procedure, _) => self.procedure(*procedure, span),
            Record(fields) => fields.iter().for_each(|(_, value)| self.expression(value)),
            List(elements) if elements.is_empty() => {}
            List(_) => self.elements(span),
            Number(..) => {
                let help = "let it be what an assignment or a condition does first";
                self.refuse(span, "NUMBER changes a variable in the midst of an expression", help);
            }
            Locked(..) => {
                let message = "the lock of this component can't be taken elsewhere";
                self.refuse(span, message, "take it around the whole block: {EXCLUSIVE, COMPOSITE}");
            }
            Await(..) => self.refuse(
                span,
                "AWAIT waits for other processes of this component",
                "wait before the block",
            ),
            Count(_) | Exists(_) | Fault(_) | Offers(..) | Requires(..) | Is(..) => {
                self.refuse(span, "this asks about what is here", "ask before the block");
            }
        }
    }
}
