//! Sequences: made of their elements, joined, sorted, and changed in place.

use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::{Fault, TEXT_BYTES};
use drystone_runtime::text::sorting::Keys;

use super::Lower;
use super::places::Target;
use super::temporaries::TextValue;
use crate::classify::is_held;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::*;

impl Lower<'_, '_> {
    /// `[a, b, c]`
    pub(super) fn made_list(&mut self, elements: &[Expression], whole: &Expression) -> TextValue {
        if elements.is_empty() {
            return TextValue { reg: self.code.int(0), slot: None };
        }
        let count = self.code.int(elements.len() as i64);
        let owned = self.owns_elements(&whole.ty);
        let list = self.make(&entries::SEQUENCE_NEW, vec![count, owned], Vec::new(), whole);
        for (index, element) in elements.iter().enumerate() {
            let offset = TEXT_BYTES as i32 + 8 * index as i32;
            let word = Address { base: Base::Reg(list.reg), offset, byte: false };
            self.put_element(word, element);
        }
        list
    }

    /// Evaluates a value for a word that is 0 so far.
    fn put_element(&mut self, word: Address, value: &Expression) {
        let value = if is_held(&value.ty) {
            let slot = self.owned_text(value);
            self.code.take_from_slot(slot, drystone_component::Kind::Text)
        } else {
            self.value(value)
        };
        self.code.store(word, value);
    }

    /// 1 if the elements of a sequence are texts, records or sequences.
    fn owns_elements(&mut self, sequence: &Type) -> Reg {
        let Type::Sequence(element) = sequence else { unreachable!("it is a sequence") };
        self.code.int(i64::from(is_held(element)))
    }

    /// `SLICE(s, from, n)`
    pub(super) fn part_of_sequence(
        &mut self,
        sequence: &Expression,
        bounds: &[Expression],
        whole: &Expression,
    ) -> TextValue {
        let text = self.text(sequence);
        let text = if bounds.iter().any(has_effects) { self.code.own(text) } else { text };
        let from = self.value(&bounds[0]);
        let from = if has_effects(&bounds[1]) { self.code.snapshot(from) } else { from };
        let count = self.value(&bounds[1]);
        self.make(&entries::SEQUENCE_SLICE, vec![text.reg, from, count], vec![text], whole)
    }

    /// The elements sorted by keys.
    pub(super) fn sorted(
        &mut self,
        sequence: &Expression,
        keys: &Expression,
        whole: &Expression,
    ) -> TextValue {
        let Type::Sequence(key) = &keys.ty else { unreachable!("keys are a sequence") };
        let kind = match **key {
            Type::Real => Keys::Reals,
            Type::Text => Keys::Texts,
            _ => Keys::Numbers,
        };
        let (sequence, keys) = self.two_texts(sequence, keys);
        let kind = self.code.int(kind as i64);
        let operands = vec![sequence.reg, keys.reg, kind];
        self.make(&entries::SEQUENCE_SORTED, operands, vec![sequence, keys], whole)
    }

    /// `a + b`
    pub(super) fn joined(&mut self, a: &Expression, b: &Expression, whole: &Expression) -> TextValue {
        let (a, b) = self.two_texts(a, b);
        self.make(&entries::SEQUENCE_JOIN, vec![a.reg, b.reg], vec![a, b], whole)
    }

    /// `COUNT(s)`
    pub(super) fn elements(&mut self, sequence: &Expression) -> Reg {
        let sequence = self.text(sequence);
        let count = self.count(sequence.reg);
        self.code.drop_text(sequence);
        count
    }

    fn count(&mut self, sequence: Reg) -> Reg {
        let to = self.code.reg(RegType::Int);
        self.code.inst(Inst::Count { to, sequence });
        to
    }

    /// Where an element is.
    pub(super) fn item(&mut self, sequence: Reg, index: Reg, span: Span) -> Address {
        let location = self.location(span);
        let count = self.count(sequence);
        let inside = self.code.op(Op::LessUnsigned, index, count);
        self.code.inst(Inst::Require(inside, Fault::IndexOutOfBounds, location));
        let eight = self.code.int(8);
        let distance = self.code.op(Op::Multiply, index, eight);
        let at = self.code.op(Op::Add, sequence, distance);
        Address { base: Base::Reg(at), offset: TEXT_BYTES as i32, byte: false }
    }

    /// Where an element is that is changed before anything can move it, after making sure that the sequence is in no
    /// other place.
    pub(super) fn item_to_change(&mut self, sequence: &Target, index: Reg, span: Span) -> Address {
        let cell = self.cell_to_change(sequence, span);
        let location = self.location(span);
        let to = self.code.reg(RegType::Int);
        self.code.inst(Inst::Place { to, cell, index, location });
        Address { base: Base::Reg(to), offset: 0, byte: false }
    }

    /// `NEW(s, n)`
    pub(super) fn new_sequence(&mut self, place: &Place, count: &Expression, span: Span) {
        let count = self.value(count);
        let owned = self.owns_elements(&place.ty);
        let at = self.location_register(span);
        let made = self.code.call(&entries::SEQUENCE_NEW, vec![count, owned, at]);
        let slot = self.code.keep(made).slot.expect("a new sequence is owned");
        let target = self.prepare(place);
        self.store_text(&target, slot, place.span);
        self.code.drop_target(&target);
    }

    /// `APPEND(s, x)`, `INSERT(s, i, x)`
    pub(super) fn insert_element(
        &mut self,
        place: &Place,
        index: Option<&Expression>,
        value: &Expression,
        span: Span,
    ) {
        let mut target = self.prepare(place);
        if index.is_some_and(has_effects) || has_effects(value) {
            self.hold_target(&mut target);
        }
        let index = index.map(|index| {
            let index = self.value(index);
            if has_effects(value) { self.code.snapshot(index) } else { index }
        });
        let (plain, slot) = match is_held(&value.ty) {
            true => (None, Some(self.owned_text(value))),
            false => (Some(self.value(value)), None),
        };
        let cell = self.cell_to_change(&target, place.span);
        let index = index.unwrap_or_else(|| {
            let sequence =
                self.code.load(Address { base: Base::Reg(cell), offset: 0, byte: false }, RegType::Int);
            self.count(sequence)
        });
        let owned = self.owns_elements(&place.ty);
        let at = self.location_register(span);
        let word = self.code.call(&entries::SEQUENCE_INSERT, vec![cell, index, owned, at]);
        let value = match slot {
            Some(slot) => self.code.take_from_slot(slot, drystone_component::Kind::Text),
            None => plain.expect("it is in a register"),
        };
        self.code.store(Address { base: Base::Reg(word), offset: 0, byte: false }, value);
        self.code.drop_target(&target);
    }

    /// `REMOVE(s, i)`
    pub(super) fn remove_element(&mut self, place: &Place, index: &Expression, span: Span) {
        let mut target = self.prepare(place);
        if has_effects(index) {
            self.hold_target(&mut target);
        }
        let index = self.value(index);
        let cell = self.cell_to_change(&target, place.span);
        let at = self.location_register(span);
        self.code.call(&entries::SEQUENCE_REMOVE, vec![cell, index, at]);
        self.code.drop_target(&target);
    }
}
