//! What a frame holds: variables in memory, and temporaries that own texts and components, from the entry of a body or
//! procedure to its end.

use drystone_component::Kind;
use drystone_language::program::*;

use super::{Lower, is_byte, reg_type};
use crate::entries;
use crate::mir::{Address, Base, Inst, LocationId, OwnedSlot, RegType, SuspensionOp, Symbol};

impl Lower<'_, '_> {
    pub(super) fn zero_registers(&mut self, variables: &[VariableId]) {
        for &id in variables {
            if !self.unit.facts.in_memory.contains(&id) {
                let register = self.register_of(id);
                match self.unit.variable(id).ty {
                    Type::Real => self.inst(Inst::Real(register, 0.0)),
                    _ => self.inst(Inst::Int(register, 0)),
                }
            }
        }
    }

    /// Frames are zeroed when they are made; a native procedure's stack is not, and neither is a body's frame when
    /// its service begins again.
    pub(super) fn zero_memory(&mut self, variables: &[VariableId]) {
        if !self.code.native {
            return;
        }
        let zero = self.int(0);
        for id in variables {
            if let (true, Some(&offset)) =
                (self.unit.facts.in_memory.contains(id), self.unit.layouts.variables.get(id))
            {
                self.store(Address { base: Base::Frame, offset: offset as i32, byte: false }, zero);
            }
        }
    }

    pub(super) fn clear_owned(&mut self) {
        if self.code.owned.is_empty() {
            return;
        }
        let zero = self.int(0);
        for slot in self.code.owned.clone() {
            self.store(Address { base: Base::Frame, offset: slot.offset as i32, byte: false }, zero);
        }
    }

    pub(super) fn receive_parameter(&mut self, id: VariableId) {
        let ty = self.unit.variable(id).ty.clone();
        let by_reference = self.unit.variable(id).parameter == Some(Passing::Reference);
        let reg_ty = if by_reference { RegType::Int } else { reg_type(&ty) };
        let register = self.reg(reg_ty);
        self.code.parameters.push(register);
        if self.unit.facts.in_memory.contains(&id) {
            let offset = self.unit.layouts.variables[&id] as i32;
            let byte = !by_reference && is_byte(&ty);
            self.code.parameter_slots.push((register, offset as u32));
            self.store(Address { base: Base::Frame, offset, byte }, register);
        } else {
            self.registers.insert(id, register);
        }
    }

    /// Drops the texts that the statements around a RETURN keep in temporaries, but for the result.
    pub(super) fn drop_temporaries(&mut self, result: Option<u32>) {
        let slots = self.code.owned.iter().filter(|slot| slot.variable.is_none() && slot.kind == Kind::Text);
        let used = slots.map(|slot| slot.offset).filter(|offset| !self.free_texts.contains(offset));
        for offset in used.filter(|&offset| result != Some(offset)).collect::<Vec<_>>() {
            self.drop_slot(offset);
        }
    }

    /// Frees what the frame's variables own: texts at once, components and collections by an operation that may wait.
    pub(super) fn drop_frame(&mut self, location: LocationId) {
        let declared: Vec<OwnedSlot> =
            self.code.owned.iter().filter(|slot| slot.variable.is_some()).cloned().collect();
        if declared.iter().any(|slot| slot.kind != Kind::Text) && !self.code.native {
            let base = self.reg(RegType::Int);
            self.inst(Inst::Base(base, Base::Frame));
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

    pub(super) fn drop_slot(&mut self, offset: u32) {
        let address = Address { base: Base::Frame, offset: offset as i32, byte: false };
        let text = self.load(address, RegType::Int);
        let zero = self.int(0);
        self.store(address, zero);
        self.perform(&entries::TEXT_DROP, vec![text]);
    }

    /// Takes a temporary of the frame that owns a text or component.
    pub(super) fn take_slot(&mut self, kind: Kind) -> u32 {
        let free = if kind == Kind::Text { &mut self.free_texts } else { &mut self.free_components };
        if let Some(offset) = free.pop() {
            return offset;
        }
        let offset = self.take_words(1);
        self.code.owned.push(OwnedSlot { offset, variable: None, kind });
        offset
    }

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
}
