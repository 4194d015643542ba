//! Records: made from the values of their fields, changed in place, and taken apart and put together again for
//! messages, which carry their fields.

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
                let may_change = values[number + 1..].iter().any(|(_, later)| has_effects(later));
                Part::Plain(if may_change { self.code.snapshot(register) } else { register })
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
        if self.unit.layouts.records[id.index()].words == 0 {
            let null = self.code.int(0);
            return self.code.keep(null);
        }
        let shape = self.shape(id);
        let at = self.location_register(span);
        let made = self.code.call(&entries::RECORD_NEW, vec![shape[0], shape[1], at]);
        self.code.keep(made)
    }

    /// The number of words of a record, and how many of them are owned.
    fn shape(&mut self, id: RecordId) -> [Reg; 2] {
        let layout = &self.unit.layouts.records[id.index()];
        [layout.words, layout.owned].map(|number| self.code.int(i64::from(number)))
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
        let cell = self.cell_to_change(record, span);
        let shape = self.shape(id);
        let at = self.location_register(span);
        let own = self.code.call(&entries::RECORD_OWN, vec![cell, shape[0], shape[1], at]);
        self.word(own, id, field)
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
                Type::Text | Type::Sequence(_) => self.code.call(&entries::TEXT_COPY, vec![value]),
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
