//! Compiles a program, instruction by instruction. The code is position-independent.
//!
//! r0 to r9 are in RAX RSI RDX RCX R8 R9 RBX R13 R14 R15, so that a helper finds its arguments where it expects them,
//! and callee-saved registers are those that a call preserves. R12 is the memory's base; R10 is scratch within an
//! instruction. While a function runs, the stack pointer is a multiple of 16, and the context's address is behind the
//! return address.
//!
//! The rest depends on the program ([`Compiler::is_flat`]). If it calls no function of its own, r10 is a constant and
//! needs no register: RBP, which helpers preserve, holds what is left of the slice of budget, and R11 is free. Else RBP
//! is r10, R11 holds the slice, and RDI is free.

use alloc::{string::String, vec, vec::Vec};
use core::mem::offset_of;

use super::recipes::Recipes;
use super::x86::*;
use crate::bytecode::*;
use crate::engine::context::{Context, Platform, State};
use crate::engine::memory::Memory;
use crate::{Guard, Verified};

/// A program's code, with positions in it.
#[derive(Debug)]
pub(super) struct Compiled {
    pub code: Vec<u8>,
    /// For each slot, where its instruction begins.
    pub slots: Vec<u32>,
    /// For each slot with a call of a function, the position that it returns to.
    pub returns: Vec<(u32, u32)>,
    /// For each slot with a call of a register, that register.
    pub callees: Vec<(u32, Register)>,
}

pub(super) struct Compiler<'a, H> {
    pub code: Code,
    pub platform: Platform<'a, H>,
    /// Whether no function of the program is called, so that r10 is that of the outermost frame.
    pub is_flat: bool,
    slots: Vec<u32>,
    pub returns: Vec<(u32, u32)>,
    callees: Vec<(u32, Register)>,
    /// Jumps to slots.
    pub jumps: Vec<(usize, usize)>,
    /// Jumps to exits.
    pub stops: Vec<Stopping>,
    /// Checks of whether a helper took from the slice, with where to continue.
    pub reloads: Vec<(usize, usize)>,
    pub slice: Slice,
    pub recipes: Recipes,
    /// The state of the generator of keys for constants, if they are blinded.
    pub key: Option<u64>,
}

/// A jump to an exit.
pub(super) struct Stopping {
    pub jump: usize,
    /// The slot to continue with.
    pub at: usize,
    pub reason: Reason,
    /// Where the slice is.
    pub slice: Slice,
    /// For a helper: how its arguments are rematerialised.
    pub recipes: Recipes,
}

/// Where the slice of budget is, between two instructions. At targets of jumps it is in its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slice {
    Register,
    /// In its register and in the state, where helpers can take from it.
    Both,
    /// In the state, because a helper may have taken from it.
    State,
}

/// Why code returns to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The slice of budget is used up.
    Slice,
    Depth,
    Access,
    /// It calls a register.
    Callee,
    /// A helper stopped.
    Helper,
}

/// r0 to r9.
pub(super) const REGISTERS: [Reg; 10] = [RAX, RSI, RDX, RCX, R8, R9, RBX, R13, R14, R15];
/// The register into which the context's address is loaded.
pub(super) const CONTEXT: Reg = RDI;
pub(super) const BASE: Reg = R12;
pub(super) const SCRATCH: Reg = R10;

/// Where the context's address is while a function runs.
pub(super) const CONTEXT_ON_STACK: Place = Place { base: RSP, index: None, displacement: 8 };

/// The place of a field of the context, which begins with the state.
pub(super) fn field(offset: usize) -> Place {
    Place::new(CONTEXT, offset as i32)
}

pub(super) fn register_in_state(index: usize) -> Place {
    field(offset_of!(Context<()>, state) + offset_of!(State, registers) + 8 * index)
}

pub(super) fn slice_in_state() -> Place {
    field(offset_of!(Context<()>, state) + offset_of!(State, slice))
}

