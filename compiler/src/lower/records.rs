//! Records: made from the values of their fields, compared, changed in place, and taken apart and put together again
//! for messages, which carry their fields.

use drystone_language::program::*;
use drystone_language::source::Span;
use drystone_runtime::layout::TEXT_BYTES;

use super::Lower;
use super::places::Target;
use super::temporaries::TextValue;
use super::types::reg_type;
use crate::classify::is_held;
use crate::effects::has_effects;
use crate::entries;
use crate::mir::*;

/// A value on its way into a word of a record or message.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// In a register.
    Plain(Reg),
    /// A text or record, owned by a temporary.
    Held(u32),
}

impl Lower<'_, '_> {
    /// `Name(field: value, ..)`
    pub(super) fn made_record(&mut self, values: &[(usize, Expression)], whole: &Expression) -> TextValue {
        let Type::Record(id) = whole.ty else { unreachable!("it is a record") };
        if values.is_empty() {
            return TextValue { reg: self.code.int(0), slot: None };
        }
        let mut parts = Vec::new();
        for (number, (field, value)) in values.iter().enumerate() {
            let part = if is_held(&value.ty) {
                Part::Held(self.owned_text(value))
            } else {
                let register = self.value(value);
                let is_held = values[number + 1..].iter().any(|(_, later)| has_effects(later));
                Part::Plain(if is_held { self.code.snapshot(register) } else { register })
            };
            parts.push((*field, part));
        }
        let record = self.new_record(id, whole.span);
        for (field, part) in parts {
            self.put(record.reg, id, field, part);
        }
        record
    }

    /// A record whose words are 0, in a temporary.
    fn new_record(&mut self, id: RecordId, span: Span) -> TextValue {
        let layout = &self.unit.layouts.records[id.index()];
        let (words, owned) = (layout.words, layout.owned);
        if words == 0 {
            let null = self.code.int(0);
            return self.code.keep(null);
        }
        let shape = [words, owned].map(|number| self.code.int(i64::from(number)));
        let at = self.location_register(span);
        let made = self.code.call(&entries::RECORD_NEW, vec![shape[0], shape[1], at]);
        self.code.keep(made)
    }

    /// Puts a value into a field of a new record.
    fn put(&mut self, record: Reg, id: RecordId, field: usize, part: Part) {
        let value = match part {
            Part::Plain(register) => register,
            Part::Held(slot) => self.code.take_from_slot(slot, drystone_component::Kind::Text),
        };
        let word = self.word(record, id, field);
        self.code.store(word, value);
    }

    /// Where a field is in the block of a record.
    fn word(&self, record: Reg, id: RecordId, field: usize) -> Address {
        let word = self.unit.layouts.records[id.index()].word_of[field];
        Address { base: Base::Reg(record), offset: TEXT_BYTES as i32 + 8 * word as i32, byte: false }
    }

    /// Reads a field of a record, which may be null. A text or record is borrowed.
    pub(super) fn field_of(&mut self, record: Reg, id: RecordId, field: usize) -> Reg {
        let word = self.unit.layouts.records[id.index()].word_of[field];
        let to = self.code.reg(reg_type(&self.unit.program.records[id.index()].fields[field].1));
        self.code.inst(Inst::Word { to, record, word });
        to
    }

    /// Where a field is that is changed before anything can move it, after making sure that the record is in no other
    /// place.
    pub(super) fn field_to_change(
        &mut self,
        record: &Target,
        id: RecordId,
        field: usize,
        span: Span,
    ) -> Address {
        let cell = match record {
            Target::Memory(address) => self.code.address(*address),
            Target::Element { variable, collection, keys } => {
                self.wrote(*variable, *collection, keys);
                self.find_present(record, span)
            }
            Target::Named(_) => self.find_present(record, span),
            Target::Field(outer, outer_id, outer_field) => {
                let address = self.field_to_change(outer, *outer_id, *outer_field, span);
                self.code.address(address)
            }
            Target::Register(_) | Target::Character(..) => unreachable!("a record lies in memory"),
        };
        let layout = &self.unit.layouts.records[id.index()];
        let shape = [layout.words, layout.owned].map(|number| self.code.int(i64::from(number)));
        let at = self.location_register(span);
        let own = self.code.call(&entries::RECORD_OWN, vec![cell, shape[0], shape[1], at]);
        self.word(own, id, field)
    }

    /// `a = b` or `a # b`
    pub(super) fn compare_records(
        &mut self,
        comparison: Comparison,
        id: RecordId,
        a: &Expression,
        b: &Expression,
    ) -> Reg {
        let (a, b) = self.two_texts(a, b);
        let result = self.code.reg(RegType::Int);
        let (differ, done) = (self.code.new_block(), self.code.new_block());
        let equal = i64::from(comparison == Comparison::Equal);
        self.go_on_if_equal(id, a.reg, b.reg, differ);
        self.code.inst(Inst::Int(result, equal));
        self.code.go(done);
        self.code.start(differ);
        self.code.inst(Inst::Int(result, 1 - equal));
        self.code.go(done);
        self.code.start(done);
        self.code.drop_text(a);
        self.code.drop_text(b);
        result
    }

    /// Compares field by field; goes elsewhere at the first that differs.
    fn go_on_if_equal(&mut self, id: RecordId, a: Reg, b: Reg, differ: BlockId) {
        let program = self.unit.program;
        for (field, (_, ty)) in program.records[id.index()].fields.iter().enumerate() {
            let (a, b) = (self.field_of(a, id, field), self.field_of(b, id, field));
            let condition = match ty {
                Type::Record(inner) => {
                    self.go_on_if_equal(*inner, a, b, differ);
                    continue;
                }
                Type::Text => self.code.call(&entries::TEXT_EQUAL, vec![a, b]),
                Type::Real => self.code.op(Op::EqualReal, a, b),
                _ => self.code.op(Op::Equal, a, b),
            };
            let yes = self.code.new_block();
            self.code.end(Terminator::Branch { condition, yes, no: differ });
            self.code.start(yes);
        }
    }

    /// Puts the values of a record into the words of a message; texts get a holder more.
    pub(super) fn take_apart(
        &mut self,
        id: RecordId,
        record: Reg,
        words: &mut impl Iterator<Item = Address>,
    ) {
        let program = self.unit.program;
        for (field, (_, ty)) in program.records[id.index()].fields.iter().enumerate() {
            let value = self.field_of(record, id, field);
            let value = match ty {
                Type::Record(inner) => {
                    self.take_apart(*inner, value, words);
                    continue;
                }
                Type::Text => self.code.call(&entries::TEXT_COPY, vec![value]),
                _ => value,
            };
            let word = words.next().expect("a message has a word for each value");
            self.code.store(word, value);
        }
    }

    /// A record from the values that a message has brought, in a temporary.
    pub(super) fn put_together(
        &mut self,
        id: RecordId,
        values: &mut impl Iterator<Item = Part>,
        span: Span,
    ) -> u32 {
        let program = self.unit.program;
        let record = self.new_record(id, span);
        for (field, (_, ty)) in program.records[id.index()].fields.iter().enumerate() {
            let part = match ty {
                Type::Record(inner) => Part::Held(self.put_together(*inner, values, span)),
                _ => values.next().expect("a message brings each value"),
            };
            self.put(record.reg, id, field, part);
        }
        record.slot.expect("it is kept")
    }
}
