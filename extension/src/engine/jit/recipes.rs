//! Rematerialisation of a helper's arguments.

use crate::bytecode::*;

/// How r1 to r5 are computed again, for those that can be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recipes(pub(super) [Option<Recipe>; 5]);

/// A constant, or a register that helpers preserve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    pub(super) of: Option<Register>,
    pub(super) plus: u64,
}

impl Recipes {
    /// Updates the recipes by an instruction, which may load a constant into a register.
    pub fn note(&mut self, it: Instruction, constant: Option<u64>) {
        let Some(written) = it.writes() else { return };
        let becomes = match it {
            Instruction::Alu {
                width: Width::W64,
                operation: Alu::Mov,
                source: Operand::Register(of),
                ..
            } if (6..10).contains(&of.index()) => Some(Recipe { of: Some(of), plus: 0 }),
            Instruction::Alu {
                width: Width::W64,
                operation: Alu::Add,
                source: Operand::Immediate(number),
                ..
            } => self.of(written).map(|it| Recipe { plus: it.plus.wrapping_add(number as u64), ..it }),
            _ => None,
        };
        let becomes = constant.map(|plus| Recipe { of: None, plus }).or(becomes);
        match it {
            Instruction::CallHelper { .. }
            | Instruction::CallLocal { .. }
            | Instruction::CallRegister { .. } => {
                self.0 = [None; 5];
            }
            _ => self.set(written, becomes),
        }
    }

    fn of(&self, register: Register) -> Option<Recipe> {
        *self.0.get(register.index().wrapping_sub(1))?
    }

    fn set(&mut self, register: Register, becomes: Option<Recipe>) {
        if let Some(recipe) = self.0.get_mut(register.index().wrapping_sub(1)) {
            *recipe = becomes;
        } else {
            self.0
                .iter_mut()
                .filter(|it| it.is_some_and(|it| it.of == Some(register)))
                .for_each(|it| *it = None);
        }
    }
}