impl<H> Compiler<'_, H> {
    /// Compiles a program. With a key, its constants are blinded.
    pub fn compile(verified: &Verified, platform: Platform<H>, key: Option<u64>) -> Result<Compiled, String> {
        let program = verified.program();
        let slots = program.slots();
        let mut led_to = vec![Way::None; slots];
        let mut is_flat = true;
        for (at, it) in program.instructions() {
            let Some(to) = it.target(at) else { continue };
            if matches!(it, Instruction::Jump { .. } | Instruction::JumpIf { .. }) {
                let way = &mut led_to[to as usize];
                *way = if to <= at as i64 || *way == Way::Back { Way::Back } else { Way::Forward };
            } else {
                led_to[to as usize] = Way::Forward;
                is_flat = false;
            }
        }
        let mut this = Compiler {
            code: Code { bytes: Vec::with_capacity(512 + 24 * slots) },
            platform,
            is_flat,
            slots: Vec::with_capacity(slots),
            returns: Vec::new(),
            callees: Vec::new(),
            jumps: Vec::new(),
            stops: Vec::new(),
            reloads: Vec::new(),
            slice: Slice::Register,
            recipes: Recipes::default(),
            key,
        };
        let ways_out = this.entry_and_ways_out();
        for (at, way) in led_to.into_iter().enumerate() {
            if way != Way::None {
                this.land_from_elsewhere(way);
            }
            this.slots.push(this.code.here() as u32);
            if let Some(instruction) = program.at(at) {
                this.instruction(at, instruction, verified.guards()[at])?;
                this.recipes.note(instruction, this.known_constant(at, instruction));
            }
        }
        this.outlying(ways_out);
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

    /// The target of jumps.
    fn land_from_elsewhere(&mut self, way: Way) {
        self.settle_slice();
        if way == Way::Back {
            self.code.align();
        }
        self.slice = Slice::Register;
        self.recipes = Recipes::default();
    }

    /// Compiles cold code, behind all other code.
    fn outlying(&mut self, ways_out: [usize; 5]) {
        for stopping in core::mem::take(&mut self.stops) {
            self.code.land(stopping.jump);
            self.code.load(CONTEXT, CONTEXT_ON_STACK);
            if stopping.slice == Slice::Register {
                if stopping.reason == Reason::Slice {
                    // The slice is less than 0 now.
                    let slice = self.slice_register();
                    self.code.op(Width::W32, Op::Xor, slice, slice);
                }
                self.code.store(slice_in_state(), self.slice_register());
            }
            if stopping.reason == Reason::Helper {
                self.follow(&stopping.recipes);
            }
            self.code.mov_number(SCRATCH, stopping.at as u64);
            let out = self.code.jump();
            self.code.patch(out, ways_out[stopping.reason as usize]);
        }
        for (jump, back) in core::mem::take(&mut self.reloads) {
            self.code.land(jump);
            self.code.load(self.slice_register(), slice_in_state());
            let jump = self.code.jump();
            self.code.patch(jump, back);
        }
    }

    pub fn slice_register(&self) -> Reg {
        if self.is_flat { RBP } else { R11 }
    }

    /// A second scratch register.
    pub fn temporary(&self) -> Reg {
        if self.is_flat { R11 } else { RDI }
    }

    pub fn reg(&mut self, register: Register) -> Reg {
        match REGISTERS.get(register.index()) {
            Some(reg) => *reg,
            None if self.is_flat => {
                self.code.mov_number(RDI, Memory::OUTERMOST);
                RDI
            }
            None => RBP,
        }
    }

    fn instruction(&mut self, at: usize, it: Instruction, guard: Guard) -> Result<(), String> {
        if guard == Guard::Budget {
            self.settle_slice();
            self.code.op_number(Width::W64, Op::Sub, self.slice_register(), 1);
            self.slice = Slice::Register;
            self.stop_if(If::Below, at, Reason::Slice);
        }
        match it {
            Instruction::Alu { width, operation, destination, source } => {
                let to = self.reg(destination);
                self.alu(width, operation, to, source);
            }
            Instruction::Negate { width, destination } => {
                let register = self.reg(destination);
                self.code.registers(width, &[0xf7], Reg(3), register);
            }
            Instruction::Extend { width, from, destination, source } => {
                let (to, source) = (self.reg(destination), self.reg(source));
                self.code.registers(width, sign_extension(from), to, source);
            }
            Instruction::Swap { order, size, destination } => {
                let register = self.reg(destination);
                self.swap(order, size, register);
            }
            Instruction::Constant { destination, constant } => {
                let number = self.platform.constant(at, constant)?;
                let to = self.reg(destination);
                self.number(to, number);
            }
            Instruction::Load { sign, size, destination, base, offset } => {
                let place = self.place(at, guard, base, offset, size);
                let to = self.reg(destination);
                self.load(sign, size, to, place);
            }
            Instruction::Store { size, base, offset, source } => {
                let place = self.place(at, guard, base, offset, size);
                self.store(size, place, source);
            }
            Instruction::Atomic { width, operation, base, offset, source } => {
                let mut place = self.place(at, guard, base, offset, width.into());
                let source = self.reg(source);
                if place.index == Some((source, 0)) {
                    // The source register may be overwritten before the store.
                    self.code.mov(Width::W64, SCRATCH, source);
                    place.index = Some((SCRATCH, 0));
                }
                self.atomic(width, operation, place, source);
            }
            Instruction::Jump { .. } => {
                self.settle_slice();
                let jump = self.code.jump();
                self.jumps.push((jump, target(at, it)));
            }
            Instruction::JumpIf { width, condition, left, right, .. } => {
                self.settle_slice();
                let condition = self.compare(width, condition, left, right);
                let jump = self.code.jump_if(condition);
                self.jumps.push((jump, target(at, it)));
            }
            Instruction::CallHelper { number } => self.call_helper(at, number)?,
            Instruction::CallLocal { .. } => self.call_local(at, it),
            Instruction::CallRegister { target } => {
                // The caller of the code begins the call, and enters again.
                self.stop(at, Reason::Callee);
                self.callees.push((at as u32, target));
                if self.is_flat {
                    // It was a helper: the code is entered anew behind the call.
                    self.slice = Slice::Both;
                } else {
                    self.return_from(at);
                }
            }
            Instruction::Exit => {
                self.settle_slice();
                self.code.ret();
            }
        }
        Ok(())
    }

    fn stop(&mut self, at: usize, reason: Reason) {
        let jump = self.code.jump();
        self.stops.push(Stopping { jump, at, reason, slice: self.slice, recipes: self.recipes });
    }

    pub fn stop_if(&mut self, condition: If, at: usize, reason: Reason) {
        let jump = self.code.jump_if(condition);
        self.stops.push(Stopping { jump, at, reason, slice: self.slice, recipes: self.recipes });
    }

    /// Compiles the guard of an access. Returns its place.
    fn place(&mut self, at: usize, guard: Guard, base: Register, offset: i16, size: Size) -> Place {
        let offset = i32::from(offset);
        if base == Register::FRAME && self.is_flat && guard == Guard::None {
            return Place::new(BASE, Memory::OUTERMOST as i32 + offset);
        }
        let base = self.reg(base);
        match guard {
            Guard::Confine => {
                self.code.lea(Width::W32, SCRATCH, Place::new(base, offset));
                self.code.op_number(Width::W32, Op::And, SCRATCH, self.platform.memory as i32 - 1);
                return Place { base: BASE, index: Some((SCRATCH, 0)), displacement: Memory::BEGIN as i32 };
            }
            Guard::Check => {
                let (lowest, reach) = Memory::reach(self.platform.memory);
                self.code.lea(Width::W64, SCRATCH, Place::new(base, offset - lowest as i32));
                self.code.op_number(Width::W64, Op::Cmp, SCRATCH, reach as i32 - size.bytes() as i32);
                self.stop_if(If::Above, at, Reason::Access);
            }
            Guard::None | Guard::Budget => {}
        }
        Place { base: BASE, index: Some((base, 0)), displacement: offset }
    }
}

/// How jumps and calls lead to a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    None,
    Forward,
    /// A jump back, too: a loop begins here.
    Back,
}

/// The target of an instruction; a well-formed program has one.
pub(super) fn target(at: usize, it: Instruction) -> usize {
    it.target(at).unwrap_or_default() as usize
}

pub(super) fn sign_extension(from: Size) -> &'static [u8] {
    match from {
        Size::Byte => &[0x0f, 0xbe],
        Size::Half => &[0x0f, 0xbf],
        _ => &[0x63],
    }
}
