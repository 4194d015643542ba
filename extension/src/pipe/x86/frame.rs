//! The compiler's state, and the register assignment that all code shares.
//!
//! Code is called with the address of the cells in RDI, of the source in RSI, of the destination in RDX, the number of
//! units or bytes in RCX, and the addresses of constants and frame in R8 and R9. All stay there but the count, which
//! moves to R10. RAX, RCX and RBP are scratch within a step; R11 is the index of a loop over words. RBX and R12 to R15
//! hold values of steps, or registers of pipes.

use alloc::vec::Vec;

use super::plan::{Kind, Plan};
use super::simd::Vector;
use crate::bytecode::Width;
use crate::engine::jit::x86::*;
use crate::pipe::code::{Adler, Code as Compiled};
use crate::pipe::evaluate::Homes;
use crate::pipe::{Gauge, Pipe, Pipes};

pub(super) const CELLS: Reg = RDI;
pub(super) const SOURCE: Reg = RSI;
pub(super) const DESTINATION: Reg = RDX;
pub(super) const CONSTANTS: Reg = R8;
pub(super) const FRAME: Reg = R9;
pub(super) const COUNT: Reg = R10;
pub(super) const INDEX: Reg = R11;
/// Registers that a function preserves for its caller.
const KEPT: [Reg; 6] = [RBX, RBP, R12, R13, R14, R15];
/// Registers that pipes' registers are pinned to. Those that aren't pinned hold values.
const PINS: [Reg; 3] = [R15, R14, R13];

pub(super) struct Compiler<'a> {
    pub code: Code,
    pub pipes: &'a [Pipe],
    pub homes: &'a [Homes],
    pub plan: &'a Plan,
    pub constants: Vec<u64>,
    pub adlers: Vec<Adler>,
    /// 64-bit words of the frame that are in use, and the most that ever were.
    pub taken: usize,
    pub most: usize,
    /// Cells that are pinned to registers, with their widths.
    pub pins: Vec<(usize, Reg, Gauge)>,
    /// Constants, by number, that stay in vector registers; and the registers that are left for more.
    pub hoisted: Vec<(usize, Vector)>,
    pub spare: Vec<Vector>,
}

impl<'a> Compiler<'a> {
    pub fn new(list: &'a Pipes, homes: &'a [Homes], plan: &'a Plan) -> Compiler<'a> {
        Compiler {
            code: Code { bytes: Vec::with_capacity(1024) },
            pipes: &list.pipes,
            homes,
            plan,
            constants: Vec::new(),
            adlers: Vec::new(),
            taken: 0,
            most: 0,
            pins: Vec::new(),
            hoisted: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub fn compile(mut self, narrow: Option<&'a Plan>) -> Compiled {
        let plan = self.plan;
        let units = self.units();
        let narrow = narrow.map(|narrow| {
            self.code.align();
            self.plan = narrow;
            self.units()
        });
        self.code.align();
        let rest = self.code.here();
        self.rest();
        Compiled {
            bytes: self.code.bytes,
            units,
            narrow,
            rest,
            unit: plan.unit,
            most: if self.adlers.is_empty() { 1 << 24 } else { 1 << 13 },
            constants: self.constants,
            frame: self.most,
            is_strided: plan.source.is_some() || plan.destination.is_some(),
            adlers: self.adlers,
        }
    }

    /// Takes words of the frame.
    pub fn take(&mut self, words: usize) -> Place {
        let place = Place::new(FRAME, 8 * self.taken as i32);
        self.taken += words;
        self.most = self.most.max(self.taken);
        place
    }

    pub fn enter(&mut self) {
        for register in KEPT {
            self.code.push(register);
        }
    }

    pub fn leave(&mut self) {
        for register in KEPT.into_iter().rev() {
            self.code.pop(register);
        }
    }

    /// Pins the cells of all stages of words, while there are registers.
    pub fn pin_all(&mut self) {
        let plan = self.plan;
        for stage in &plan.stages {
            if let Kind::Words(at, ..) = stage.kind {
                self.pin(at);
            }
        }
    }

    /// Pins a pipe's cells, while there are registers.
    pub fn pin(&mut self, at: usize) {
        for (index, it) in self.pipes[at].body.registers.iter().enumerate() {
            let Some(&register) = PINS.get(self.pins.len()) else { return };
            self.pins.push((self.homes[at].registers + index, register, it.width));
        }
    }

    /// Loads pinned cells.
    pub fn load_pins(&mut self) {
        for (cell, register, width) in self.pins.clone() {
            self.load_word(width, register, cell_at(cell));
        }
    }

    /// Stores pinned cells, which aren't pinned any more.
    pub fn unpin(&mut self) {
        for (cell, register, _) in core::mem::take(&mut self.pins) {
            self.code.store(cell_at(cell), register);
        }
    }

    /// Loads a word, extended with zeros.
    pub fn load_word(&mut self, width: Gauge, to: Reg, place: Place) {
        let code = &mut self.code;
        match width {
            Gauge::Bits8 => code.memory(Width::W32, &[0x0f, 0xb6], to, place),
            Gauge::Bits16 => code.memory(Width::W32, &[0x0f, 0xb7], to, place),
            Gauge::Bits32 => code.memory(Width::W32, &[0x8b], to, place),
            Gauge::Bits64 => code.load(to, place),
        }
    }

    /// Stores a word.
    pub fn store_word(&mut self, width: Gauge, place: Place, from: Reg) {
        let code = &mut self.code;
        match width {
            Gauge::Bits8 => code.memory(Width::W32, &[0x88], from, place),
            Gauge::Bits16 => {
                code.put(&[0x66]);
                code.memory(Width::W32, &[0x89], from, place);
            }
            Gauge::Bits32 => code.memory(Width::W32, &[0x89], from, place),
            Gauge::Bits64 => code.store(place, from),
        }
    }
}

/// The place of a cell.
pub(super) fn cell_at(cell: usize) -> Place {
    Place::new(CELLS, 8 * cell as i32)
}

/// The width of instructions on values.
pub(super) fn width(gauge: Gauge) -> Width {
    if gauge == Gauge::Bits64 { Width::W64 } else { Width::W32 }
}

/// The place of a vector of constants.
pub(super) fn constant_at(at: usize) -> Place {
    Place::new(CONSTANTS, 32 * at as i32)
}
