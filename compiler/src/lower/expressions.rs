//! Expressions of all types but TEXT, conditions, and calls of procedures.

use drystone_component::Kind;
use drystone_language::program::Binary as B;
use drystone_language::program::Unary as U;
use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::Fault;

use super::Lower;
use super::types::reg_type;
use crate::classify::is_held;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::{self, *};

impl Lower<'_, '_> {
    /// Evaluates an expression that is not a TEXT.
    pub(super) fn value(&mut self, expression: &Expression) -> Reg {
        use ExpressionKind::*;
        match &expression.kind {
            Boolean(value) => self.code.int(*value as i64),
            Character(value) => self.code.int(*value as i64),
            Integer(value) => self.code.int(*value),
            Real(value) => {
                let to = self.code.reg(RegType::Real);
                self.code.inst(Inst::Real(to, *value));
                to
            }
            Text(_) | Record(_) | List(_) | Fault(_) => unreachable!("what is held is evaluated by text()"),
            Read(place) => {
                let target = self.prepare(place);
                let value = self.load_target(&target, &place.ty, place.span);
                self.code.drop_target(&target);
                value
            }
            Call(procedure, arguments) => {
                self.call_procedure(*procedure, arguments, expression.span).expect("a function has a result")
            }
            Unary(U::Not, operand) => {
                let value = self.value(operand);
                let one = self.code.int(1);
                self.code.op(Op::Xor, value, one)
            }
            Unary(U::NegateInteger, operand) => {
                let value = self.value(operand);
                let zero = self.code.int(0);
                self.checked(Checked::Subtract, zero, value, expression.span)
            }
            Unary(U::NegateReal, operand) => {
                let value = self.value(operand);
                self.code.unary(mir::Unary::NegateReal, value)
            }
            Binary(B::And | B::Or, ..) => self.by_control_flow(expression),
            Binary(operator, a, b) => self.binary(*operator, a, b, expression.span),
            Builtin(builtin, arguments) => self.builtin(*builtin, arguments, expression.span),
            Number(text, target) => self.number(text, target),
            Count(required) => {
                let instance = self.code.own_instance();
                let required = self.code.int(*required as i64);
                if self.code.in_condition {
                    return self.code.call(&entries::COUNT, vec![instance, required]);
                }
                let location = self.location(expression.span);
                self.code.suspending_call(&entries::COUNT, vec![instance, required], location)
            }
            Locked(mode, inner) => self.locked(*mode, inner, |lower| lower.value(inner)),
            ReceiveTest(channel, pattern) => {
                let reach = self.reach(channel, expression.span);
                self.ask(reach, channel, Question::Is(*pattern), expression.span)
            }
            Input(channel, pattern, limit) => {
                self.input(channel, *pattern, limit.as_deref(), expression.span)
            }
            Await(condition, limit) => self.timed_await(condition, limit, expression.span),
            Exists(place) => self.exists(place),
            Offers(place, facets) => {
                let any = AnyType { offers: facets.clone(), requires: None };
                self.conforms(place, any)
            }
            Requires(place, facets) => self.requires(place, facets),
            Is(place, Type::Component(template)) => {
                let instance = self.instance_in(place);
                let template = self.code.symbol(Symbol::Template(*template));
                let at = self.location_register(place.span);
                self.code.call(&entries::IS, vec![instance, template, at])
            }
            Is(place, Type::Any(any)) => self.conforms(place, any.clone()),
            Is(..) => unreachable!("IS takes a component type"),
        }
    }

    fn by_control_flow(&mut self, expression: &Expression) -> Reg {
        let to = self.code.reg(RegType::Int);
        let (yes, no, done) = (self.code.new_block(), self.code.new_block(), self.code.new_block());
        self.condition(expression, yes, no);
        self.code.start(yes);
        self.code.inst(Inst::Int(to, 1));
        self.code.go(done);
        self.code.start(no);
        self.code.inst(Inst::Int(to, 0));
        self.code.go(done);
        self.code.start(done);
        to
    }

    /// Branches on a condition.
    pub(super) fn condition(&mut self, expression: &Expression, yes: BlockId, no: BlockId) {
        use ExpressionKind::*;
        match &expression.kind {
            Boolean(value) => self.code.go(if *value { yes } else { no }),
            Unary(U::Not, operand) => self.condition(operand, no, yes),
            Binary(B::And, a, b) => {
                let right = self.code.new_block();
                self.condition(a, right, no);
                self.code.start(right);
                self.condition(b, yes, no);
            }
            Binary(B::Or, a, b) => {
                let right = self.code.new_block();
                self.condition(a, yes, right);
                self.code.start(right);
                self.condition(b, yes, no);
            }
            _ => {
                let value = self.value(expression);
                self.code.end(Terminator::Branch { condition: value, yes, no });
            }
        }
    }

