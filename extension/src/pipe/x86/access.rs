//! Loads and stores of a unit's vectors and words, and where they are.

use super::frame::*;
use super::plan::{BUFFER, Plan, Stage, Where};
use super::simd::{Rm, Simd, Vector};
use crate::engine::jit::x86::*;
use crate::pipe::Stride;

/// The place of a byte of a unit without gaps.
pub(super) fn in_unit(place: Where, at: usize) -> Place {
    match place {
        Where::Source => Place::new(SOURCE, at as i32),
        Where::Destination => Place::new(DESTINATION, at as i32),
        Where::Buffer(number) => Place::new(FRAME, (usize::from(number) * BUFFER + at) as i32),
    }
}

/// The place of a byte of a stage's data, for a unit of a round.
fn place(plan: &Plan, place: Where, unit: usize, at: usize) -> Place {
    let strided = |stride: Option<Stride>, at: usize| stride.map_or(at, |it| it.place(at));
    match place {
        Where::Source => in_unit(place, strided(plan.source, unit * plan.unit + at)),
        Where::Destination => in_unit(place, strided(plan.destination, unit * plan.out + at)),
        Where::Buffer(_) => in_unit(place, at),
    }
}

/// Loads a vector, in two halves if there is a gap between them.
pub(super) fn load(compiler: &mut Compiler, simd: &Simd, from: Where, unit: usize, at: usize, to: Vector) {
    let plan = compiler.plan;
    let low = place(plan, from, unit, at);
    if is_halved(plan, from, simd) {
        let high = place(plan, from, unit, at + 16);
        Simd { is_wide: false }.load(&mut compiler.code, to, low);
        simd.insert(&mut compiler.code, to, to, high);
    } else {
        simd.load(&mut compiler.code, to, Rm::Place(low));
    }
}

/// Stores a vector, in two halves if there is a gap between them.
pub(super) fn store(compiler: &mut Compiler, simd: &Simd, to: Where, unit: usize, at: usize, from: Vector) {
    let plan = compiler.plan;
    let low = place(plan, to, unit, at);
    if is_halved(plan, to, simd) {
        let high = place(plan, to, unit, at + 16);
        Simd { is_wide: false }.store(&mut compiler.code, low, from);
        simd.store_upper(&mut compiler.code, high, from);
    } else {
        simd.store(&mut compiler.code, low, from);
    }
}

fn is_halved(plan: &Plan, at: Where, simd: &Simd) -> bool {
    let stride = match at {
        Where::Source => plan.source,
        Where::Destination => plan.destination,
        Where::Buffer(_) => None,
    };
    simd.is_wide && stride.is_some_and(|it| it.run == 16)
}

/// Copies 8 bytes, without vectors.
pub(super) fn move_word(compiler: &mut Compiler, stage: &Stage, unit: usize, at: usize) {
    if let Some(to) = stage.to {
        let (from, to) = (place(compiler.plan, stage.from, unit, at), place(compiler.plan, to, unit, at));
        compiler.code.load(RAX, from);
        compiler.code.store(to, RAX);
    }
}
