//! Compiles calls of helpers and of the program's own functions.
//!
//! A helper may stop the program, and is called again when that is resumed, so its arguments must survive the call.
//! Those that are constants, or copies of registers that helpers preserve, are rematerialised only when needed.

use alloc::string::String;
use core::mem::offset_of;

use super::compile::{
    CONTEXT, CONTEXT_ON_STACK, Compiler, REGISTERS, Reason, SCRATCH, Slice, field, register_in_state,
    slice_in_state, target,
};
use super::recipes::{Recipe, Recipes};
use super::x86::*;
use crate::bytecode::*;
use crate::engine::context::{Caller, Calls, Context, State};
use crate::engine::memory::Memory;
use crate::{DEPTH, FRAME};

impl<H> Compiler<'_, H> {
    /// The constant that an instruction loads into a register, if it does.
    pub fn known_constant(&self, at: usize, it: Instruction) -> Option<u64> {
        match it {
            Instruction::Alu { width, operation: Alu::Mov, source: Operand::Immediate(number), .. } => {
                Some(super::arithmetic::immediate(width, number))
            }
            Instruction::Alu {
                width: Width::W64,
                operation: Alu::Mov,
                source: Operand::Register(Register::FRAME),
                ..
            } if self.is_flat => Some(Memory::OUTERMOST),
            Instruction::Constant { constant, .. } => self.platform.constant(at, constant).ok(),
            _ => None,
        }
    }

    /// Stores those arguments of a helper in the state that weren't stored before the call.
    pub fn follow(&mut self, recipes: &Recipes) {
        for (index, recipe) in recipes.0.iter().enumerate() {
            let Some(Recipe { of, plus }) = *recipe else { continue };
            self.number(SCRATCH, plus);
            if let Some(of) = of {
                let of = self.reg(of);
                self.code.op(Width::W64, Op::Add, SCRATCH, of);
            }
            self.code.store(register_in_state(index + 1), SCRATCH);
        }
    }

    pub fn call_helper(&mut self, at: usize, number: u32) -> Result<(), String> {
        let helper = self.platform.helper(at, number)?;
        let arguments = helper.arguments.min(5);
        self.code.load(CONTEXT, CONTEXT_ON_STACK);
        if self.slice == Slice::Register {
            self.code.store(slice_in_state(), self.slice_register());
        }
        // It is called again if it stops the program.
        self.recipes.0[arguments..].fill(None);
        for (recipe, index) in self.recipes.0.iter().zip(1..=arguments) {
            if recipe.is_none() {
                self.code.store(register_in_state(index), REGISTERS[index]);
            }
        }
        self.code.mov_number(SCRATCH, helper.function as usize as u64);
        self.code.call_register(SCRATCH);
        self.slice = Slice::State;
        // An answer is in two registers: the value, and why it stops.
        self.code.test(Width::W64, RDX, RDX);
        self.stop_if(If::NotEqual, at, Reason::Helper);
        if !self.is_flat {
            self.code.load(CONTEXT, CONTEXT_ON_STACK);
            self.code.load(self.slice_register(), slice_in_state());
            self.slice = Slice::Both;
        }
        Ok(())
    }

    /// Reloads the slice if it may only be in the state. Its register is usually right, because helpers seldom take
    /// from the slice: a comparison, which the processor predicts, finds out.
    pub fn settle_slice(&mut self) {
        if self.slice != Slice::State {
            return;
        }
        self.code.load(CONTEXT, CONTEXT_ON_STACK);
        self.code.memory(Width::W64, &[Op::Cmp as u8], self.slice_register(), slice_in_state());
        let jump = self.code.jump_if(If::NotEqual);
        self.reloads.push((jump, self.code.here()));
        self.slice = Slice::Both;
    }

    pub fn call_local(&mut self, at: usize, it: Instruction) {
        self.code.load(CONTEXT, CONTEXT_ON_STACK);
        self.code.load(SCRATCH, depth());
        self.code.op_number(Width::W64, Op::Cmp, SCRATCH, DEPTH as i32 - 1);
        self.stop_if(If::AboveOrEqual, at, Reason::Depth);
        self.code.op_number(Width::W64, Op::Add, SCRATCH, 1);
        self.code.store(depth(), SCRATCH);
        let caller = self.caller();
        for (kept, register) in REGISTERS[6..=9].iter().enumerate() {
            self.code.store(caller.plus(8 * kept as i32), *register);
        }
        self.code.memory(Width::W64, &[0xc7], Reg(0), caller.plus(offset_of!(Caller, back) as i32));
        self.code.put32(at as i32 + 1);
        self.code.op_number(Width::W64, Op::Add, RBP, FRAME as i32);
        self.code.push(CONTEXT);
        let call = self.code.call();
        self.jumps.push((call, target(at, it)));
        self.return_from(at);
    }

    /// Compiles what follows a call of a function.
    pub fn return_from(&mut self, at: usize) {
        self.returns.push((at as u32, self.code.here() as u32));
        self.code.pop(CONTEXT);
        self.code.op_number(Width::W64, Op::Sub, RBP, FRAME as i32);
        self.code.load(SCRATCH, depth());
        self.code.memory(Width::W64, &[0x83], Reg(5), depth());
        self.code.put(&[1]);
        let caller = self.caller();
        for (kept, register) in REGISTERS[6..=9].iter().enumerate() {
            self.code.load(*register, caller.plus(8 * kept as i32));
        }
        self.slice = Slice::Register;
    }

    /// The entry of the caller whose depth is in SCRATCH.
    fn caller(&mut self) -> Place {
        const { assert!(size_of::<Caller>() == 5 * 8) };
        self.code.lea(
            Width::W64,
            SCRATCH,
            Place { base: SCRATCH, index: Some((SCRATCH, 2)), displacement: 0 },
        );
        let callers = offset_of!(Context<()>, state) + offset_of!(State, calls) + offset_of!(Calls, callers);
        Place { base: CONTEXT, index: Some((SCRATCH, 3)), displacement: callers as i32 }
    }
}

fn depth() -> Place {
    field(offset_of!(Context<()>, state) + offset_of!(State, calls) + offset_of!(Calls, depth))
}