    /// Arithmetic that may overflow, for which the location is told.
    pub(super) fn checked(&mut self, operator: Checked, a: Reg, b: Reg, span: Span) -> Reg {
        let location = self.location(span);
        self.code.checked(operator, a, b, location)
    }

    fn binary(&mut self, operator: B, a: &Expression, b: &Expression, span: Span) -> Reg {
        match (operator, &a.ty) {
            (B::Compare(comparison), Type::Text) => return self.compare_texts(comparison, a, b),
            (B::Compare(comparison), Type::Record(_) | Type::Sequence(_)) => {
                return self.compare_values(comparison, a, b);
            }
            _ => {}
        }
        let left = self.value(a);
        let left = if has_effects(b) { self.code.snapshot(left) } else { left };
        let right = self.value(b);
        match operator {
            B::AddInteger => self.checked(Checked::Add, left, right, span),
            B::SubtractInteger => self.checked(Checked::Subtract, left, right, span),
            B::MultiplyInteger => self.checked(Checked::Multiply, left, right, span),
            B::Div => self.checked(Checked::Div, left, right, span),
            B::Mod => self.checked(Checked::Mod, left, right, span),
            B::AddReal => self.code.op(Op::AddReal, left, right),
            B::SubtractReal => self.code.op(Op::SubtractReal, left, right),
            B::MultiplyReal => self.code.op(Op::MultiplyReal, left, right),
            B::DivideReal => self.code.op(Op::DivideReal, left, right),
            B::Compare(comparison) => {
                self.code.op(comparison_op(comparison, a.ty == Type::Real), left, right)
            }
            B::And | B::Or | B::Concatenate | B::Join => unreachable!("handled by the callers"),
        }
    }

    fn builtin(&mut self, builtin: Builtin, arguments: &[Expression], span: Span) -> Reg {
        use drystone_language::program::Builtin::*;
        match builtin {
            Time => self.code.call(&entries::TIME, Vec::new()),
            Length => {
                let text = self.text(&arguments[0]);
                let length = self.code.text_length(text.reg);
                self.code.drop_text(text);
                length
            }
            Elements => self.elements(&arguments[0]),
            Find => {
                let (mut text, mut part) = self.two_texts(&arguments[0], &arguments[1]);
                if has_effects(&arguments[2]) {
                    (text, part) = (self.code.own(text), self.code.own(part));
                }
                let from = self.value(&arguments[2]);
                let at = self.location_register(span);
                let found = self.code.call(&entries::TEXT_FIND, vec![text.reg, part.reg, from, at]);
                self.code.drop_text(text);
                self.code.drop_text(part);
                found
            }
            Random => {
                let low = self.value(&arguments[0]);
                let high = self.value(&arguments[1]);
                let location = self.location(span);
                let ordered = self.code.op(Op::LessEqual, low, high);
                self.code.inst(Inst::Require(ordered, Fault::InvalidArgument, location));
                let at = self.code.int(location as i64);
                self.code.call(&entries::RANDOM, vec![low, high, at])
            }
            _ => {
                let values = self.values(arguments);
                self.arithmetic(builtin, &values, span)
            }
        }
    }

    /// Evaluates expressions in order.
    fn values(&mut self, expressions: &[Expression]) -> Vec<Reg> {
        let mut values = Vec::new();
        for (number, expression) in expressions.iter().enumerate() {
            let value = self.value(expression);
            let is_held = expressions[number + 1..].iter().any(has_effects);
            values.push(if is_held { self.code.snapshot(value) } else { value });
        }
        values
    }

