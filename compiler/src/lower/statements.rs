//! Statements.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::places::Target;
use super::{Block_, Lower, Runs};
use crate::awaited::EVERYTHING;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::{Address, Base, Checked, Inst, Op, Reg, RegType, SuspensionOp, Symbol, Terminator};

impl Lower<'_, '_> {
    /// A block, under its lock unless one is held.
    pub(super) fn block_of_statements(&mut self, block: &Block_) {
        let take = match block.lock {
            Some(mode) if self.lock.is_none() && !self.in_condition => Some(mode),
            _ => None,
        };
        let span = block.statements.first().map_or(Span::default(), |statement| statement.span);
        if let Some(mode) = take {
            let location = self.location(span);
            self.suspend(SuspensionOp::Lock(mode), location);
            (self.lock, self.ours) = (Some(mode), Some(self.unit.awaited.written_by(block)));
            self.keep_handlers_away(true);
        }
        for statement in &block.statements {
            self.statement(statement);
        }
        if let Some(mode) = take {
            self.unlock(mode, span);
        }
    }

    /// Releases the lock that was taken here.
    pub(super) fn unlock(&mut self, mode: LockMode, span: Span) {
        let location = self.location(span);
        let written = self.ours.take().expect("it was taken here");
        self.keep_handlers_away(false);
        self.lock = None;
        self.suspend(SuspensionOp::Unlock { mode, written }, location);
    }

    fn statement(&mut self, statement: &Statement) {
        self.cut_if_long();
        let cuts = self.cuts;
        self.statement_alone(statement);
        if self.cuts != cuts {
            // Each of the segments inside would repeat what follows.
            self.begin_segment();
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
            While(condition, body) => self.while_loop(condition, body),
            Repeat(body, condition) => self.repeat_loop(body, condition),
            For { variable, from, to, by, body } => self.for_loop(variable, from, to, by, body),
            Foreach { variables, collection, body } => self.foreach_loop(variables, *collection, body),
            Block(block) => self.block_of_statements(block),
            Composite(id, block) => self.composite(*id, block, span),
            Return(value) => self.return_statement(value.as_ref(), span),
            NewComponent(place, template) => self.new_component(place, *template),
            NewComponentAt { target, template, domain, by } => {
                self.new_component_at(target, *template, domain, by)
            }
            NewElement(place) => self.new_element(place),
            NewText(place, length) => self.new_text(place, length, span),
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
                self.inst(Inst::Require(holds, Fault::AssertionFailed, location));
            }
            Halt(status) => {
                let status = self.value(status);
                let location = self.location(span);
                self.suspend(
                    SuspensionOp::Call { to: None, entry: &entries::HALT, arguments: vec![status] },
                    location,
                );
                self.unreachable(Terminator::Unreachable);
            }
            Write(value) => self.write(value),
            WriteHex(value) => {
                self.note_writing();
                let value = self.value(value);
                self.perform(&entries::WRITE_HEX, vec![value]);
            }
            WriteLine => {
                self.note_writing();
                self.perform(&entries::WRITE_LINE, Vec::new());
            }
            Passivate(time) => {
                let time = self.value(time);
                let location = self.location(span);
                let at = self.int(location as i64);
                self.suspending_call(&entries::PASSIVATE, vec![time, at], location);
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
        if place.ty == Type::Text {
            let slot = self.owned_text(value);
            self.store_text(&target, slot, place.span);
        } else {
            let value = self.value(value);
            self.store_target(&target, &place.ty, value, place.span);
        }
        self.drop_target(&target);
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
        self.drop_target(&target);
    }

    fn call_and_drop(&mut self, procedure: ProcedureId, arguments: &[Argument], span: Span) {
        let result = self.call_procedure(procedure, arguments, span);
        if self.unit.program.procedures[procedure.index()].result == Some(Type::Text) {
            self.perform(&entries::TEXT_DROP, vec![result.expect("a function has a result")]);
        }
    }

    /// `IF a < b THEN INC(n) END` adds what the comparison gives, without a jump that no processor could foresee; tells
    /// whether the statement is such a one.
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
        if !is_one || !self.is_in_register(id) || a.ty == Type::Text {
            return false;
        }
        let flag = self.value(condition);
        let counter = self.register_of(id);
        let counted = self.checked(operator, counter, flag, *span);
        self.inst(Inst::Copy { to: counter, from: counted });
        true
    }

    fn if_statement(&mut self, arms: &[(Expression, Block_)], rest: Option<&Block_>) {
        if self.count_if(arms, rest) {
            return;
        }
        let done = self.new_block();
        for (condition, block) in arms {
            let (yes, no) = (self.new_block(), self.new_block());
            self.condition(condition, yes, no);
            self.start(yes);
            self.block_of_statements(block);
            self.go(done);
            self.start(no);
            self.cut_if_long();
        }
        if let Some(block) = rest {
            self.block_of_statements(block);
        }
        self.go(done);
        self.start(done);
    }

