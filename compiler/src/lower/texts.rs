//! Expressions of type TEXT: borrowed from a variable, or owned by a temporary of the frame.

use drystone_component::Kind;
use drystone_language::program::*;

use super::expressions::comparison_op;
use super::places::Target;
use super::{Lower, Runs};
use crate::effects::has_effects;
use crate::entries;
use crate::mir::*;

/// A text: its pointer, and the temporary that owns it, if any.
pub(super) struct TextValue {
    pub reg: Reg,
    pub slot: Option<u32>,
}

/// Texts that one call of the runtime puts together.
const MOST_AT_ONCE: usize = 4;

impl Lower<'_, '_> {
    /// Evaluates an expression of type TEXT.
    pub(super) fn text(&mut self, expression: &Expression) -> TextValue {
        use ExpressionKind::*;
        match &expression.kind {
            Text(bytes) if bytes.is_empty() => TextValue { reg: self.int(0), slot: None },
            Text(bytes) => TextValue { reg: self.symbol(Symbol::Text(bytes.clone())), slot: None },
            Read(place) => {
                let target = self.prepare(place);
                let reg = self.load_target(&target, &Type::Text, place.span);
                let held = matches!(target, Target::Element { .. } | Target::Named(_));
                let value = TextValue { reg, slot: None };
                let value = if held { self.own(value) } else { value };
                self.drop_target(&target);
                value
            }
            Call(procedure, arguments) => {
                let result = self.call_procedure(*procedure, arguments, expression.span);
                self.keep(result.expect("a function has a result"))
            }
            Binary(drystone_language::program::Binary::Concatenate, ..) => {
                self.concatenated(&parts_of(expression), expression)
            }
            Locked(mode, inner) => self.locked(*mode, inner, |lower| {
                let text = lower.text(inner);
                lower.own(text)
            }),
            Builtin(builtin, arguments) => self.text_builtin(*builtin, arguments, expression),
            _ => unreachable!("no other expression is a TEXT"),
        }
    }

    fn text_builtin(&mut self, builtin: Builtin, arguments: &[Expression], whole: &Expression) -> TextValue {
        let entry = match builtin {
            Builtin::Slice => {
                let text = self.text(&arguments[0]);
                let text = if arguments[1..].iter().any(has_effects) { self.own(text) } else { text };
                let from = self.value(&arguments[1]);
                let length = self.value(&arguments[2]);
                return self.make(&entries::TEXT_SLICE, vec![text.reg, from, length], vec![text], whole);
            }
            Builtin::Counted => return self.counted(&arguments[0], whole),
            Builtin::IntegerToText => &entries::TEXT_FROM_INTEGER,
            Builtin::RealToText => &entries::TEXT_FROM_REAL,
            Builtin::BooleanToText => &entries::TEXT_FROM_BOOLEAN,
            Builtin::CharacterToText => &entries::TEXT_FROM_CHARACTER,
            _ => unreachable!("not a function that gives a TEXT"),
        };
        let value = self.value(&arguments[0]);
        self.make(entry, vec![value], Vec::new(), whole)
    }

    /// A text behind its length.
    fn counted(&mut self, text: &Expression, whole: &Expression) -> TextValue {
        let text = self.text(text);
        let length = self.text_length(text.reg);
        let length = self.make(&entries::TEXT_FROM_INTEGER, vec![length], Vec::new(), whole);
        let colon = self.symbol(Symbol::Text(b":".to_vec()));
        let none = self.int(0);
        let parts = vec![length.reg, colon, text.reg, none];
        self.make(&entries::TEXT_CONCAT_ALL, parts, vec![length, text], whole)
    }

    /// Calls an entry point that makes a text; its operands are dropped, its result kept.
    pub(super) fn make(
        &mut self,
        entry: &'static EntryPoint,
        mut arguments: Vec<Reg>,
        operands: Vec<TextValue>,
        whole: &Expression,
    ) -> TextValue {
        let at = self.location_register(whole.span);
        arguments.push(at);
        let made = self.call(entry, arguments);
        let kept = self.keep(made);
        operands.into_iter().for_each(|text| self.drop_text(text));
        kept
    }

    /// Puts two or more texts together, as many at once as the runtime can.
    pub(super) fn concatenated(&mut self, parts: &[&Expression], whole: &Expression) -> TextValue {
        let (first, mut others) = parts.split_first().expect("there are two texts");
        let mut joined = self.text(first);
        while !others.is_empty() {
            let (next, rest) = others.split_at(others.len().min(MOST_AT_ONCE - 1));
            others = rest;
            let mut texts = vec![joined];
            for part in next {
                if has_effects(part) {
                    texts = texts.into_iter().map(|text| self.own(text)).collect();
                }
                texts.push(self.text(part));
            }
            let mut operands: Vec<Reg> = texts.iter().map(|text| text.reg).collect();
            let entry = if texts.len() == 2 { &entries::TEXT_CONCAT } else { &entries::TEXT_CONCAT_ALL };
            if texts.len() > 2 {
                operands.resize_with(MOST_AT_ONCE, || self.int(0));
            }
            joined = self.make(entry, operands, texts, whole);
        }
        joined
    }

