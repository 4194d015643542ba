//! What the code of all nodes has in common: where variables and values are, and what is done on failure.
//!
//! Variables stay in the program's own memory, at constant distances from r9, so that the verifier proves every access.
//! A value is computed in r0. While another one is computed it waits in r6, r7 or r8, and when these are taken in the
//! stack. A TEXT is the number of a slot; the compiler adds slots for texts that have no variable. Code for failures
//! stands at the end. It jumps back to the beginning of the failed command, so that a program that is resumed runs
//! that command again.

use alloc::vec::Vec;

use drystone_component::Type;

use super::assembler::{Assembler, Label};
use super::responding::{Responding, own};
use crate::FRAME;
use crate::bytecode::{Alu, Condition, Constant, Instruction, Operand, Register, Sign, Size, Width};
use crate::composite::fault::Fault;
use crate::composite::helpers;
use crate::composite::program::{Call, Program, Refusal, Travels, Variable};
use crate::composite::table::{Layout, WORD};
use crate::composite::tree::Command;
use crate::composite::value::{Text, Value};

/// The register with a number.
pub(super) const fn r(number: u8) -> Register {
    match Register::new(number) {
        Some(register) => register,
        None => panic!("there are 11 registers"),
    }
}

pub(super) const R0: Register = r(0);
pub(super) const R1: Register = r(1);
pub(super) const R2: Register = r(2);
pub(super) const R3: Register = r(3);
/// The beginning of the program's own memory.
pub(super) const BASE: Register = r(9);

/// How many values can wait in registers; more wait in the stack.
const WAITING_REGISTERS: usize = 3;
/// The offset from r10 of words that are passed to a helper: below all that wait.
pub(super) const FOR_HELPERS: i16 = -(FRAME as i16);

pub(super) struct Compiler {
    pub assembler: Assembler,
    /// Those of the program, and those that the compiler adds.
    pub variables: Vec<Variable>,
    pub layout: Layout,
    pub words: u32,
    pub texts: u32,
    /// Slots of temporary texts. The first `taken` are in use.
    pub temporaries: Vec<u32>,
    pub taken: usize,
    pub constants: Vec<(Text, u32)>,
    /// The beginning of the command that is being compiled.
    pub again: Label,
    cold: Vec<Cold>,
    pub calls: Vec<Call>,
    /// How many words of the stack hold values that wait.
    pub waited: usize,
    /// Of a responder.
    pub responding: Option<Responding>,
}

/// Code for a failure, at the end.
struct Cold {
    label: Label,
    what: Failing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Failing {
    /// Stops with this fault (`None`: with the status in r0), at this location. A resumed program continues at the
    /// label.
    Fault(Option<Fault>, u32, Label),
    /// A product of large numbers, which may overflow. If it doesn't, goes back with both factors where they were.
    Multiply { overflow: Label, back: Label, waiting: usize },
}

impl Compiler {
    pub fn new(program: &Program) -> Result<Compiler, Refusal> {
        let layout = Layout::of(program).ok_or("the program's variables take more memory than there is")?;
        let mut assembler = Assembler::default();
        let again = assembler.label();
        Ok(Compiler {
            assembler,
            variables: program.variables.clone(),
            words: layout.words(),
            texts: layout.texts(),
            layout,
            temporaries: Vec::new(),
            taken: 0,
            constants: Vec::new(),
            again,
            cold: Vec::new(),
            calls: program.calls.clone(),
            waited: 0,
            responding: None,
        })
    }

    pub fn program(&mut self, tree: &Command) {
        self.copy(BASE, R1);
        self.command(tree);
        self.number(R0, 0);
        self.put(Instruction::Exit);
        self.put_cold();
    }

    pub fn put_cold(&mut self) {
        let mut done = 0;
        while let Some(&Cold { label, what }) = self.cold.get(done) {
            self.assembler.place(label);
            match what {
                Failing::Fault(fault, location, again) => self.fail(fault, location, again),
                Failing::Multiply { overflow, back, waiting } => {
                    self.multiply_slowly(overflow, back, waiting)
                }
            }
            done += 1;
        }
    }

    /// The label of the code for a failure.
    pub fn cold(&mut self, what: Failing) -> Label {
        let known = self.cold.iter().rev().take(8).find(|cold| cold.what == what);
        if let Some(known) = known {
            return known.label;
        }
        let label = self.assembler.label();
        self.cold.push(Cold { label, what });
        label
    }

    /// The label for a fault of the command that is being compiled.
    pub fn failing(&mut self, fault: Fault, location: u32) -> Label {
        self.cold(Failing::Fault(Some(fault), location, self.again))
    }

    /// The label for a status that isn't 0, in r0.
    pub fn failing_as_r0_says(&mut self, location: u32) -> Label {
        self.cold(Failing::Fault(None, location, self.again))
    }

