//! Compiles the loop over units of data.
//!
//! A stage of vectors reads each vector before it writes it, a stage of words each word. A stage reads its part of the
//! source before any stage has written to that unit's destination, or it does both itself. So no data is overwritten
//! before it is read, as long as the destination doesn't begin behind the source's first byte.

use alloc::vec::Vec;

use super::access::in_unit;
use super::frame::*;
use super::plan::{Kind, Stage, Where};
use super::scalar::Words;
use super::simd::Simd;
use super::vector::Stream;
use crate::bytecode::Width;
use crate::engine::jit::x86::*;
use crate::pipe::{Gauge, Stride};

/// Stages of words with up to so many steps are unrolled; longer ones are loops.
const STRAIGHT: usize = 96;

impl Compiler<'_> {
    /// Compiles the loop. Returns where it begins.
    pub fn units(&mut self) -> usize {
        let plan = self.plan;
        let has_words = plan.has_words();
        if has_words {
            self.pin_all();
        }
        // Buffers are at the beginning of the frame.
        self.take(plan.buffers() / 8);
        let simd = Simd { is_wide: plan.vector == 32 };
        let mut stream = Stream::new(self, &simd);
        let begin = self.code.here();
        if plan.units > 1 {
            self.code.op_number(Width::W64, Op::Sub, COUNT, plan.units as i32);
            let few = self.code.jump_if(If::Below);
            self.round(&mut stream, plan.units, If::AboveOrEqual);
            self.code.land(few);
            self.code.op_number(Width::W64, Op::Add, COUNT, plan.units as i32);
            let none = self.code.jump_if(If::Equal);
            self.round(&mut stream, 1, If::NotEqual);
            self.code.land(none);
        } else {
            self.round(&mut stream, 1, If::NotEqual);
        }
        stream.end(self);
        if plan.vector > 8 {
            Simd::leave(&mut self.code);
        }
        let pins = self.pins.clone();
        if has_words {
            self.unpin();
            self.leave();
        }
        self.code.ret();
        self.code.align();
        let end = self.code.here();
        if has_words {
            self.pins = pins;
            self.enter();
            self.load_pins();
            self.pins.clear();
        }
        self.code.mov(Width::W64, COUNT, RCX);
        stream.begin(self);
        self.code.align();
        // It is put before the loops, which stay aligned: jumps there don't lead out of them.
        self.code.bytes[begin..].rotate_left(end - begin);
        self.taken = 0;
        begin
    }

    /// Processes so many units, and repeats while the condition holds.
    fn round(&mut self, stream: &mut Stream, units: usize, condition: If) {
        let plan = self.plan;
        self.code.align();
        let again = self.code.here();
        for stage in &plan.stages {
            match &stage.kind {
                Kind::Vectors(pipes) => {
                    let steps = |at: &usize| self.pipes[*at].body.steps.len();
                    // As many vectors at once as leave registers for values.
                    let at_once = match pipes.iter().map(steps).max() {
                        None | Some(..=8) => 4,
                        Some(..=16) => 2,
                        _ => 1,
                    };
                    let in_unit = |unit| (0..stage.bytes).step_by(plan.vector).map(move |at| (unit, at));
                    let all: Vec<(usize, usize)> = (0..units).flat_map(in_unit).collect();
                    for some in all.chunks(at_once) {
                        stream.vectors(self, stage, pipes, some);
                    }
                }
                Kind::Words(pipe, gauge, body) => {
                    let body = body.as_ref().unwrap_or(&self.pipes[*pipe].body);
                    self.all_words(stage, *pipe, *gauge, body);
                }
            }
        }
        let advance =
            |stride: Option<Stride>, bytes: usize| stride.map_or(bytes, |it| it.place(bytes)) as i32;
        let (from, to) =
            (advance(plan.source, units * plan.unit), advance(plan.destination, units * plan.out));
        self.code.op_number(Width::W64, Op::Add, SOURCE, from);
        self.code.op_number(Width::W64, Op::Add, DESTINATION, to);
        self.code.op_number(Width::W64, Op::Sub, COUNT, units as i32);
        let back = self.code.jump_if(condition);
        self.code.patch(back, again);
    }

    /// Compiles a stage of words.
    fn all_words(&mut self, stage: &Stage, pipe: usize, input: Gauge, body: &crate::pipe::body::Body) {
        let it = &self.pipes[pipe];
        let output = if it.changes_length() { it.output } else { input };
        let count = stage.bytes / input.bytes();
        let mut straight = count;
        while straight > 1 && straight * body.steps.len() > STRAIGHT {
            straight /= 2;
        }
        let (from, to) = (input.bytes(), output.bytes());
        let is_loop = straight < count;
        let narrow = from.min(to);
        let place = |at: Where, bytes: usize| {
            let scale = (bytes / narrow).trailing_zeros() as u8;
            Place { index: is_loop.then_some((INDEX, scale)), ..in_unit(at, 0) }
        };
        let (source, target) = (place(stage.from, from), stage.to.map(|at| place(at, to)));
        if is_loop {
            self.code.op(Width::W32, Op::Xor, INDEX, INDEX);
        }
        let again = self.code.here();
        for word in 0..straight {
            let words = Words {
                pipe,
                body,
                output,
                from: source.plus((word * from) as i32),
                to: target.map(|it| it.plus((word * to) as i32)),
            };
            self.words(&words);
        }
        if is_loop {
            self.code.op_number(Width::W64, Op::Add, INDEX, (straight * narrow) as i32);
            self.code.op_number(Width::W64, Op::Cmp, INDEX, (count * narrow) as i32);
            let back = self.code.jump_if(If::Below);
            self.code.patch(back, again);
        }
    }
}