    /// Evaluates two texts; the first is held if the second may disturb it.
    pub(super) fn two_texts(&mut self, a: &Expression, b: &Expression) -> (TextValue, TextValue) {
        let first = self.text(a);
        let first = if has_effects(b) { self.own(first) } else { first };
        (first, self.text(b))
    }

    /// Puts an owned text into a temporary.
    pub(super) fn keep(&mut self, reg: Reg) -> TextValue {
        let slot = self.take_slot(Kind::Text);
        let address = self.slot(slot);
        self.store(address, reg);
        TextValue { reg, slot: Some(slot) }
    }

    /// Makes a borrowed text an owned one.
    pub(super) fn own(&mut self, text: TextValue) -> TextValue {
        if text.slot.is_some() { text } else { self.own_register(text.reg) }
    }

    pub(super) fn own_register(&mut self, reg: Reg) -> TextValue {
        if self.is_literal(reg) {
            return self.keep(reg);
        }
        let copy = self.call(&entries::TEXT_COPY, vec![reg]);
        self.keep(copy)
    }

    /// Whether a register has just got a literal, whose holders nobody counts.
    fn is_literal(&self, reg: Reg) -> bool {
        match self.code.blocks[self.current.0 as usize].instructions.last() {
            Some(Inst::Symbol(to, Symbol::Text(_)) | Inst::Int(to, 0)) => *to == reg,
            _ => false,
        }
    }

    /// Evaluates the result of a procedure into a temporary that owns it. A variable that goes with the frame gives its
    /// text away.
    pub(super) fn returned_text(&mut self, expression: &Expression) -> u32 {
        let Some(variable) = self.going(expression) else { return self.owned_text(expression) };
        let reg = self.load(variable, RegType::Int);
        let kept = self.keep(reg);
        let zero = self.int(0);
        self.store(variable, zero);
        kept.slot.expect("it is kept in a temporary")
    }

    /// Where the variable lies that an expression reads, if it is this procedure's own.
    fn going(&mut self, expression: &Expression) -> Option<Address> {
        let ExpressionKind::Read(place) = &expression.kind else { return None };
        let PlaceKind::Variable(id) = place.kind else { return None };
        let variable = self.unit.variable(id);
        let Owner::Procedure(owner) = variable.owner else { return None };
        let is_own = self.runs == Runs::Procedure(owner);
        (is_own && variable.parameter != Some(Passing::Reference)).then(|| self.address_of(id))
    }

    /// Evaluates a text into a temporary that owns it.
    pub(super) fn owned_text(&mut self, expression: &Expression) -> u32 {
        let text = self.text(expression);
        self.own(text).slot.expect("an owned text has a temporary")
    }

    pub(super) fn drop_text(&mut self, text: TextValue) {
        if let Some(slot) = text.slot {
            self.drop_slot(slot);
            self.give_slot(slot, Kind::Text);
        }
    }

    pub(super) fn compare_texts(&mut self, comparison: Comparison, a: &Expression, b: &Expression) -> Reg {
        let with_empty = is_empty(a) || is_empty(b);
        let (a, b) = self.two_texts(a, b);
        let zero = self.int(0);
        let result = match comparison {
            // The empty text has no block.
            Comparison::Equal if with_empty => self.op(Op::Equal, a.reg, b.reg),
            Comparison::NotEqual if with_empty => self.op(Op::NotEqual, a.reg, b.reg),
            Comparison::Equal => self.call(&entries::TEXT_EQUAL, vec![a.reg, b.reg]),
            Comparison::NotEqual => {
                let equal = self.call(&entries::TEXT_EQUAL, vec![a.reg, b.reg]);
                self.op(Op::Equal, equal, zero)
            }
            _ => {
                let order = self.call(&entries::TEXT_COMPARE, vec![a.reg, b.reg]);
                self.op(comparison_op(comparison, false), order, zero)
            }
        };
        self.drop_text(a);
        self.drop_text(b);
        result
    }
}

fn is_empty(text: &Expression) -> bool {
    matches!(&text.kind, ExpressionKind::Text(bytes) if bytes.is_empty())
}

/// What `a + b + c` puts together.
pub(super) fn parts_of(whole: &Expression) -> Vec<&Expression> {
    let mut parts = Vec::new();
    let mut rest = whole;
    while let ExpressionKind::Binary(drystone_language::program::Binary::Concatenate, first, last) =
        &rest.kind
    {
        parts.push(&**last);
        rest = first;
    }
    parts.push(rest);
    parts.reverse();
    parts
}
