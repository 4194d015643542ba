//! How code is entered, and left: by returning from the outermost function, or where the program stops.

use core::mem::offset_of;

use super::compile::{
    BASE, CONTEXT, Compiler, REGISTERS, Reason, SCRATCH, field, register_in_state, slice_in_state,
};
use super::x86::*;
use crate::bytecode::Width;
use crate::engine::context::{Answer, Context, State, Stop};

/// What is entered: with the context, the memory's base, where to go on, and where the functions that are under way
/// return to, the outermost's callee first. It gives r0, and 0 or why it came back.
pub(super) type Entry<H> =
    unsafe extern "C" fn(&mut Context<H>, usize, *const u8, *const *const u8, usize) -> Answer;

/// Why code came back, where the program doesn't stop but needs help.
pub(super) const SLICE_SPENT: u64 = 2 << 32;
pub(super) const CALLS_REGISTER: u64 = 3 << 32;

/// What a function of the machine keeps for its caller.
const KEPT: [Reg; 6] = [RBX, RBP, R12, R13, R14, R15];

impl<H> Compiler<'_, H> {
    /// Must come first. Gives where to go with the slot in SCRATCH and the context in its register, by reason, once the
    /// slice is in the state.
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
        // A helper that stops finds its arguments there when it is called again.
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
        // Twice, so that helpers find the stack where the convention wants it.
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
