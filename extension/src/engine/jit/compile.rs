//! From a program to code of the machine, instruction by instruction. The code can lie anywhere.
//!
//! r0 to r10 are in RAX RSI RDX RCX R8 R9 RBX R13 R14 R15 RBP, so that a helper finds its arguments where it expects them, and what
//! it must keep are those that a call keeps. RDI is the context, R12 the memory's base, R11 what is left of the slice of budget,
//! R10 for what lasts within an instruction. While a function runs the stack is 8 bytes off a multiple of 16.

use alloc::{string::String, vec::Vec};
use core::mem::offset_of;

use super::x86::*;
use crate::bytecode::*;
use crate::engine::context::{Caller, Calls, Context, Platform, State};
use crate::engine::memory::Memory;
use crate::{DEPTH, FRAME, Guard, Verified};

/// A program's code, and where things are in it.
#[derive(Debug)]
pub(super) struct Compiled {
    pub code: Vec<u8>,
    /// Of each slot, where its instruction begins.
    pub slots: Vec<u32>,
    /// Of each slot with a call of a function, where that returns to.
    pub returns: Vec<(u32, u32)>,
    /// Of each slot with a call of a register, which.
    pub callees: Vec<(u32, Register)>,
}

pub(super) struct Compiler<'a, H> {
    pub code: Code,
    platform: Platform<'a, H>,
    slots: Vec<u32>,
    returns: Vec<(u32, u32)>,
    callees: Vec<(u32, Register)>,
    /// Jumps to slots.
    jumps: Vec<(usize, usize)>,
    /// Jumps to where the program stops, in a slot.
    stops: Vec<(usize, usize, Reason)>,
    /// What the next constant is hidden with, if they are.
    pub key: Option<u64>,
}

/// Why code goes back to who entered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The slice of its budget is spent.
    Slice,
    Depth,
    Access,
    /// It calls a register.
    Callee,
    /// A helper stopped.
    Helper,
}

pub(super) const REGISTERS: [Reg; Register::COUNT] = [RAX, RSI, RDX, RCX, R8, R9, RBX, R13, R14, R15, RBP];
pub(super) const CONTEXT: Reg = RDI;
pub(super) const BASE: Reg = R12;
pub(super) const SLICE: Reg = R11;
pub(super) const SCRATCH: Reg = R10;

/// A field of the context, which begins with the state.
pub(super) fn field(offset: usize) -> Place {
    Place::new(CONTEXT, offset as i32)
}

pub(super) fn register_in_state(index: usize) -> Place {
    field(offset_of!(Context<()>, state) + offset_of!(State, registers) + 8 * index)
}

pub(super) fn slice_in_state() -> Place {
    field(offset_of!(Context<()>, state) + offset_of!(State, slice))
}

fn reg(register: Register) -> Reg {
    REGISTERS[register.index()]
}

