//! Expressions of the other types, conditions, and calls of procedures.

use drystone_component::Kind;
use drystone_language::program::Binary as B;
use drystone_language::program::Unary as U;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::{Lower, reg_type};
use crate::effects::has_effects;
use crate::entries;
use crate::mir::{self, *};

impl Lower<'_, '_> {
    /// Evaluates an expression that is not a TEXT.
    pub(super) fn value(&mut self, expression: &Expression) -> Reg {
        use ExpressionKind::*;
        match &expression.kind {
            Boolean(value) => self.int(*value as i64),
            Character(value) => self.int(*value as i64),
            Integer(value) => self.int(*value),
            Real(value) => {
                let to = self.reg(RegType::Real);
                self.inst(Inst::Real(to, *value));
                to
            }
            Text(_) => unreachable!("texts are evaluated by text()"),
            Read(place) => {
                let target = self.prepare(place);
                let value = self.load_target(&target, &place.ty, place.span);
                self.drop_target(&target);
                value
            }
            Call(procedure, arguments) => {
                self.call_procedure(*procedure, arguments, expression.span).expect("a function has a result")
            }
            Unary(U::Not, operand) => {
                let value = self.value(operand);
                let one = self.int(1);
                self.op(Op::Xor, value, one)
            }
            Unary(U::NegateInteger, operand) => {
                let value = self.value(operand);
                let zero = self.int(0);
                self.checked(Checked::Subtract, zero, value, expression.span)
            }
            Unary(U::NegateReal, operand) => {
                let value = self.value(operand);
                self.unary(mir::Unary::NegateReal, value)
            }
            Binary(B::And | B::Or, ..) => self.by_control_flow(expression),
            Binary(operator, a, b) => self.binary(*operator, a, b, expression.span),
            Builtin(builtin, arguments) => self.builtin(*builtin, arguments, expression.span),
            Number(text, target) => self.number(text, target),
            Count(required) => {
                let instance = self.reg(RegType::Int);
                self.inst(Inst::Base(instance, Base::Instance));
                let required = self.int(*required as i64);
                if self.in_condition {
                    return self.call(&entries::COUNT, vec![instance, required]);
                }
                let location = self.location(expression.span);
                self.suspending_call(&entries::COUNT, vec![instance, required], location)
            }
            Locked(mode, inner) => self.locked(*mode, inner, |lower| lower.value(inner)),
            ReceiveTest(channel, pattern) => self.test(channel, *pattern, expression.span),
            Input(channel, pattern) => self.input(channel, *pattern, expression.span),
            Await(condition, limit) => self.timed_await(condition, limit, expression.span),
            Exists(place) => self.exists(place),
            Offers(place, facets) => {
                let any = AnyType { offers: facets.clone(), requires: None };
                self.conforms(place, any)
            }
            Requires(place, facets) => self.requires(place, facets),
            Is(place, Type::Component(template)) => {
                let instance = self.instance_in(place);
                let template = self.symbol(Symbol::Template(*template));
                let at = self.location_register(place.span);
                self.call(&entries::IS, vec![instance, template, at])
            }
            Is(place, Type::Any(any)) => self.conforms(place, any.clone()),
            Is(..) => unreachable!("IS takes a component type"),
        }
    }

    /// `AWAIT(condition, limit)`. An alarm wakes who still waits when the time is up; then it looks again.
    fn timed_await(&mut self, condition: &Expression, limit: &Expression, span: Span) -> Reg {
        let limit = self.value(limit);
        let holds = self.reg(RegType::Int);
        let now = self.value(condition);
        self.inst(Inst::Copy { to: holds, from: now });
        let [try_limit, wait, done] = [(); 3].map(|()| self.new_block());
        self.end(Terminator::Branch { condition: holds, yes: done, no: try_limit });
        self.start(try_limit);
        let zero = self.int(0);
        let may_wait = self.op(Op::Less, zero, limit);
        self.end(Terminator::Branch { condition: may_wait, yes: wait, no: done });
        self.start(wait);
        let location = self.location(span);
        self.suspend(SuspensionOp::Home, location);
        let deadline = self.call(&entries::DEADLINE, vec![limit]);
        let alarm = self.call(&entries::ALARM, vec![deadline]);
        self.await_condition(condition, true, span, |lower| {
            let holds = lower.value(condition);
            let late = lower.call(&entries::IS_PAST, vec![deadline]);
            lower.op(Op::Or, holds, late)
        });
        self.perform(&entries::ALARM_OVER, vec![deadline, alarm]);
        let then = self.value(condition);
        self.inst(Inst::Copy { to: holds, from: then });
        self.go(done);
        self.start(done);
        holds
    }

