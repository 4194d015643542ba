//! Compiles pipes on vectors: each vector goes through all pipes of a stage in its register.
//!
//! Vector registers 0 to 2 are scratch within a step; the next ones hold values of steps. The last ones hold
//! accumulators and loop invariants, of which those that find no register are in memory. The code that sets these up is
//! written after the loop, when it is known which are needed.

use alloc::{vec, vec::Vec};

use super::access::{load, move_word, store};
use super::forms::{Form, Gathers, Output};
use super::frame::{Compiler, constant_at};
use super::plan::{Kind, Plan, Stage};
use super::simd::*;
use crate::engine::jit::x86::{Place, RAX};
use crate::pipe::Gauge;
use crate::pipe::body::*;

pub(super) const SCRATCH: [Vector; 3] = [Vector(0), Vector(1), Vector(2)];
/// The first register for accumulators and invariants.
const LASTING: u8 = 11;

/// Where something is.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Register(Vector),
    /// In the frame, or among the constants.
    Place(Place),
}

impl From<At> for Rm {
    fn from(at: At) -> Rm {
        match at {
            At::Register(vector) => Rm::Vector(vector),
            At::Place(place) => Rm::Place(place),
        }
    }
}

/// A pipe's register that is a reduction.
#[derive(Clone, Copy)]
pub(super) struct Gathering {
    pub pipe: usize,
    pub register: u8,
    pub kind: Gathers,
    pub homes: [At; 3],
    /// Whether the sum is in its third home, and not in its first.
    pub is_third: bool,
}

/// Accumulators and invariants of the loop, and which registers are free.
pub(super) struct Stream<'s> {
    pub simd: &'s Simd,
    free: Vec<Vector>,
    pub gathers: Vec<Gathering>,
    /// Pipes' registers that are only read.
    read: Vec<(usize, Value, At)>,
    free_places: Vec<Place>,
    /// The vector registers of values that can be used again.
    homes: Vec<Option<At>>,
    /// The index of the vector in the round.
    pub turn: usize,
}

/// The values of one pipe while its steps are compiled.
pub(super) struct Lanes<'l> {
    pub simd: &'l Simd,
    pub body: &'l Body,
    pub homes: Vec<Option<At>>,
}

