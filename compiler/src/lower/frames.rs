//! The variables of a frame when its code begins: zeroed, or taken over from the caller.

use drystone_language::program::*;

use super::Lower;
use super::types::{is_byte, reg_type};
use crate::mir::{Address, Base, Inst, RegType};

impl Lower<'_, '_> {
    pub(super) fn zero_registers(&mut self, variables: &[VariableId]) {
        for &id in variables {
            if !self.unit.facts.in_memory.contains(&id) {
                let register = self.scope.register_of(self.unit, &mut self.code, id);
                match self.unit.variable(id).ty {
                    Type::Real => self.code.inst(Inst::Real(register, 0.0)),
                    _ => self.code.inst(Inst::Int(register, 0)),
                }
            }
        }
    }

    /// The runtime zeroes frames when it makes them; a native procedure's stack is not zeroed.
    pub(super) fn zero_memory(&mut self, variables: &[VariableId]) {
        if !self.code.is_native() {
            return;
        }
        let zero = self.code.int(0);
        for id in variables {
            if let (true, Some(&offset)) =
                (self.unit.facts.in_memory.contains(id), self.unit.layouts.variables.get(id))
            {
                self.code.store(Address { base: Base::Frame, offset: offset as i32, byte: false }, zero);
            }
        }
    }

    pub(super) fn receive_parameter(&mut self, id: VariableId) {
        let ty = self.unit.variable(id).ty.clone();
        let by_reference = self.unit.variable(id).parameter == Some(Passing::Reference);
        let reg_ty = if by_reference { RegType::Int } else { reg_type(&ty) };
        let slot = self.unit.facts.in_memory.contains(&id).then(|| self.unit.layouts.variables[&id]);
        let register = self.code.parameter(reg_ty, slot);
        match slot {
            Some(slot) => {
                let byte = !by_reference && is_byte(&ty);
                self.code.store(Address { base: Base::Frame, offset: slot as i32, byte }, register);
            }
            None => _ = self.scope.registers.insert(id, register),
        }
    }
}