impl<H> Compiler<'_, H> {
    /// Compiles a program. With a key, its constants don't stand in the code as it says them.
    pub fn compile(verified: &Verified, platform: Platform<H>, key: Option<u64>) -> Result<Compiled, String> {
        let program = verified.program();
        let slots = program.slots();
        let mut this = Compiler {
            code: Code { bytes: Vec::with_capacity(512 + 24 * slots) },
            platform,
            slots: Vec::with_capacity(slots),
            returns: Vec::new(),
            callees: Vec::new(),
            jumps: Vec::new(),
            stops: Vec::new(),
            key,
        };
        let ways_out = this.entry_and_ways_out();
        for at in 0..slots {
            this.slots.push(this.code.here() as u32);
            if let Some(instruction) = program.at(at) {
                this.instruction(at, instruction, verified.guards()[at])?;
            }
        }
        for (jump, at, reason) in core::mem::take(&mut this.stops) {
            this.code.land(jump);
            this.code.mov_number(SCRATCH, at as u64);
            let out = this.code.jump();
            this.code.patch(out, ways_out[reason as usize]);
        }
        for (jump, at) in core::mem::take(&mut this.jumps) {
            this.code.patch(jump, this.slots[at] as usize);
        }
        Ok(Compiled {
            code: this.code.bytes,
            slots: this.slots,
            returns: this.returns,
            callees: this.callees,
        })
    }

    fn instruction(&mut self, at: usize, it: Instruction, guard: Guard) -> Result<(), String> {
        if guard == Guard::Budget {
            self.code.op_number(Width::W64, Op::Sub, SLICE, 1);
            self.stop_if(If::Below, at, Reason::Slice);
        }
        match it {
            Instruction::Alu { width, operation, destination, source } => {
                self.alu(width, operation, reg(destination), source);
            }
            Instruction::Negate { width, destination } => {
                self.code.registers(width, &[0xf7], Reg(3), reg(destination));
            }
            Instruction::Extend { width, from, destination, source } => {
                self.code.registers(width, sign_extension(from), reg(destination), reg(source));
            }
            Instruction::Swap { order, size, destination } => self.swap(order, size, reg(destination)),
            Instruction::Constant { destination, constant } => {
                let number = self.platform.constant(at, constant)?;
                self.number(reg(destination), number);
            }
            Instruction::Load { sign, size, destination, base, offset } => {
                let place = self.place(at, guard, base, offset, size);
                self.load(sign, size, reg(destination), place);
            }
            Instruction::Store { size, base, offset, source } => {
                let place = self.place(at, guard, base, offset, size);
                self.store(size, place, source);
            }
            Instruction::Atomic { width, operation, base, offset, source } => {
                let mut place = self.place(at, guard, base, offset, width.into());
                if base == source && place.index != Some((SCRATCH, 0)) {
                    // The source may change before memory does.
                    self.code.mov(Width::W64, SCRATCH, reg(base));
                    place.index = Some((SCRATCH, 0));
                }
                self.atomic(width, operation, place, reg(source));
            }
            Instruction::Jump { .. } => {
                let jump = self.code.jump();
                self.jumps.push((jump, target(at, it)));
            }
            Instruction::JumpIf { width, condition, left, right, .. } => {
                let condition = self.compare(width, condition, reg(left), right);
                let jump = self.code.jump_if(condition);
                self.jumps.push((jump, target(at, it)));
            }
            Instruction::CallHelper { number } => self.call_helper(at, number)?,
            Instruction::CallLocal { .. } => self.call_local(at, target(at, it)),
            Instruction::CallRegister { target } => {
                // Who entered begins the call, and enters again.
                self.stop(at, Reason::Callee);
                self.callees.push((at as u32, target));
                self.return_from(at);
            }
            Instruction::Exit => self.code.ret(),
        }
        Ok(())
    }

    fn stop(&mut self, at: usize, reason: Reason) {
        let jump = self.code.jump();
        self.stops.push((jump, at, reason));
    }

    fn stop_if(&mut self, condition: If, at: usize, reason: Reason) {
        let jump = self.code.jump_if(condition);
        self.stops.push((jump, at, reason));
    }

    /// Where an access goes, once its guard is kept.
    fn place(&mut self, at: usize, guard: Guard, base: Register, offset: i16, size: Size) -> Place {
        let offset = i32::from(offset);
        match guard {
            Guard::Confine => {
                self.code.lea(Width::W32, SCRATCH, Place::new(reg(base), offset));
                self.code.op_number(Width::W32, Op::And, SCRATCH, self.platform.memory as i32 - 1);
                return Place { base: BASE, index: Some((SCRATCH, 0)), displacement: Memory::BEGIN as i32 };
            }
            Guard::Check => {
                let (lowest, reach) = Memory::reach(self.platform.memory);
                self.code.lea(Width::W64, SCRATCH, Place::new(reg(base), offset - lowest as i32));
                self.code.op_number(Width::W64, Op::Cmp, SCRATCH, reach as i32 - size.bytes() as i32);
                self.stop_if(If::Above, at, Reason::Access);
            }
            Guard::None | Guard::Budget => {}
        }
        Place { base: BASE, index: Some((reg(base), 0)), displacement: offset }
    }

    fn call_helper(&mut self, at: usize, number: u32) -> Result<(), String> {
        let helper = self.platform.helper(at, number)?;
        self.code.store(slice_in_state(), SLICE);
        // So that it can be called again if it stops.
        for (index, register) in REGISTERS.into_iter().enumerate().skip(1).take(helper.arguments.min(5)) {
            self.code.store(register_in_state(index), register);
        }
        self.code.push(CONTEXT);
        self.code.mov_number(SCRATCH, helper.function as usize as u64);
        self.code.call_register(SCRATCH);
        self.code.pop(CONTEXT);
        self.code.load(SLICE, slice_in_state());
        // An answer is in two registers: the value, and whether it stops.
        self.code.test(Width::W64, RDX, RDX);
        self.stop_if(If::NotEqual, at, Reason::Helper);
        Ok(())
    }

    fn call_local(&mut self, at: usize, target: usize) {
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
        self.code.op_number(Width::W64, Op::Sub, RSP, 8);
        let call = self.code.call();
        self.jumps.push((call, target));
        self.return_from(at);
    }

    /// What is done after a call of a function.
    fn return_from(&mut self, at: usize) {
        self.returns.push((at as u32, self.code.here() as u32));
        self.code.op_number(Width::W64, Op::Add, RSP, 8);
        self.code.op_number(Width::W64, Op::Sub, RBP, FRAME as i32);
        self.code.load(SCRATCH, depth());
        self.code.memory(Width::W64, &[0x83], Reg(5), depth());
        self.code.put(&[1]);
        let caller = self.caller();
        for (kept, register) in REGISTERS[6..=9].iter().enumerate() {
            self.code.load(*register, caller.plus(8 * kept as i32));
        }
    }

    /// The place of the caller whose depth is in SCRATCH.
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

/// The shape of programs says that there is one.
fn target(at: usize, it: Instruction) -> usize {
    it.target(at).unwrap_or_default() as usize
}

pub(super) fn sign_extension(from: Size) -> &'static [u8] {
    match from {
        Size::Byte => &[0x0f, 0xbe],
        Size::Half => &[0x0f, 0xbf],
        _ => &[0x63],
    }
}
