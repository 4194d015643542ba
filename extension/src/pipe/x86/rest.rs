//! Compiles the code for what is less than a unit: it is in a buffer, and goes through one pipe after the other, word
//! by word. Zeros behind the bytes fill up the last word; each pipe keeps them 0.

use super::frame::*;
use super::scalar::Words;
use crate::bytecode::Width;
use crate::engine::jit::x86::*;

impl Compiler<'_> {
    pub fn rest(&mut self) {
        let pipes = self.pipes;
        self.enter();
        self.code.mov(Width::W64, COUNT, RCX);
        let mut base = SOURCE;
        for (at, pipe) in pipes.iter().enumerate().filter(|(_, pipe)| !pipe.body.steps.is_empty()) {
            let (from, to) = (pipe.input.bytes() as u8, pipe.output.bytes() as u8);
            self.pin(at);
            self.load_pins();
            // The index counts in bytes of the narrower side.
            let (step, scales) = if from < to {
                (from, [0, (to / from).trailing_zeros() as u8])
            } else {
                (to, [(from / to).trailing_zeros() as u8, 0])
            };
            let given = if from == to { base } else { DESTINATION };
            if from != to {
                // Whole words go in.
                self.code.op_number(Width::W64, Op::Add, COUNT, i32::from(from) - 1);
                self.code.op_number(Width::W64, Op::And, COUNT, -i32::from(from));
            }
            if from > to {
                self.code.shift(Width::W64, Shift::Shr, COUNT, scales[0]);
            }
            self.code.op(Width::W32, Op::Xor, INDEX, INDEX);
            let again = self.code.here();
            let place = |base, scale| Place { base, index: Some((INDEX, scale)), displacement: 0 };
            let words = Words {
                pipe: at,
                body: &pipe.body,
                output: pipe.output,
                from: place(base, scales[0]),
                to: Some(place(given, scales[1])),
            };
            self.words(&words);
            self.code.op_number(Width::W64, Op::Add, INDEX, step.into());
            self.code.op(Width::W64, Op::Cmp, INDEX, COUNT);
            let back = self.code.jump_if(If::Below);
            self.code.patch(back, again);
            if from < to {
                self.code.shift(Width::W64, Shift::Shl, COUNT, scales[1]);
            }
            if pipe.modifies() && from == to && from > 1 {
                self.code.op(Width::W32, Op::Xor, RAX, RAX);
                self.code.store(Place { base, index: Some((COUNT, 0)), displacement: 0 }, RAX);
            }
            base = given;
            self.unpin();
        }
        self.leave();
        self.code.ret();
    }
}
