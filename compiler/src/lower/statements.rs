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
use crate::mir::{
    Address, Base, BlockId, Checked, Counter, Inst, Op, Reg, RegType, SuspensionOp, Symbol, Terminator,
};

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
            Return(value) => self.return_statement(value.as_ref(), span),
            NewComponent(place, template) => self.new_component(place, *template),
            NewElement(place) => self.new_element(place),
            NewText(place, length) => self.new_text(place, length, span),
            NewArray(variable, sizes) => self.new_array(*variable, sizes, span),
            DeleteComponent(place) => self.delete_component(place, span),
            DeleteElement(place) => self.delete_element(place),
            DeleteCollection(variable) => self.delete_collection(*variable, span),
            Move(from, to) => self.move_component(from, to),
            Connect(from, to) => self.connect(from, to, span),
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
                let value = self.value(value);
                self.perform(&entries::WRITE_HEX, vec![value]);
            }
            WriteLine => self.perform(&entries::WRITE_LINE, Vec::new()),
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

    fn if_statement(&mut self, arms: &[(Expression, Block_)], rest: Option<&Block_>) {
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

    fn while_loop(&mut self, condition: &Expression, body: &Block_) {
        let header = self.begin_loop();
        let inside = self.new_block();
        let outside = self.outside_loop();
        self.condition(condition, inside, outside);
        self.start(inside);
        self.block_of_statements(body);
        self.go(header);
        self.leave_loop(outside);
    }

    fn repeat_loop(&mut self, body: &Block_, condition: &Expression) {
        let header = self.begin_loop();
        let outside = self.outside_loop();
        self.block_of_statements(body);
        self.condition(condition, outside, header);
        self.leave_loop(outside);
    }

    /// A block after the innermost loop, made while its body is still being lowered.
    fn outside_loop(&mut self) -> BlockId {
        let inner = self.in_loop;
        let outside = self.end_loop();
        self.code.blocks[outside.0 as usize].in_loop = self.in_loop;
        self.in_loop = inner;
        outside
    }

    fn leave_loop(&mut self, outside: BlockId) {
        self.in_loop = self.code.blocks[outside.0 as usize].in_loop;
        self.start(outside);
    }

    fn for_loop(
        &mut self,
        variable: &Place,
        from: &Expression,
        to: &Expression,
        by: &Expression,
        body: &Block_,
    ) {
        if self.unroll(variable, [from, to, by], body) {
            return;
        }
        let first = self.value(from);
        let first = self.hold(first);
        let last = self.value(to);
        let last = self.hold(last);
        let constant = if let ExpressionKind::Integer(step) = by.kind { Some(step) } else { None };
        let step = self.value(by);
        let step = self.hold(step);
        if constant.is_none() {
            let location = self.location(by.span);
            self.inst(Inst::Require(step, Fault::InvalidArgument, location));
        }
        let mut target = self.prepare(variable);
        self.hold_target(&mut target);
        self.store_target(&target, &Type::Integer, first, variable.span);
        let runs = self.not_past(first, last, step, constant);
        let before = self.new_block();
        let around = self.current;
        self.start(before);
        let header = self.begin_loop();
        let outside = self.outside_loop();
        self.code.blocks[around.0 as usize].end =
            Terminator::Branch { condition: runs, yes: before, no: outside };
        self.block_of_statements(body);
        let current = self.load_target(&target, &Type::Integer, variable.span);
        let goes_on = self.room_for_step(current, last, step, constant);
        let next = self.new_block();
        if let (Target::Register(variable), Some(step)) = (&target, constant) {
            let counter = Counter { variable: *variable, first, last, step, before: around, next };
            let number = self.in_loop.expect("this loop");
            self.code.loops[number].counter = Some(counter);
        }
        self.end(Terminator::Branch { condition: goes_on, yes: next, no: outside });
        self.start(next);
        let following = self.op(Op::Add, current, step);
        self.store_target(&target, &Type::Integer, following, variable.span);
        self.go(header);
        self.leave_loop(outside);
        self.drop_target(&target);
    }

    /// The bounds of a loop are evaluated once: takes a copy that nothing assigns.
    fn hold(&mut self, value: Reg) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Copy { to, from: value });
        to
    }

    fn not_past(&mut self, value: Reg, last: Reg, step: Reg, constant: Option<i64>) -> Reg {
        match constant {
            Some(step) if step > 0 => self.op(Op::LessEqual, value, last),
            Some(_) => self.op(Op::GreaterEqual, value, last),
            None => {
                let zero = self.int(0);
                let up = self.op(Op::Greater, step, zero);
                let low = self.op(Op::LessEqual, value, last);
                let down = self.op(Op::Equal, up, zero);
                let high = self.op(Op::GreaterEqual, value, last);
                let a = self.op(Op::And, up, low);
                let b = self.op(Op::And, down, high);
                self.op(Op::Or, a, b)
            }
        }
    }

    /// Whether `value + step` does not go past `last`, without computing it.
    fn room_for_step(&mut self, value: Reg, last: Reg, step: Reg, constant: Option<i64>) -> Reg {
        match constant {
            Some(1) => self.op(Op::Less, value, last),
            Some(-1) => self.op(Op::Greater, value, last),
            Some(constant) => self.room_in(value, last, step, constant > 0),
            None => {
                let zero = self.int(0);
                let up = self.op(Op::Greater, step, zero);
                let down = self.op(Op::Equal, up, zero);
                let a = self.room_in(value, last, step, true);
                let b = self.room_in(value, last, step, false);
                let a = self.op(Op::And, up, a);
                let b = self.op(Op::And, down, b);
                self.op(Op::Or, a, b)
            }
        }
    }

    fn room_in(&mut self, value: Reg, last: Reg, step: Reg, up: bool) -> Reg {
        let zero = self.int(0);
        let (before, distance, stride) = if up {
            (self.op(Op::Less, value, last), self.op(Op::Subtract, last, value), step)
        } else {
            let stride = self.op(Op::Subtract, zero, step);
            (self.op(Op::Greater, value, last), self.op(Op::Subtract, value, last), stride)
        };
        let short = self.op(Op::LessUnsigned, distance, stride);
        let fits = self.op(Op::Equal, short, zero);
        self.op(Op::And, before, fits)
    }

    fn foreach_loop(&mut self, variables: &[Place], collection: VariableId, body: &Block_) {
        let declared =
            self.unit.variable(collection).collection.as_ref().expect("the checker saw a collection");
        let types = declared.indices.clone();
        let words = self.take_words(types.len() as u32);
        for (index, ty) in types.iter().enumerate() {
            if *ty == Type::Text {
                let offset = words + 8 * index as u32;
                self.code.owned.push(crate::mir::OwnedSlot { offset, variable: None, kind: Kind::Text });
                let word = self.slot(offset);
                let zero = self.int(0);
                self.store(word, zero);
            }
        }
        let first = self.reg(RegType::Int);
        self.inst(Inst::Int(first, 1));
        let header = self.begin_loop();
        let outside = self.outside_loop();
        let inside = self.new_block();
        let address = self.address_of(collection);
        let cell = self.reg(RegType::Int);
        self.inst(Inst::Address { to: cell, of: address });
        let description = self.symbol(Symbol::Collection(collection));
        let keys = self.reg(RegType::Int);
        let keys_address = self.slot(words);
        self.inst(Inst::Address { to: keys, of: keys_address });
        let found = self.call(&entries::NEXT, vec![cell, description, keys, first]);
        self.end(Terminator::Branch { condition: found, yes: inside, no: outside });
        self.start(inside);
        self.inst(Inst::Int(first, 0));
        for (index, (variable, ty)) in variables.iter().zip(&types).enumerate() {
            let key = self.load(self.slot(words + 8 * index as u32), RegType::Int);
            let target = self.prepare(variable);
            if *ty == Type::Text {
                let copy = self.own_register(key);
                self.store_text(&target, copy.slot.expect("a copy is owned"), variable.span);
            } else {
                self.store_target(&target, ty, key, variable.span);
            }
            self.drop_target(&target);
        }
        self.block_of_statements(body);
        self.go(header);
        self.leave_loop(outside);
        for (index, ty) in types.iter().enumerate() {
            if *ty == Type::Text {
                let word = words + 8 * index as u32;
                self.drop_slot(word);
                self.give_slot(word, Kind::Text);
            }
        }
    }

    fn return_statement(&mut self, value: Option<&Expression>, span: Span) {
        let mut text = None;
        let mut result = None;
        match value {
            Some(value) if value.ty == Type::Text => text = Some(self.owned_text(value)),
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

    /// Waits until what `test` computes holds: the condition, or something that only this process knows.
    pub(super) fn await_condition(
        &mut self,
        condition: &Expression,
        is_own: bool,
        span: Span,
        test: impl FnOnce(&mut Self) -> Reg,
    ) {
        let location = self.location(span);
        let entry = self.new_block();
        let mut dependence = self.unit.awaited.dependence(self.unit.program, self.template, condition);
        dependence.common &= !is_own;
        // Under a caller's lock nobody here knows what the caller has written.
        let written = self.ours.unwrap_or(EVERYTHING);
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
