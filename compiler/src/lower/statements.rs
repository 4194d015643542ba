//! Statements.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::places::Target;
use super::scope::Runs;
use super::{Block_, Lower};
use crate::classify::is_held;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::{Checked, Inst, Op, Reg, SuspensionOp, Symbol, Terminator};

impl Lower<'_, '_> {
    /// A block, under its lock unless one is held.
    pub(super) fn block_of_statements(&mut self, block: &Block_) {
        let taken = block.lock.filter(|_| self.may_take_lock());
        let span = block.statements.first().map_or(Span::default(), |statement| statement.span);
        if let Some(mode) = taken {
            let written = self.unit.awaited.written_by(block);
            self.take_lock(mode, written, span);
        }
        for statement in &block.statements {
            self.statement(statement);
        }
        if taken.is_some() {
            self.release_lock(span);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        self.code.cut_if_long();
        let cuts = self.code.cuts();
        self.statement_alone(statement);
        if self.code.cuts() != cuts {
            // Each of the segments inside would repeat what follows.
            self.code.begin_segment();
        }
    }

    fn statement_alone(&mut self, statement: &Statement) {
        use StatementKind::*;
        let span = statement.span;
        match &statement.kind {
            Assign(place, value) => self.assign(place, value),
            Send { channel, message, arguments } => self.send(channel, *message, arguments, span),
            Receive { channel, message, targets } => self.receive(channel, *message, targets, span),
            Call(procedure, arguments) => self.call_and_drop(*procedure, arguments, span),
            If(arms, rest) => self.if_statement(arms, rest.as_ref()),
            Case(value, branches, rest) => self.case(value, branches, rest.as_ref()),
            Arrivals { channel, branches, otherwise } => {
                self.arrivals(channel, branches, otherwise.as_ref(), span);
            }
            Select(alternatives) => self.select(alternatives, span),
            While(condition, body) => self.while_loop(condition, body),
            Repeat(body, condition) => self.repeat_loop(body, condition),
            For { variable, from, to, by, body } => self.for_loop(variable, from, to, by, body),
            Foreach { variables, element, collection, body } => {
                self.foreach_loop(variables, element.as_ref(), *collection, body)
            }
            Block(block) => self.block_of_statements(block),
            Composite(id, block) => self.composite(*id, block, span),
            Return(value) => self.return_statement(value.as_ref(), span),
            Exit => self.exit_loop(span),
            NewComponent(place, template) => self.new_component(place, *template),
            NewComponentAt { target, template, domain, by } => {
                self.new_component_at(target, *template, domain, by)
            }
            NewElement(place) => self.new_element(place),
            NewText(place, length) => self.new_text(place, length, span),
            NewSequence(place, count) => self.new_sequence(place, count, span),
            Insert(place, index, value) => self.insert_element(place, index.as_ref(), value, span),
            Remove(place, index) => self.remove_element(place, index, span),
            NewArray(variable, sizes) => self.new_array(*variable, sizes, span),
            DeleteComponent(place) => self.delete_component(place, span),
            DeleteElement(place) => self.delete_element(place),
            DeleteCollection(variable) => self.delete_collection(*variable, span),
            Move(from, to) => self.move_component(from, to),
            Connect(from, to, by) => self.connect(from, to, by.as_ref(), span),
            Bind { required, interface, name, by } => self.bind(required, *interface, name, by, span),
            Export { offered, interface, name, by } => self.export(offered, *interface, name, by, span),
            Disconnect(end) => self.disconnect(end, span),
            Await(condition) => self.await_condition(condition, false, span, |lower| lower.value(condition)),
            Increase(place, by) => self.change(place, by, Checked::Add, span),
            Decrease(place, by) => self.change(place, by, Checked::Subtract, span),
            Assert(condition, _) => {
                let holds = self.value(condition);
                let location = self.location(span);
                self.code.inst(Inst::Require(holds, Fault::AssertionFailed, location));
            }
            Halt(status) => {
                let status = self.value(status);
                let location = self.location(span);
                self.code.suspend(
                    SuspensionOp::Call { to: None, entry: &entries::HALT, arguments: vec![status] },
                    location,
                );
                self.code.unreachable(Terminator::Unreachable);
            }
            Write(value) => self.write(value),
            WriteHex(value) => {
                self.code.note_writing();
                let value = self.value(value);
                self.code.perform(&entries::WRITE_HEX, vec![value]);
            }
            WriteLine => {
                self.code.note_writing();
                self.code.perform(&entries::WRITE_LINE, Vec::new());
            }
            Passivate(time) => {
                let time = self.value(time);
                let location = self.location(span);
                let at = self.code.int(location as i64);
                self.code.suspending_call(&entries::PASSIVATE, vec![time, at], location);
            }
        }
    }

    fn assign(&mut self, place: &Place, value: &Expression) {
        if place.ty == Type::Text && self.append(place, value) {
            return;
        }
        let mut target = self.prepare(place);
        if has_effects(value) {
            self.hold_target(&mut target);
        }
        if is_held(&place.ty) {
            let slot = self.owned_text(value);
            self.store_text(&target, slot, place.span);
        } else {
            let value = self.value(value);
            self.store_target(&target, &place.ty, value, place.span);
        }
        self.code.drop_target(&target);
    }

    fn change(&mut self, place: &Place, by: &Expression, operator: Checked, span: Span) {
        let by = self.value(by);
        let target = self.prepare(place);
        // Nothing moves an element while it is changed: it is looked up once.
        let found = self.changed_element(&target, place);
        let changed = found.as_ref().unwrap_or(&target);
        let old = self.load_target(changed, &place.ty, place.span);
        let new = self.checked(operator, old, by, span);
        self.store_target(changed, &place.ty, new, place.span);
        self.code.drop_target(&target);
    }

    fn call_and_drop(&mut self, procedure: ProcedureId, arguments: &[Argument], span: Span) {
        let result = self.call_procedure(procedure, arguments, span);
        if self.unit.program.procedures[procedure.index()].result.as_ref().is_some_and(is_held) {
            self.code.perform(&entries::TEXT_DROP, vec![result.expect("a function has a result")]);
        }
    }

    /// `IF a < b THEN INC(n) END` adds the result of the comparison, without a jump that would be hard to predict;
    /// gives whether the statement has that form.
    fn count_if(&mut self, arms: &[(Expression, Block_)], rest: Option<&Block_>) -> bool {
        let ([(condition, Block_ { lock: None, statements })], None) = (arms, rest) else { return false };
        let [Statement { kind, span }] = &statements[..] else { return false };
        let (place, by, operator) = match kind {
            StatementKind::Increase(place, by) => (place, by, Checked::Add),
            StatementKind::Decrease(place, by) => (place, by, Checked::Subtract),
            _ => return false,
        };
        let is_one = matches!(by.kind, ExpressionKind::Integer(1));
        let PlaceKind::Variable(id) = place.kind else { return false };
        let ExpressionKind::Binary(Binary::Compare(_), a, _) = &condition.kind else { return false };
        if !is_one || !self.scope.is_in_register(self.unit, id) || is_held(&a.ty) {
            return false;
        }
        let flag = self.value(condition);
        let counter = self.scope.register_of(self.unit, &mut self.code, id);
        let counted = self.checked(operator, counter, flag, *span);
        self.code.inst(Inst::Copy { to: counter, from: counted });
        true
    }

    fn if_statement(&mut self, arms: &[(Expression, Block_)], rest: Option<&Block_>) {
        if self.count_if(arms, rest) {
            return;
        }
        let done = self.code.new_block();
        for (condition, block) in arms {
            let (yes, no) = (self.code.new_block(), self.code.new_block());
            self.condition(condition, yes, no);
            self.code.start(yes);
            self.block_of_statements(block);
            self.code.go(done);
            self.code.start(no);
            self.code.cut_if_long();
        }
        if let Some(block) = rest {
            self.block_of_statements(block);
        }
        self.code.go(done);
        self.code.start(done);
    }

    fn return_statement(&mut self, value: Option<&Expression>, span: Span) {
        let mut text = None;
        let mut result = None;
        match value {
            Some(value) if is_held(&value.ty) => text = Some(self.returned_text(value)),
            Some(value) => {
                let value = self.value(value);
                result = Some(self.code.snapshot(value));
            }
            None => {}
        }
        let lock = self.lock;
        if lock.written().is_some() {
            self.release_lock(span);
        }
        let location = self.location(span);
        match self.scope.runs {
            Runs::Body(_) => {
                self.code.drop_temporaries(None);
                let finish = self.finish.expect("a body has an end");
                self.code.unreachable(Terminator::Goto(finish));
            }
            Runs::Procedure(_) => {
                self.code.drop_temporaries(text);
                self.code.drop_frame(location);
                if let Some(slot) = text {
                    result = Some(self.code.take_from_slot(slot, Kind::Text));
                }
                self.code.unreachable(Terminator::Return(result));
            }
        }
        self.lock = lock;
    }

    fn write(&mut self, value: &Expression) {
        self.code.note_writing();
        if value.ty == Type::Text {
            let text = self.text(value);
            self.code.perform(&entries::WRITE_TEXT, vec![text.reg]);
            self.code.drop_text(text);
            return;
        }
        let entry = match value.ty {
            Type::Boolean => &entries::WRITE_BOOLEAN,
            Type::Character => &entries::WRITE_CHARACTER,
            Type::Real => &entries::WRITE_REAL,
            _ => &entries::WRITE_INTEGER,
        };
        let value = self.value(value);
        self.code.perform(entry, vec![value]);
    }

    fn new_element(&mut self, place: &Place) {
        let target = self.prepare(place);
        let there = self.find(&target);
        let zero = self.code.int(0);
        let absent = self.code.op(Op::Equal, there, zero);
        let at = self.location(place.span);
        self.code.inst(Inst::Require(absent, Fault::FullContainer, at));
        self.find_or_make(&target, place.span);
        self.code.drop_target(&target);
    }

    fn delete_element(&mut self, place: &Place) {
        let target = self.prepare(place);
        let Target::Element { variable, collection, ref keys } = target else {
            unreachable!("the checker saw an element");
        };
        let at = self.location(place.span);
        let removed = self.remove(variable, collection, keys);
        self.code.inst(Inst::Require(removed, Fault::MissingElement, at));
        self.code.drop_target(&target);
    }

    fn new_text(&mut self, place: &Place, length: &Expression, span: Span) {
        let length = self.value(length);
        let at = self.location_register(span);
        let made = self.code.call(&entries::TEXT_NEW, vec![length, at]);
        let slot = self.code.keep(made).slot.expect("a new text is owned");
        let target = self.prepare(place);
        self.store_text(&target, slot, place.span);
        self.code.drop_target(&target);
    }

    fn new_array(&mut self, variable: VariableId, sizes: &[Expression], span: Span) {
        let sizes: Vec<Reg> = sizes.iter().map(|size| self.value(size)).collect();
        let (cell, description) = self.collection_and_description(variable);
        let words = self.code.words(&sizes);
        let at = self.location_register(span);
        self.code.call(&entries::ARRAY_NEW, vec![cell, description, words, at]);
        // The array stays where it is in what follows.
        self.code.begin_segment();
    }

    fn delete_collection(&mut self, variable: VariableId, span: Span) {
        let (cell, description) = self.collection_and_description(variable);
        let location = self.location(span);
        let at = self.code.int(location as i64);
        self.code.suspending_call(&entries::DELETE_COLLECTION, vec![cell, description, at], location);
    }

    /// The cell of a collection, and what describes its elements.
    pub(super) fn collection_and_description(&mut self, variable: VariableId) -> (Reg, Reg) {
        let address = self.scope.address_of(self.unit, &mut self.code, variable);
        let cell = self.code.address(address);
        let description = self.code.symbol(Symbol::Collection(variable));
        (cell, description)
    }
}