    fn return_statement(&mut self, value: Option<&Expression>, span: Span) {
        let mut text = None;
        let mut result = None;
        match value {
            Some(value) if value.ty == Type::Text => text = Some(self.returned_text(value)),
            Some(value) => {
                let value = self.value(value);
                let copy = self.reg(self.code.registers[value.0 as usize]);
                self.inst(Inst::Copy { to: copy, from: value });
                result = Some(copy);
            }
            None => {}
        }
        let (lock, ours) = (self.lock, self.ours);
        if let (Some(mode), Some(_)) = (lock, ours) {
            self.unlock(mode, span);
        }
        let location = self.location(span);
        match self.runs {
            Runs::Body(_) => {
                self.drop_temporaries(None);
                let finish = self.finish.expect("a body has an end");
                self.unreachable(Terminator::Goto(finish));
            }
            Runs::Procedure(_) => {
                self.drop_temporaries(text);
                self.drop_frame(location);
                if let Some(slot) = text {
                    result = Some(self.take_from_slot(slot, Kind::Text));
                }
                self.unreachable(Terminator::Return(result));
            }
        }
        (self.lock, self.ours) = (lock, ours);
    }

    /// Waits until what `test` computes holds: the condition, or something that only this process knows. Whoever
    /// releases the lock tests it, unless that may take long.
    pub(super) fn await_condition(
        &mut self,
        condition: &Expression,
        is_own: bool,
        span: Span,
        test: impl FnOnce(&mut Self) -> Reg,
    ) {
        let location = self.location(span);
        let mut dependence = self.unit.awaited.dependence(self.unit.program, self.template, condition);
        dependence.common &= !is_own;
        // Under a caller's lock nobody here knows what the caller has written.
        let written = self.ours.unwrap_or(EVERYTHING);
        if self.unit.facts.takes_long(self.unit.program, condition) {
            self.begin_segment();
            let again = self.current;
            self.watches = dependence.watches;
            let holds = test(self);
            self.watches = false;
            self.suspend(SuspensionOp::AwaitTested { holds, again, dependence, written }, location);
            return;
        }
        let entry = self.new_block();
        self.suspend(SuspensionOp::Await { condition: entry, dependence, written }, location);
        let after = self.current;
        let in_condition = std::mem::replace(&mut self.in_condition, true);
        self.watches = dependence.watches;
        self.start(entry);
        let answer = test(self);
        self.end(Terminator::Answer(answer));
        self.watches = false;
        self.in_condition = in_condition;
        self.start(after);
    }

    fn write(&mut self, value: &Expression) {
        self.note_writing();
        if value.ty == Type::Text {
            let text = self.text(value);
            self.perform(&entries::WRITE_TEXT, vec![text.reg]);
            self.drop_text(text);
            return;
        }
        let entry = match value.ty {
            Type::Boolean => &entries::WRITE_BOOLEAN,
            Type::Character => &entries::WRITE_CHARACTER,
            Type::Real => &entries::WRITE_REAL,
            _ => &entries::WRITE_INTEGER,
        };
        let value = self.value(value);
        self.perform(entry, vec![value]);
    }

    fn new_element(&mut self, place: &Place) {
        let target = self.prepare(place);
        let there = self.find(&target);
        let zero = self.int(0);
        let absent = self.op(Op::Equal, there, zero);
        let at = self.location(place.span);
        self.inst(Inst::Require(absent, Fault::FullContainer, at));
        self.find_or_make(&target, place.span);
        self.drop_target(&target);
    }

    fn delete_element(&mut self, place: &Place) {
        let target = self.prepare(place);
        let Target::Element { variable, collection, ref keys } = target else {
            unreachable!("the checker saw an element");
        };
        let at = self.location(place.span);
        let removed = self.remove(variable, collection, keys);
        self.inst(Inst::Require(removed, Fault::MissingElement, at));
        self.drop_target(&target);
    }

    fn new_text(&mut self, place: &Place, length: &Expression, span: Span) {
        let length = self.value(length);
        let at = self.location_register(span);
        let made = self.call(&entries::TEXT_NEW, vec![length, at]);
        let slot = self.keep(made).slot.expect("a new text is owned");
        let target = self.prepare(place);
        self.store_text(&target, slot, place.span);
        self.drop_target(&target);
    }

    fn new_array(&mut self, variable: VariableId, sizes: &[Expression], span: Span) {
        let sizes: Vec<Reg> = sizes.iter().map(|size| self.value(size)).collect();
        let (cell, description) = self.collection_and_description(variable);
        let words = self.reg(RegType::Int);
        self.inst(Inst::Words(words, sizes));
        let at = self.location_register(span);
        self.call(&entries::ARRAY_NEW, vec![cell, description, words, at]);
        // The array stays where it is in what follows.
        self.begin_segment();
    }

    fn delete_collection(&mut self, variable: VariableId, span: Span) {
        let (cell, description) = self.collection_and_description(variable);
        let location = self.location(span);
        let at = self.int(location as i64);
        self.suspending_call(&entries::DELETE_COLLECTION, vec![cell, description, at], location);
    }

    fn collection_and_description(&mut self, variable: VariableId) -> (Reg, Reg) {
        let address: Address = self.address_of(variable);
        debug_assert!(address.base != Base::Reg(Reg(u32::MAX)));
        let cell = self.reg(RegType::Int);
        self.inst(Inst::Address { to: cell, of: address });
        let description = self.symbol(Symbol::Collection(variable));
        (cell, description)
    }
}