impl<'s> Stream<'s> {
    /// Finds homes for all accumulators and invariants.
    pub fn new(compiler: &mut Compiler, simd: &'s Simd) -> Stream<'s> {
        let (mut free, mut read, mut gathers) = (Vec::new(), Vec::new(), Vec::new());
        if compiler.plan.vector > 8 {
            free = (3..LASTING).rev().map(Vector).collect();
            compiler.spare = (LASTING..16).map(Vector).collect();
        }
        let plan = compiler.plan;
        let is_alone = vectors(plan).map(|(_, form)| form.accumulators.len()).sum::<usize>() == 1;
        for (at, form) in vectors(plan) {
            for it in &form.accumulators {
                let mut homes = [lasting_home(compiler); 3];
                if matches!(it.kind, Gathers::Adler32 | Gathers::Carries) {
                    homes[1..].fill_with(|| lasting_home(compiler));
                } else if is_alone {
                    homes[1] = lasting_home(compiler);
                }
                gathers.push(Gathering {
                    pipe: at,
                    register: it.register,
                    kind: it.kind,
                    homes,
                    is_third: false,
                });
            }
        }
        for (at, form) in vectors(plan) {
            for (index, step) in compiler.pipes[at].body.steps.iter().enumerate() {
                if form.is_needed[index] && matches!(step.operation, Operation::Register(_)) {
                    read.push((at, Value(index as u16), lasting_home(compiler)));
                }
            }
        }
        Stream { simd, free, gathers, read, free_places: Vec::new(), homes: Vec::new(), turn: 0 }
    }

    /// Writes the code before the loop.
    pub fn begin(&self, compiler: &mut Compiler) {
        for it in &self.gathers {
            self.clear(compiler, it.kind, it.homes);
        }
        for &(at, value, home) in &self.read {
            let step = compiler.pipes[at].body.step(value);
            let Operation::Register(register) = step.operation else { continue };
            let cell = compiler.homes[at].registers + usize::from(register);
            compiler.load_word(step.width, RAX, super::frame::cell_at(cell));
            compiler.spread(step.width);
            let to = if let At::Register(it) = home { it } else { SCRATCH[0] };
            self.simd.fill(&mut compiler.code, to, RAX);
            self.keep(compiler, home, to);
        }
        for (at, register) in core::mem::take(&mut compiler.hoisted) {
            self.simd.load(&mut compiler.code, register, constant_at(at));
        }
        compiler.spare.clear();
    }

    /// Stores what was computed for a place.
    pub fn keep(&self, compiler: &mut Compiler, home: At, from: Vector) {
        if let At::Place(place) = home {
            self.simd.store(&mut compiler.code, place, from);
        }
    }

    /// Takes the vectors of a round, units of some bytes, through the pipes of a stage. All are read before any is
    /// written.
    pub fn vectors(
        &mut self,
        compiler: &mut Compiler,
        stage: &Stage,
        pipes: &[usize],
        all: &[(usize, usize)],
    ) {
        if compiler.plan.vector == 8 {
            return all.iter().for_each(|&(unit, at)| move_word(compiler, stage, unit, at));
        }
        let mut currents = Vec::with_capacity(all.len());
        for &(unit, at) in all {
            let register = self.free.pop().expect("there are more of them than vectors at once");
            load(compiler, self.simd, stage.from, unit, at, register);
            currents.push(vec![register]);
        }
        for (turn, current) in currents.iter_mut().enumerate() {
            self.turn = turn;
            for &pipe in pipes {
                self.pipe(compiler, pipe, current);
            }
        }
        self.settle(compiler);
        for (current, &(unit, at)) in currents.into_iter().zip(all) {
            for (index, &vector) in current.iter().enumerate() {
                if let Some(to) = stage.to {
                    let at = at * current.len() + index * compiler.plan.vector;
                    store(compiler, self.simd, to, unit, at, vector);
                }
            }
            self.free.extend(current);
        }
    }

    fn pipe(&mut self, compiler: &mut Compiler, at: usize, current: &mut Vec<Vector>) {
        let plan = compiler.plan;
        let Some(form) = &plan.forms[at] else { return };
        let before = core::mem::take(current);
        for vector in before {
            self.body(compiler, at, form, vector, current);
        }
    }

    /// Compiles a pipe's steps for a vector, and adds its output.
    fn body(
        &mut self,
        compiler: &mut Compiler,
        at: usize,
        form: &Form,
        input: Vector,
        out: &mut Vec<Vector>,
    ) {
        let body = &compiler.pipes[at].body;
        let taken = compiler.taken;
        // Registers for values are free here; later, all may be in use.
        let second = if matches!(form.output, Output::Joined(..)) { self.free.pop() } else { None };
        let mut lanes = Lanes { simd: self.simd, body, homes: core::mem::take(&mut self.homes) };
        lanes.homes.resize(body.steps.len(), None);
        for (_, value, home) in self.read.iter().filter(|(pipe, ..)| *pipe == at) {
            lanes.homes[usize::from(value.0)] = Some(*home);
        }
        let last = &form.last;
        for (index, step) in body.steps.iter().enumerate().filter(|(index, _)| form.is_needed[*index]) {
            if lanes.homes[index].is_some() {
                continue;
            }
            match step.operation {
                Operation::Input => lanes.homes[index] = Some(At::Register(input)),
                Operation::Constant(number) => {
                    lanes.homes[index] = Some(compiler.constant(splat(step.width, number)));
                }
                _ => self.step(compiler, &mut lanes, last, index, *step),
            }
        }
        for index in 0..self.gathers.len() {
            let gathering = self.gathers[index];
            if gathering.pipe == at
                && let Some(it) = form.accumulators.iter().find(|it| it.register == gathering.register)
            {
                self.gather(compiler, &lanes, gathering, it.value);
                self.gathers[index].is_third ^= true;
            }
        }
        match form.output {
            Output::Same => out.push(input),
            Output::Word(value) => {
                let home = lanes.home(value);
                let is_own = is_computed(body, value);
                match home {
                    At::Register(register) if is_own => {
                        self.free.push(input);
                        out.push(register);
                        lanes.homes[usize::from(value.0)] = None;
                    }
                    _ => {
                        self.simd.load(&mut compiler.code, input, home);
                        out.push(input);
                    }
                }
            }
            Output::Joined(low, high) => {
                lanes.join(compiler, low, high, input, second.unwrap_or(SCRATCH[0]));
                out.push(input);
                out.extend(second);
            }
        }
        for (index, _) in last.iter().enumerate().filter(|(_, last)| **last == usize::MAX) {
            self.give_up(&mut lanes, index);
        }
        compiler.taken = taken;
        self.free_places.clear();
        lanes.homes.clear();
        self.homes = lanes.homes;
    }

    fn step(&mut self, compiler: &mut Compiler, lanes: &mut Lanes, last: &[usize], index: usize, step: Step) {
        // Results are written by a step's last instruction, so that they can go where an operand was.
        let (all, count) = step.operation.all_operands();
        let operands = all.map(|it| (usize::from(it.0), lanes.homes[usize::from(it.0)]));
        let operands = &operands[..count];
        for (operand, _) in operands.iter().filter(|(operand, _)| last[*operand] == index) {
            self.give_up(lanes, *operand);
        }
        let register = self.free.pop();
        for &(operand, home) in operands {
            lanes.homes[operand] = home;
        }
        let to = register.unwrap_or(SCRATCH[0]);
        lanes.operation(compiler, step, to);
        for &(operand, _) in operands {
            if last[operand] == index && is_computed(lanes.body, Value(operand as u16)) {
                lanes.homes[operand] = None;
            }
        }
        lanes.homes[index] = Some(match register {
            Some(register) => At::Register(register),
            None => {
                let place = self.free_places.pop().unwrap_or_else(|| compiler.take(4));
                self.simd.store(&mut compiler.code, place, to);
                At::Place(place)
            }
        });
    }

    fn give_up(&mut self, lanes: &mut Lanes, index: usize) {
        if !is_computed(lanes.body, Value(index as u16)) {
            return;
        }
        match lanes.homes[index].take() {
            Some(At::Register(register)) => self.free.push(register),
            Some(At::Place(place)) => self.free_places.push(place),
            None => {}
        }
    }
}

/// Whether a value is neither the input nor an invariant.
fn is_computed(body: &Body, value: Value) -> bool {
    !matches!(body.step(value).operation, Operation::Input | Operation::Constant(_) | Operation::Register(_))
}

/// A word, repeated in 64 bits.
pub(super) const fn splat(width: Gauge, number: u64) -> [u64; 4] {
    [number.wrapping_mul(u64::MAX / width.most()); 4]
}

/// The vectorised pipes.
fn vectors(plan: &Plan) -> impl Iterator<Item = (usize, &Form)> {
    let of = |stage: &'_ Stage| match &stage.kind {
        Kind::Vectors(pipes) => pipes.clone(),
        Kind::Words(..) => Vec::new(),
    };
    plan.stages.iter().flat_map(of).filter_map(|at| Some((at, plan.forms[at].as_ref()?)))
}

/// A home: a register while there are any, else a place in the frame.
fn lasting_home(compiler: &mut Compiler) -> At {
    match compiler.spare.pop() {
        Some(register) => At::Register(register),
        None => At::Place(compiler.take(4)),
    }
}
