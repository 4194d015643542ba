//! Expressions of type TEXT, and of records, which are held as texts are. Their value is borrowed from a variable, or
//! owned by a temporary of the frame.

use drystone_language::program::*;

use super::Lower;
use super::expressions::comparison_op;
use super::places::Target;
use super::scope::Runs;
use super::temporaries::TextValue;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::*;

/// Texts that one call of the runtime concatenates.
const MOST_AT_ONCE: usize = 4;

impl Lower<'_, '_> {
    /// Evaluates an expression of type TEXT, a record, or a sequence.
    pub(super) fn text(&mut self, expression: &Expression) -> TextValue {
        use ExpressionKind::*;
        match &expression.kind {
            Text(bytes) if bytes.is_empty() => TextValue { reg: self.code.int(0), slot: None },
            Text(bytes) => TextValue { reg: self.code.symbol(Symbol::Text(bytes.clone())), slot: None },
            Read(place) => {
                let target = self.prepare(place);
                let reg = self.load_target(&target, &Type::Text, place.span);
                let held = matches!(target.root(), Target::Element { .. } | Target::Named(_));
                let value = TextValue { reg, slot: None };
                let value = if held { self.code.own(value) } else { value };
                self.code.drop_target(&target);
                value
            }
            Call(procedure, arguments) => {
                let result = self.call_procedure(*procedure, arguments, expression.span);
                self.code.keep(result.expect("a function has a result"))
            }
            Binary(drystone_language::program::Binary::Concatenate, ..) => {
                self.concatenated(&parts_of(expression), expression)
            }
            Locked(mode, inner) => self.locked(*mode, inner, |lower| {
                let text = lower.text(inner);
                lower.code.own(text)
            }),
            Builtin(builtin, arguments) => self.text_builtin(*builtin, arguments, expression),
            Record(values) => self.made_record(values, expression),
            Fault(place) => self.fault(place),
            List(elements) => self.made_list(elements, expression),
            Binary(drystone_language::program::Binary::Join, a, b) => self.joined(a, b, expression),
            _ => unreachable!("no other expression is held"),
        }
    }

    fn text_builtin(&mut self, builtin: Builtin, arguments: &[Expression], whole: &Expression) -> TextValue {
        let entry = match builtin {
            Builtin::Slice => {
                let text = self.text(&arguments[0]);
                let text = if arguments[1..].iter().any(has_effects) { self.code.own(text) } else { text };
                let from = self.value(&arguments[1]);
                let length = self.value(&arguments[2]);
                return self.make(&entries::TEXT_SLICE, vec![text.reg, from, length], vec![text], whole);
            }
            Builtin::Part => return self.part_of_sequence(&arguments[0], &arguments[1..], whole),
            Builtin::Sorted => return self.sorted(&arguments[0], &arguments[1], whole),
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

    /// A text with its length before it.
    fn counted(&mut self, text: &Expression, whole: &Expression) -> TextValue {
        let text = self.text(text);
        let length = self.code.text_length(text.reg);
        let length = self.make(&entries::TEXT_FROM_INTEGER, vec![length], Vec::new(), whole);
        let colon = self.code.symbol(Symbol::Text(b":".to_vec()));
        let none = self.code.int(0);
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
        let made = self.code.call(entry, arguments);
        let kept = self.code.keep(made);
        operands.into_iter().for_each(|text| self.code.drop_text(text));
        kept
    }

    /// Concatenates two or more texts, as many at once as the runtime can.
    pub(super) fn concatenated(&mut self, parts: &[&Expression], whole: &Expression) -> TextValue {
        let (first, mut others) = parts.split_first().expect("there are two texts");
        let mut joined = self.text(first);
        while !others.is_empty() {
            let (next, rest) = others.split_at(others.len().min(MOST_AT_ONCE - 1));
            others = rest;
            let mut texts = vec![joined];
            for part in next {
                if has_effects(part) {
                    texts = texts.into_iter().map(|text| self.code.own(text)).collect();
                }
                texts.push(self.text(part));
            }
            let mut operands: Vec<Reg> = texts.iter().map(|text| text.reg).collect();
            let entry = if texts.len() == 2 { &entries::TEXT_CONCAT } else { &entries::TEXT_CONCAT_ALL };
            if texts.len() > 2 {
                operands.resize_with(MOST_AT_ONCE, || self.code.int(0));
            }
            joined = self.make(entry, operands, texts, whole);
        }
        joined
    }

    /// Evaluates two texts; the first is held if the second may disturb it.
    pub(super) fn two_texts(&mut self, a: &Expression, b: &Expression) -> (TextValue, TextValue) {
        let first = self.text(a);
        let first = if has_effects(b) { self.code.own(first) } else { first };
        (first, self.text(b))
    }

    /// Evaluates the result of a procedure into a temporary that owns it. A local variable gives its text away.
    pub(super) fn returned_text(&mut self, expression: &Expression) -> u32 {
        let Some(variable) = self.going(expression) else { return self.owned_text(expression) };
        let reg = self.code.load(variable, RegType::Int);
        let kept = self.code.keep(reg);
        let zero = self.code.int(0);
        self.code.store(variable, zero);
        kept.slot.expect("it is kept in a temporary")
    }

    /// The variable that an expression reads, if it is a local one of this procedure.
    fn going(&mut self, expression: &Expression) -> Option<Address> {
        let ExpressionKind::Read(place) = &expression.kind else { return None };
        let PlaceKind::Variable(id) = place.kind else { return None };
        let variable = self.unit.variable(id);
        let Owner::Procedure(owner) = variable.owner else { return None };
        let is_own = self.scope.runs == Runs::Procedure(owner);
        (is_own && variable.parameter != Some(Passing::Reference))
            .then(|| self.scope.address_of(self.unit, &mut self.code, id))
    }

    /// Evaluates a text into a temporary that owns it.
    pub(super) fn owned_text(&mut self, expression: &Expression) -> u32 {
        let text = self.text(expression);
        self.code.own(text).slot.expect("an owned text has a temporary")
    }

    pub(super) fn compare_texts(&mut self, comparison: Comparison, a: &Expression, b: &Expression) -> Reg {
        let with_empty = is_empty(a) || is_empty(b);
        let (a, b) = self.two_texts(a, b);
        let zero = self.code.int(0);
        let result = match comparison {
            // The empty text has no block.
            Comparison::Equal if with_empty => self.code.op(Op::Equal, a.reg, b.reg),
            Comparison::NotEqual if with_empty => self.code.op(Op::NotEqual, a.reg, b.reg),
            Comparison::Equal => self.code.call(&entries::TEXT_EQUAL, vec![a.reg, b.reg]),
            Comparison::NotEqual => {
                let equal = self.code.call(&entries::TEXT_EQUAL, vec![a.reg, b.reg]);
                self.code.op(Op::Equal, equal, zero)
            }
            _ => {
                let order = self.code.call(&entries::TEXT_COMPARE, vec![a.reg, b.reg]);
                self.code.op(comparison_op(comparison, false), order, zero)
            }
        };
        self.code.drop_text(a);
        self.code.drop_text(b);
        result
    }
}

fn is_empty(text: &Expression) -> bool {
    matches!(&text.kind, ExpressionKind::Text(bytes) if bytes.is_empty())
}

/// The operands of `a + b + c`.
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
