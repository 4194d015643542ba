//! WHILE, REPEAT, FOR and FOREACH.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::places::{Target, cell_of};
use super::scope::Exit;
use super::types::reg_type;
use super::{Block_, Lower};
use crate::classify::is_held;
use crate::entries;
use crate::mir::{BlockId, Counter, Inst, Op, RegType, Terminator};

impl Lower<'_, '_> {
    /// What a loop repeats, before it goes on at the loop's head or `outside`.
    fn loop_body(&mut self, body: &Block_, outside: BlockId) {
        self.exits.push(Exit { outside, is_locked: self.lock.written().is_some() });
        self.block_of_statements(body);
        self.exits.pop();
    }

    /// `EXIT`: a lock that was taken in the loop is released first.
    pub(super) fn exit_loop(&mut self, span: Span) {
        let &Exit { outside, is_locked } = self.exits.last().expect("the checker saw a loop");
        let lock = self.lock;
        if lock.written().is_some() && !is_locked {
            self.release_lock(span);
        }
        self.code.unreachable(Terminator::Goto(outside));
        self.lock = lock;
    }

    pub(super) fn while_loop(&mut self, condition: &Expression, body: &Block_) {
        let header = self.code.begin_loop();
        let inside = self.code.new_block();
        let outside = self.code.outside_loop();
        self.condition(condition, inside, outside);
        self.code.start(inside);
        self.loop_body(body, outside);
        self.code.go(header);
        self.code.leave_loop(outside);
    }

    pub(super) fn repeat_loop(&mut self, body: &Block_, condition: &Expression) {
        let header = self.code.begin_loop();
        let outside = self.code.outside_loop();
        self.loop_body(body, outside);
        self.condition(condition, outside, header);
        self.code.leave_loop(outside);
    }

    pub(super) fn for_loop(
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
        // The bounds are evaluated once: nothing assigns these copies.
        let first = self.value(from);
        let first = self.code.snapshot(first);
        let last = self.value(to);
        let last = self.code.snapshot(last);
        let constant = if let ExpressionKind::Integer(step) = by.kind { Some(step) } else { None };
        let mut step = self.value(by);
        if constant.is_none() {
            step = self.code.snapshot(step);
            let location = self.location(by.span);
            self.code.inst(Inst::Require(step, Fault::InvalidArgument, location));
        }
        let mut target = self.prepare(variable);
        self.hold_target(&mut target);
        self.store_target(&target, &Type::Integer, first, variable.span);
        let runs = self.code.not_past(first, last, step, constant);
        let before = self.code.new_block();
        let around = self.code.current();
        self.code.start(before);
        let header = self.code.begin_loop();
        let outside = self.code.outside_loop();
        let first_time = Terminator::Branch { condition: runs, yes: before, no: outside };
        self.code.end_earlier(around, first_time);
        self.loop_body(body, outside);
        let current = self.load_target(&target, &Type::Integer, variable.span);
        // A constant isn't kept for the whole loop.
        let step = constant.map_or(step, |step| self.code.int(step));
        let goes_on = self.code.room_for_step(current, last, step, constant);
        let next = self.code.new_block();
        if let (Target::Register(variable), Some(step)) = (&target, constant) {
            let counter = Counter { variable: *variable, first, last, step, before: around, next };
            self.code.counts(counter);
        }
        self.code.end(Terminator::Branch { condition: goes_on, yes: next, no: outside });
        self.code.start(next);
        let following = self.code.op(Op::Add, current, step);
        self.store_target(&target, &Type::Integer, following, variable.span);
        self.code.go(header);
        self.code.leave_loop(outside);
        self.code.drop_target(&target);
    }

    pub(super) fn foreach_loop(
        &mut self,
        variables: &[Place],
        element: Option<&Place>,
        collection: VariableId,
        body: &Block_,
    ) {
        let declared =
            self.unit.variable(collection).collection.as_ref().expect("the checker saw a collection");
        let types = declared.indices.clone();
        let words = self.code.take_words(types.len() as u32);
        for (index, ty) in types.iter().enumerate() {
            if *ty == Type::Text {
                let offset = words + 8 * index as u32;
                self.code.owns(offset, Kind::Text);
                let word = self.code.slot(offset);
                let zero = self.code.int(0);
                self.code.store(word, zero);
            }
        }
        let first = self.code.reg(RegType::Int);
        self.code.inst(Inst::Int(first, 1));
        let header = self.code.begin_loop();
        let outside = self.code.outside_loop();
        let inside = self.code.new_block();
        let (cell, description) = self.collection_and_description(collection);
        let keys = self.code.address(self.code.slot(words));
        let found = self.code.call(&entries::NEXT, vec![cell, description, keys, first]);
        self.code.end(Terminator::Branch { condition: found, yes: inside, no: outside });
        self.code.start(inside);
        // It is read before anything is assigned: that may move it, or take its place.
        let value = element.map(|place| self.code.load(cell_of(found, &place.ty), reg_type(&place.ty)));
        let text = value.zip(element).filter(|(_, place)| is_held(&place.ty));
        let text = text.map(|(value, _)| self.code.own_register(value));
        self.code.inst(Inst::Int(first, 0));
        for (index, (variable, ty)) in variables.iter().zip(&types).enumerate() {
            let key = self.code.load(self.code.slot(words + 8 * index as u32), RegType::Int);
            let target = self.prepare(variable);
            if *ty == Type::Text {
                let copy = self.code.own_register(key);
                self.store_text(&target, copy.slot.expect("a copy is owned"), variable.span);
            } else {
                self.store_target(&target, ty, key, variable.span);
            }
            self.code.drop_target(&target);
        }
        if let Some((place, value)) = element.zip(value) {
            let target = self.prepare(place);
            match text {
                Some(text) => self.store_text(&target, text.slot.expect("a copy is owned"), place.span),
                None => self.store_target(&target, &place.ty, value, place.span),
            }
            self.code.drop_target(&target);
        }
        self.loop_body(body, outside);
        self.code.go(header);
        self.code.leave_loop(outside);
        for (index, ty) in types.iter().enumerate() {
            if *ty == Type::Text {
                let word = words + 8 * index as u32;
                self.code.free_text(word);
            }
        }
    }
}