    /// Holds the lock while something is evaluated.
    pub(super) fn locked<T>(
        &mut self,
        mode: LockMode,
        inner: &Expression,
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.lock.is_some() || self.in_condition {
            return evaluate(self);
        }
        let location = self.location(inner.span);
        self.suspend(SuspensionOp::Lock(mode), location);
        (self.lock, self.ours) = (Some(mode), Some(self.unit.awaited.written_in(inner)));
        self.keep_handlers_away(true);
        let value = evaluate(self);
        self.unlock(mode, inner.span);
        value
    }

    fn by_control_flow(&mut self, expression: &Expression) -> Reg {
        let to = self.reg(RegType::Int);
        let (yes, no, done) = (self.new_block(), self.new_block(), self.new_block());
        self.condition(expression, yes, no);
        self.start(yes);
        self.inst(Inst::Int(to, 1));
        self.go(done);
        self.start(no);
        self.inst(Inst::Int(to, 0));
        self.go(done);
        self.start(done);
        to
    }

    /// Goes to one block or the other.
    pub(super) fn condition(&mut self, expression: &Expression, yes: BlockId, no: BlockId) {
        use ExpressionKind::*;
        match &expression.kind {
            Boolean(value) => self.go(if *value { yes } else { no }),
            Unary(U::Not, operand) => self.condition(operand, no, yes),
            Binary(B::And, a, b) => {
                let right = self.new_block();
                self.condition(a, right, no);
                self.start(right);
                self.condition(b, yes, no);
            }
            Binary(B::Or, a, b) => {
                let right = self.new_block();
                self.condition(a, yes, right);
                self.start(right);
                self.condition(b, yes, no);
            }
            _ => {
                let value = self.value(expression);
                self.end(Terminator::Branch { condition: value, yes, no });
            }
        }
    }

    pub(super) fn checked(&mut self, operator: Checked, a: Reg, b: Reg, span: Span) -> Reg {
        let to = self.reg(RegType::Int);
        let location = self.location(span);
        self.inst(Inst::Checked { to, operator, a, b, location });
        to
    }

    fn unary(&mut self, operator: mir::Unary, a: Reg) -> Reg {
        let to = self.reg(operator.types().1);
        self.inst(Inst::Unary { to, operator, from: a });
        to
    }

    fn binary(&mut self, operator: B, a: &Expression, b: &Expression, span: Span) -> Reg {
        if let B::Compare(comparison) = operator
            && a.ty == Type::Text
        {
            return self.compare_texts(comparison, a, b);
        }
        let left = self.value(a);
        let left = if has_effects(b) { self.snapshot(left) } else { left };
        let right = self.value(b);
        match operator {
            B::AddInteger => self.checked(Checked::Add, left, right, span),
            B::SubtractInteger => self.checked(Checked::Subtract, left, right, span),
            B::MultiplyInteger => self.checked(Checked::Multiply, left, right, span),
            B::Div => self.checked(Checked::Div, left, right, span),
            B::Mod => self.checked(Checked::Mod, left, right, span),
            B::AddReal => self.op(Op::AddReal, left, right),
            B::SubtractReal => self.op(Op::SubtractReal, left, right),
            B::MultiplyReal => self.op(Op::MultiplyReal, left, right),
            B::DivideReal => self.op(Op::DivideReal, left, right),
            B::Compare(comparison) => self.op(comparison_op(comparison, a.ty == Type::Real), left, right),
            B::And | B::Or | B::Concatenate => unreachable!("handled by the callers"),
        }
    }

