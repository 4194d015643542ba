//! Words of the frame that own a text or component between two instructions, so that what a process owns is found
//! wherever it stops. A temporary that is free is null.

use drystone_component::Kind;

use super::builder::Builder;
use crate::entries;
use crate::mir::{Address, Base, Inst, LocationId, OwnedSlot, Reg, RegType, SuspensionOp, Symbol};

/// A text: its pointer, and the temporary that owns it, if any.
pub(super) struct TextValue {
    pub reg: Reg,
    pub slot: Option<u32>,
}

impl Builder {
    /// Takes a temporary of the frame that owns a text or component.
    pub(super) fn take_slot(&mut self, kind: Kind) -> u32 {
        let free = if kind == Kind::Text { &mut self.free_texts } else { &mut self.free_components };
        if let Some(offset) = free.pop() {
            return offset;
        }
        let offset = self.take_words(1);
        self.owns(offset, kind);
        offset
    }

    /// A word that was taken owns something.
    pub(super) fn owns(&mut self, offset: u32, kind: Kind) {
        self.code.owned.push(OwnedSlot { offset, variable: None, kind });
    }

    /// Takes words of the frame that own nothing.
    pub(super) fn take_words(&mut self, words: u32) -> u32 {
        let offset = self.code.frame_size;
        self.code.frame_size += 8 * words;
        offset
    }

    /// Gives a temporary back; it must be null by then.
    pub(super) fn give_slot(&mut self, offset: u32, kind: Kind) {
        let free = if kind == Kind::Text { &mut self.free_texts } else { &mut self.free_components };
        free.push(offset);
    }

    pub(super) fn slot(&self, offset: u32) -> Address {
        Address { base: Base::Frame, offset: offset as i32, byte: false }
    }

    pub(super) fn drop_slot(&mut self, offset: u32) {
        let address = self.slot(offset);
        let text = self.load(address, RegType::Int);
        let zero = self.int(0);
        self.store(address, zero);
        self.perform(&entries::TEXT_DROP, vec![text]);
    }

    /// Drops the text in a temporary, which is given back.
    pub(super) fn free_text(&mut self, slot: u32) {
        self.drop_slot(slot);
        self.give_slot(slot, Kind::Text);
    }

    /// Takes the owned value out of a temporary, which is given back.
    pub(super) fn take_from_slot(&mut self, slot: u32, kind: Kind) -> Reg {
        let address = self.slot(slot);
        let value = self.load(address, RegType::Int);
        let zero = self.int(0);
        self.store(address, zero);
        self.give_slot(slot, kind);
        value
    }

    /// Drops the texts that enclosing statements keep in temporaries, at a RETURN; not its result.
    pub(super) fn drop_temporaries(&mut self, result: Option<u32>) {
        let slots = self.code.owned.iter().filter(|slot| slot.variable.is_none() && slot.kind == Kind::Text);
        let used = slots.map(|slot| slot.offset).filter(|offset| !self.free_texts.contains(offset));
        for offset in used.filter(|&offset| result != Some(offset)).collect::<Vec<_>>() {
            self.drop_slot(offset);
        }
    }

    pub(super) fn clear_owned(&mut self) {
        if self.code.owned.is_empty() {
            return;
        }
        let zero = self.int(0);
        for slot in self.code.owned.clone() {
            let address = self.slot(slot.offset);
            self.store(address, zero);
        }
    }

    /// Frees what the frame's variables own: texts inline; if there are components or collections, everything by an
    /// operation that may wait.
    pub(super) fn drop_frame(&mut self, location: LocationId) {
        let declared: Vec<OwnedSlot> =
            self.code.owned.iter().filter(|slot| slot.variable.is_some()).cloned().collect();
        if declared.iter().any(|slot| slot.kind != Kind::Text) && !self.code.native {
            let base = self.base(Base::Frame);
            let table = self.symbol(Symbol::Owned);
            let at = self.int(location as i64);
            self.suspend(
                SuspensionOp::Call {
                    to: None,
                    entry: &entries::DELETE_HELD,
                    arguments: vec![base, table, at],
                },
                location,
            );
            return;
        }
        for slot in declared {
            self.drop_slot(slot.offset);
        }
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

    /// Whether a register was just loaded with a literal, which has no count of holders.
    fn is_literal(&self, reg: Reg) -> bool {
        match self.last() {
            Some(Inst::Symbol(to, Symbol::Text(_)) | Inst::Int(to, 0)) => *to == reg,
            _ => false,
        }
    }

    pub(super) fn drop_text(&mut self, text: TextValue) {
        if let Some(slot) = text.slot {
            self.free_text(slot);
        }
    }
}
