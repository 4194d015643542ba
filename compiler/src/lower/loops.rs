//! Loops.

use drystone_component::Kind;
use drystone_language::program::*;
use drystone_runtime::layout::Fault;

use super::places::Target;
use super::{Block_, Lower};
use crate::entries;
use crate::mir::{BlockId, Counter, Inst, Op, Reg, RegType, Symbol, Terminator};

impl Lower<'_, '_> {
    pub(super) fn while_loop(&mut self, condition: &Expression, body: &Block_) {
        let header = self.begin_loop();
        let inside = self.new_block();
        let outside = self.outside_loop();
        self.condition(condition, inside, outside);
        self.start(inside);
        self.block_of_statements(body);
        self.go(header);
        self.leave_loop(outside);
    }

    pub(super) fn repeat_loop(&mut self, body: &Block_, condition: &Expression) {
        let header = self.begin_loop();
        let outside = self.outside_loop();
        self.block_of_statements(body);
        self.condition(condition, outside, header);
        self.leave_loop(outside);
    }

    /// A block after the innermost loop, made while its body is still being lowered.
    pub(super) fn outside_loop(&mut self) -> BlockId {
        let inner = self.in_loop;
        let outside = self.end_loop();
        self.code.blocks[outside.0 as usize].in_loop = self.in_loop;
        self.in_loop = inner;
        outside
    }

    pub(super) fn leave_loop(&mut self, outside: BlockId) {
        self.in_loop = self.code.blocks[outside.0 as usize].in_loop;
        self.start(outside);
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
        let first = self.value(from);
        let first = self.hold(first);
        let last = self.value(to);
        let last = self.hold(last);
        let constant = if let ExpressionKind::Integer(step) = by.kind { Some(step) } else { None };
        let mut step = self.value(by);
        if constant.is_none() {
            step = self.hold(step);
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
        // A constant isn't kept for the whole loop.
        let step = constant.map_or(step, |step| self.int(step));
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
    pub(super) fn hold(&mut self, value: Reg) -> Reg {
        let to = self.reg(RegType::Int);
        self.inst(Inst::Copy { to, from: value });
        to
    }

    pub(super) fn not_past(&mut self, value: Reg, last: Reg, step: Reg, constant: Option<i64>) -> Reg {
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
    pub(super) fn room_for_step(&mut self, value: Reg, last: Reg, step: Reg, constant: Option<i64>) -> Reg {
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

    pub(super) fn room_in(&mut self, value: Reg, last: Reg, step: Reg, up: bool) -> Reg {
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

    pub(super) fn foreach_loop(&mut self, variables: &[Place], collection: VariableId, body: &Block_) {
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
}