    /// A variable's register may be assigned before its value is used: takes a copy.
    pub(super) fn snapshot(&mut self, value: Reg) -> Reg {
        let to = self.reg(self.code.registers[value.0 as usize]);
        self.inst(Inst::Copy { to, from: value });
        to
    }

    fn builtin(&mut self, builtin: Builtin, arguments: &[Expression], span: Span) -> Reg {
        use drystone_language::program::Builtin::*;
        match builtin {
            Time => self.call(&entries::TIME, Vec::new()),
            Length => {
                let text = self.text(&arguments[0]);
                let length = self.text_length(text.reg);
                self.drop_text(text);
                length
            }
            Find => {
                let (mut text, mut part) = self.two_texts(&arguments[0], &arguments[1]);
                if has_effects(&arguments[2]) {
                    (text, part) = (self.own(text), self.own(part));
                }
                let from = self.value(&arguments[2]);
                let at = self.location_register(span);
                let found = self.call(&entries::TEXT_FIND, vec![text.reg, part.reg, from, at]);
                self.drop_text(text);
                self.drop_text(part);
                found
            }
            Random => {
                let low = self.value(&arguments[0]);
                let high = self.value(&arguments[1]);
                let location = self.location(span);
                let ordered = self.op(Op::LessEqual, low, high);
                self.inst(Inst::Require(ordered, Fault::InvalidArgument, location));
                let at = self.int(location as i64);
                self.call(&entries::RANDOM, vec![low, high, at])
            }
            _ => {
                let values = self.values(arguments);
                self.arithmetic(builtin, &values, span)
            }
        }
    }

    /// One after the other.
    fn values(&mut self, expressions: &[Expression]) -> Vec<Reg> {
        let mut values = Vec::new();
        for (number, expression) in expressions.iter().enumerate() {
            let value = self.value(expression);
            let is_held = expressions[number + 1..].iter().any(has_effects);
            values.push(if is_held { self.snapshot(value) } else { value });
        }
        values
    }

    fn arithmetic(&mut self, builtin: Builtin, values: &[Reg], span: Span) -> Reg {
        use drystone_language::program::Builtin::*;
        match builtin {
            Sqrt => self.unary(mir::Unary::SquareRoot, values[0]),
            Sin => self.call(&entries::SIN, values.to_vec()),
            Cos => self.call(&entries::COS, values.to_vec()),
            Tan => self.call(&entries::TAN, values.to_vec()),
            Arcsin => self.call(&entries::ARCSIN, values.to_vec()),
            Arccos => self.call(&entries::ARCCOS, values.to_vec()),
            Arctan => self.call(&entries::ARCTAN, values.to_vec()),
            MinInteger => self.op(Op::Min, values[0], values[1]),
            MaxInteger => self.op(Op::Max, values[0], values[1]),
            MinReal => self.op(Op::MinReal, values[0], values[1]),
            MaxReal => self.op(Op::MaxReal, values[0], values[1]),
            IntegerToCharacter => {
                let limit = self.int(256);
                let inside = self.op(Op::LessUnsigned, values[0], limit);
                let location = self.location(span);
                self.inst(Inst::Require(inside, Fault::InvalidConversion, location));
                values[0]
            }
            CharacterToInteger | BooleanToInteger => values[0],
            RealToInteger => self.real_to_integer(values[0], span),
            IntegerToReal => self.unary(mir::Unary::IntToReal, values[0]),
            _ => unreachable!("handled by builtin() or text_builtin()"),
        }
    }

    fn real_to_integer(&mut self, value: Reg, span: Span) -> Reg {
        let location = self.location(span);
        let floored = self.unary(mir::Unary::Floor, value);
        let (low, high) = (self.reg(RegType::Real), self.reg(RegType::Real));
        self.inst(Inst::Real(low, -9_223_372_036_854_775_808.0));
        self.inst(Inst::Real(high, 9_223_372_036_854_775_808.0));
        let above = self.op(Op::GreaterEqualReal, floored, low);
        let below = self.op(Op::LessReal, floored, high);
        let inside = self.op(Op::And, above, below);
        self.inst(Inst::Require(inside, Fault::InvalidConversion, location));
        self.unary(mir::Unary::RealToInt, floored)
    }