    fn arithmetic(&mut self, builtin: Builtin, values: &[Reg], span: Span) -> Reg {
        use drystone_language::program::Builtin::*;
        match builtin {
            Sqrt => self.code.unary(mir::Unary::SquareRoot, values[0]),
            Sin => self.code.call(&entries::SIN, values.to_vec()),
            Cos => self.code.call(&entries::COS, values.to_vec()),
            Tan => self.code.call(&entries::TAN, values.to_vec()),
            Arcsin => self.code.call(&entries::ARCSIN, values.to_vec()),
            Arccos => self.code.call(&entries::ARCCOS, values.to_vec()),
            Arctan => self.code.call(&entries::ARCTAN, values.to_vec()),
            MinInteger => self.code.op(Op::Min, values[0], values[1]),
            MaxInteger => self.code.op(Op::Max, values[0], values[1]),
            BitAnd => self.code.op(Op::And, values[0], values[1]),
            BitOr => self.code.op(Op::Or, values[0], values[1]),
            BitXor => self.code.op(Op::Xor, values[0], values[1]),
            BitNot => {
                let ones = self.code.int(-1);
                self.code.op(Op::Xor, values[0], ones)
            }
            Shift => self.code.op(Op::Shift, values[0], values[1]),
            Rotate => self.code.op(Op::Rotate, values[0], values[1]),
            AddWrap => self.code.op(Op::Add, values[0], values[1]),
            SubtractWrap => self.code.op(Op::Subtract, values[0], values[1]),
            MultiplyWrap => self.code.op(Op::Multiply, values[0], values[1]),
            MinReal => self.code.op(Op::MinReal, values[0], values[1]),
            MaxReal => self.code.op(Op::MaxReal, values[0], values[1]),
            IntegerToCharacter => {
                let limit = self.code.int(256);
                let inside = self.code.op(Op::LessUnsigned, values[0], limit);
                let location = self.location(span);
                self.code.inst(Inst::Require(inside, Fault::InvalidConversion, location));
                values[0]
            }
            CharacterToInteger | BooleanToInteger => values[0],
            RealToInteger => {
                let location = self.location(span);
                self.code.real_to_integer(values[0], location)
            }
            IntegerToReal => self.code.unary(mir::Unary::IntToReal, values[0]),
            _ => unreachable!("handled by builtin() or text_builtin()"),
        }
    }

    fn number(&mut self, text: &Expression, target: &Place) -> Reg {
        let text = self.text(text);
        let word = self.code.take_words(1);
        let scratch = self.code.slot(word);
        let address = self.code.address(scratch);
        let entry = if target.ty == Type::Real { &entries::NUMBER_REAL } else { &entries::NUMBER_INTEGER };
        let is_number = self.code.call(entry, vec![text.reg, address]);
        self.code.drop_text(text);
        let (set, done) = (self.code.new_block(), self.code.new_block());
        self.code.end(Terminator::Branch { condition: is_number, yes: set, no: done });
        self.code.start(set);
        let value = self.code.load(scratch, reg_type(&target.ty));
        let prepared = self.prepare(target);
        self.store_target(&prepared, &target.ty, value, target.span);
        self.code.drop_target(&prepared);
        self.code.go(done);
        self.code.start(done);
        is_number
    }

    /// Calls a procedure; its result is in a register. Nothing owns a resulting TEXT yet.
    pub(super) fn call_procedure(
        &mut self,
        id: ProcedureId,
        arguments: &[Argument],
        span: Span,
    ) -> Option<Reg> {
        let procedure = &self.unit.program.procedures[id.index()];
        if procedure.native.is_some() {
            return self.call_carried(id, arguments, span);
        }
        let native = self.unit.facts.procedures[id.index()].native;
        let lock = if native { None } else { self.lock.mode() };
        let shape = if native { Shape::default() } else { self.code.shape() };
        if native {
            self.code.look_before(self.unit.facts.procedures[id.index()].weight);
        }
        let variant = self.unit.variant(Variant { procedure: id, lock, shape, native });
        let mut passed = Vec::new();
        let mut texts = Vec::new();
        let mut names = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let later_effects = arguments.len() > 1;
            let register = match argument {
                Argument::Value(value) if is_held(&value.ty) => {
                    let slot = self.owned_text(value);
                    texts.push((passed.len(), slot));
                    Reg(u32::MAX)
                }
                Argument::Value(value) => {
                    let value = self.value(value);
                    if later_effects { self.code.snapshot(value) } else { value }
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
            passed[index] = self.code.take_from_slot(slot, Kind::Text);
        }
        let outer = self.scope.outer_for(self.unit, &mut self.code, id);
        let result = procedure.result.as_ref().map(|ty| self.code.reg(reg_type(ty)));
        if native {
            if self.unit.facts.procedures[id.index()].writes {
                self.code.note_writing();
            }
            let mut all: Vec<Reg> = outer.into_iter().collect();
            all.extend(passed);
            self.code.inst(Inst::CallNative { to: result, variant, arguments: all });
        } else {
            let location = self.location(span);
            self.code.call_and_return(variant, passed, outer, location);
            if let Some(result) = result {
                self.code.inst(Inst::Result(result));
            }
        }
        for name in &names {
            self.code.drop_target(name);
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
