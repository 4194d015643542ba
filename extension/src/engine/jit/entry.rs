//! The entry of code, and its exits: the return from the outermost function, and the points where the program stops.

use core::mem::offset_of;

use super::compile::{
    BASE, CONTEXT, Compiler, REGISTERS, Reason, SCRATCH, field, register_in_state, slice_in_state,
};
use super::x86::*;
use crate::bytecode::Width;
use crate::engine::context::{Answer, Context, State, Stop};

/// The signature of code: takes the context, the memory's base, the address to continue at, and the return addresses of
/// functions under way, the outermost's callee first. Returns r0, and 0 or the reason why it came back.
///
/// # Safety
/// The base is that of the context's memory. The addresses are in this code, and belong to the context's state.
pub(super) type Entry<H> =
    unsafe extern "C" fn(&mut Context<H>, usize, *const u8, *const *const u8, usize) -> Answer;

/// Reasons why code came back although the program doesn't stop.
pub(super) const SLICE_SPENT: u64 = 2 << 32;
pub(super) const CALLS_REGISTER: u64 = 3 << 32;

/// Registers that a function preserves for its caller.
const KEPT: [Reg; 6] = [RBX, RBP, R12, R13, R14, R15];

impl<H> Compiler<'_, H> {
    /// Compiles entry and exits; must come first. Returns for each reason where code jumps to, with the slot in
    /// SCRATCH, the context in its register, and the slice in the state.
    pub fn entry_and_ways_out(&mut self) -> [usize; 5] {
        let done = self.enter();
        let slice = self.slice_register();
        let code = &mut self.code;
        code.patch(done, code.here());
        code.load(CONTEXT, Place::new(RSP, 0));
        code.store(register_in_state(0), RAX);
        code.store(slice_in_state(), slice);
        code.op(Width::W32, Op::Xor, RDX, RDX);
        let leave = code.here();
        code.load(RSP, stack());
        code.op_number(Width::W64, Op::Add, RSP, 16);
        for register in KEPT.into_iter().rev() {
            code.pop(register);
        }
        code.ret();

        let all = code.here();
        for index in [0, 1, 3, 4, 5] {
            code.store(register_in_state(index), REGISTERS[index]);
        }
        // A helper that stops the program gets its arguments from there when it is called again.
        let kept = code.here();
        for (index, register) in REGISTERS.into_iter().enumerate().skip(6) {
            code.store(register_in_state(index), register);
        }
        if !self.is_flat {
            code.store(register_in_state(10), RBP);
        }
        code.store(field(offset_of!(Context<()>, state) + offset_of!(State, slot)), SCRATCH);
        let out = code.jump();
        code.patch(out, leave);

        [Reason::Slice, Reason::Depth, Reason::Access, Reason::Callee, Reason::Helper].map(|reason| {
            let why = match reason {
                Reason::Helper => return kept,
                Reason::Slice => SLICE_SPENT,
                Reason::Depth => Stop::Depth.code(),
                Reason::Access => Stop::Access.code(),
                Reason::Callee => CALLS_REGISTER,
            };
            let begin = code.here();
            code.store(register_in_state(2), RDX);
            code.mov_number(RDX, why);
            let out = code.jump();
            code.patch(out, all);
            begin
        })
    }

    /// Gives what has to lead to where the outermost function returns to.
    fn enter(&mut self) -> usize {
        let slice = self.slice_register();
        let code = &mut self.code;
        for register in KEPT {
            code.push(register);
        }
        // Twice, to keep the stack aligned for helpers.
        code.push(CONTEXT);
        code.push(CONTEXT);
        code.store(stack(), RSP);
        code.mov(Width::W64, BASE, RSI);
        code.mov(Width::W64, SCRATCH, RDX);
        // lea rax, [rip + ...]
        code.put(&[0x48, 0x8d, 0x05, 0, 0, 0, 0]);
        let done = code.here() - 4;
        code.push(RAX);
        let again = code.here();
        code.test(Width::W64, R8, R8);
        let ready = code.jump_if(If::Equal);
        code.push(CONTEXT);
        code.load(RAX, Place::new(RCX, 0));
        code.push(RAX);
        code.op_number(Width::W64, Op::Add, RCX, 8);
        code.op_number(Width::W64, Op::Sub, R8, 1);
        let back = code.jump();
        code.patch(back, again);
        code.land(ready);
        for (index, register) in REGISTERS.into_iter().enumerate() {
            code.load(register, register_in_state(index));
        }
        if !self.is_flat {
            code.load(RBP, register_in_state(10));
        }
        code.load(slice, slice_in_state());
        code.jump_register(SCRATCH);
        debug_assert_eq!(CONTEXT, RDI);
        done
    }
}

fn stack() -> Place {
    field(offset_of!(Context<()>, stack))
}