    fn number(&mut self, text: &Expression, target: &Place) -> Reg {
        let text = self.text(text);
        let word = self.take_words(1);
        let scratch = self.slot(word);
        let address = self.reg(RegType::Int);
        self.inst(Inst::Address { to: address, of: scratch });
        let entry = if target.ty == Type::Real { &entries::NUMBER_REAL } else { &entries::NUMBER_INTEGER };
        let is_number = self.call(entry, vec![text.reg, address]);
        self.drop_text(text);
        let (set, done) = (self.new_block(), self.new_block());
        self.end(Terminator::Branch { condition: is_number, yes: set, no: done });
        self.start(set);
        let value = self.load(scratch, reg_type(&target.ty));
        let prepared = self.prepare(target);
        self.store_target(&prepared, &target.ty, value, target.span);
        self.drop_target(&prepared);
        self.go(done);
        self.start(done);
        is_number
    }

    /// Calls a procedure; the result is in a register (a TEXT is owned by nobody yet).
    pub(super) fn call_procedure(
        &mut self,
        id: ProcedureId,
        arguments: &[Argument],
        span: Span,
    ) -> Option<Reg> {
        let procedure = &self.unit.program.procedures[id.index()];
        let native = self.unit.facts.procedures[id.index()].native;
        let lock = if native { None } else { self.lock };
        let shape = if native { Shape::default() } else { self.code.shape };
        if native {
            self.look_before(self.unit.facts.procedures[id.index()].weight);
        }
        let variant = self.unit.variant(Variant { procedure: id, lock, shape, native });
        let mut passed = Vec::new();
        let mut texts = Vec::new();
        let mut names = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let later_effects = arguments.len() > 1;
            let register = match argument {
                Argument::Value(value) if value.ty == Type::Text => {
                    let slot = self.owned_text(value);
                    texts.push((passed.len(), slot));
                    Reg(u32::MAX)
                }
                Argument::Value(value) => {
                    let value = self.value(value);
                    if later_effects { self.snapshot(value) } else { value }
                }
                Argument::Place(place) => {
                    let facts = &self.unit.facts.naming;
                    let needs_name = facts.needs_name(self.unit.program, id, arguments, index);
                    let (word, name) = self.reference(place, needs_name);
                    names.extend(name);
                    word
                }
            };
            passed.push(register);
        }
        for (index, slot) in texts {
            passed[index] = self.take_from_slot(slot, Kind::Text);
        }
        let outer = self.outer_for(id);
        let result = procedure.result.as_ref().map(|ty| self.reg(reg_type(ty)));
        if native {
            if self.unit.facts.procedures[id.index()].writes {
                self.note_writing();
            }
            let mut all: Vec<Reg> = outer.into_iter().collect();
            all.extend(passed);
            self.inst(Inst::CallNative { to: result, variant, arguments: all });
        } else {
            let then = self.new_block();
            self.code.blocks[then.0 as usize].entry = true;
            let location = self.location(span);
            self.end(Terminator::CallProcedure { variant, arguments: passed, outer, then, location });
            self.start(then);
            if let Some(result) = result {
                self.inst(Inst::Result(result));
            }
        }
        for name in &names {
            self.drop_target(name);
        }
        result
    }
}

pub(super) fn comparison_op(comparison: Comparison, real: bool) -> Op {
    match (comparison, real) {
        (Comparison::Equal, false) => Op::Equal,
        (Comparison::NotEqual, false) => Op::NotEqual,
        (Comparison::Less, false) => Op::Less,
        (Comparison::LessEqual, false) => Op::LessEqual,
        (Comparison::Greater, false) => Op::Greater,
        (Comparison::GreaterEqual, false) => Op::GreaterEqual,
        (Comparison::Equal, true) => Op::EqualReal,
        (Comparison::NotEqual, true) => Op::NotEqualReal,
        (Comparison::Less, true) => Op::LessReal,
        (Comparison::LessEqual, true) => Op::LessEqualReal,
        (Comparison::Greater, true) => Op::GreaterReal,
        (Comparison::GreaterEqual, true) => Op::GreaterEqualReal,
    }
}