    pub fn fail(&mut self, fault: Option<Fault>, location: u32, again: Label) {
        if let Some(responding) = &self.responding {
            let leave = responding.leave;
            return self.assembler.jump(leave);
        }
        match fault {
            Some(fault) => self.number(R1, fault as i64 + 1),
            None => self.copy(R1, R0),
        }
        self.alu32(Alu::Mov, R2, location as i32);
        self.helper(helpers::FAIL);
        self.assembler.jump(again);
    }

    /// Begins a command: a program that is resumed after a failure continues here.
    pub fn begin(&mut self) {
        self.again = self.assembler.label();
        self.assembler.place(self.again);
    }

    pub fn put(&mut self, instruction: Instruction) {
        self.assembler.put(instruction);
    }

    pub fn helper(&mut self, number: u32) {
        if let Some(responding) = &mut self.responding {
            responding.refused = Some("REALs and TEXTs");
        }
        self.put(Instruction::CallHelper { number });
    }

    pub fn alu(&mut self, operation: Alu, destination: Register, source: impl Into<Operand>) {
        self.put(Instruction::Alu { width: Width::W64, operation, destination, source: source.into() });
    }

    pub fn alu32(&mut self, operation: Alu, destination: Register, source: i32) {
        self.put(Instruction::Alu {
            width: Width::W32,
            operation,
            destination,
            source: Operand::Immediate(source),
        });
    }

    pub fn copy(&mut self, to: Register, from: Register) {
        if to != from {
            self.alu(Alu::Mov, to, from);
        }
    }

    pub fn number(&mut self, to: Register, number: i64) {
        match i32::try_from(number) {
            Ok(number) => self.alu(Alu::Mov, to, number),
            Err(_) => {
                let constant = Constant::Number(number as u64);
                self.put(Instruction::Constant { destination: to, constant });
            }
        }
    }

    pub fn jump_if(&mut self, condition: Condition, left: Register, right: impl Into<Operand>, label: Label) {
        self.assembler.jump_if(condition, left, right.into(), label);
    }

    /// Where a word of a variable is: a register and the distance from it. For a distant one, computes its address in
    /// `far`.
    pub fn place(&mut self, word: u32, far: Register) -> (Register, i16) {
        if let Some(responding) = &self.responding {
            return (Register::FRAME, own::at(responding.variables + word));
        }
        let distance = word as usize * WORD;
        match i16::try_from(distance) {
            Ok(offset) => (BASE, offset),
            Err(_) => {
                self.copy(far, BASE);
                self.alu(Alu::Add, far, distance as i32);
                (far, 0)
            }
        }
    }

    pub fn load(&mut self, to: Register, word: u32) {
        let (base, offset) = self.place(word, to);
        self.load_from(to, base, offset);
    }

    pub fn store(&mut self, word: u32, from: Register) {
        let (base, offset) = self.place(word, r(5));
        self.store_at(base, offset, from);
    }

    pub fn load_from(&mut self, destination: Register, base: Register, offset: i16) {
        let (sign, size) = (Sign::Zero, Size::Double);
        self.put(Instruction::Load { sign, size, destination, base, offset });
    }

    pub fn store_at(&mut self, base: Register, offset: i16, source: Register) {
        self.put(Instruction::Store { size: Size::Double, base, offset, source: Operand::Register(source) });
    }

    /// Stores a value as the waiting value with this number.
    pub fn wait(&mut self, number: usize, from: Register) {
        match number.checked_sub(WAITING_REGISTERS) {
            None => self.copy(r(6 + number as u8), from),
            Some(cell) => {
                self.waited = self.waited.max(cell + 1);
                self.store_at(Register::FRAME, -8 * (cell as i16 + 1), from);
            }
        }
    }

    /// Loads a waiting value.
    pub fn take(&mut self, to: Register, number: usize) {
        match number.checked_sub(WAITING_REGISTERS) {
            None => self.copy(to, r(6 + number as u8)),
            Some(cell) => self.load_from(to, Register::FRAME, -8 * (cell as i16 + 1)),
        }
    }

    pub fn ty(&self, variable: u32) -> Type {
        self.layout.variable(variable).ty
    }

    /// Adds an INTEGER variable. Returns its word.
    pub fn new_word(&mut self) -> u32 {
        self.variables.push(Variable {
            ty: Type::Integer,
            length: None,
            travels: Travels::Not(Value::Integer(0)),
        });
        self.words += 1;
        self.words - 1
    }

    /// Adds a TEXT variable. Returns its slot.
    pub fn new_text(&mut self, text: Text) -> u32 {
        self.variables.push(Variable {
            ty: Type::Text,
            length: None,
            travels: Travels::Not(Value::Text(text)),
        });
        self.texts += 1;
        self.texts - 1
    }
}

impl From<Register> for Operand {
    fn from(register: Register) -> Operand {
        Operand::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(number: i32) -> Operand {
        Operand::Immediate(number)
    }
}
