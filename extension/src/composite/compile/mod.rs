//! Makes bytecode of a tree.
//!
//! Variables stay in the program's own memory, at constant distances from r9, so that the verifier proves every access.
//! A value is computed in r0; what has to wait for another one waits in r6 to r8, and in the stack when these are
//! taken. Texts are slots, of which the compiler adds some for those that have no variable. What fails does so in a
//! cold part at the end, which jumps back to where the command begins: a program that is resumed there does the command
//! again.

mod assembler;
mod commands;
mod conditions;
mod responder;
mod texts;
mod words;

use alloc::vec::Vec;

use drystone_component::Type;

use self::assembler::{Assembler, Label};
use self::responder::Responding;
pub use self::responder::{Responder, shared};
use super::check::Limits;
use super::fault::Fault;
use super::helpers;
use super::program::{Call, Code, Program, Refusal, Travels, Variable};
use super::table::{Layout, WORD};
use super::tree::Command;
use super::value::{Text, Value};
use crate::bytecode::{Alu, Condition, Constant, Instruction, Operand, Register, Size, Width};

impl Program {
    /// The same program as bytecode (the paper's `compile`). Its variables are the same, and some more behind them.
    pub fn compile(&self, limits: &Limits) -> Result<Program, Refusal> {
        self.check(limits)?;
        let Code::Tree(tree) = &self.code else { return Ok(self.clone()) };
        let mut compiler = Compiler::new(self)?;
        compiler.program(tree);
        let Compiler { assembler, variables, .. } = compiler;
        let code = Code::Bytecode(assembler.finish());
        let program = Program {
            communications: self.communications.clone(),
            variables,
            calls: self.calls.clone(),
            code,
        };
        program.check(limits)?;
        Ok(program)
    }
}

/// A register that never stands for anything but what its name says.
const fn r(number: u8) -> Register {
    match Register::new(number) {
        Some(register) => register,
        None => panic!("there are 11 registers"),
    }
}

const R0: Register = r(0);
const R1: Register = r(1);
const R2: Register = r(2);
const R3: Register = r(3);
/// Where the program's own memory begins.
const BASE: Register = r(9);

/// Values that wait in registers; others wait in the stack.
const WAITING_REGISTERS: usize = 3;
/// Where in the stack, from its end, several words for a helper stand: below all that wait.
const FOR_HELPERS: i16 = -512;

struct Compiler {
    assembler: Assembler,
    /// Those of the program, and more.
    variables: Vec<Variable>,
    layout: Layout,
    words: u32,
    texts: u32,
    /// Slots of texts that have no variable: the first so many are in use.
    temporaries: Vec<u32>,
    taken: usize,
    constants: Vec<(Text, u32)>,
    /// Where the command begins that is being compiled.
    again: Label,
    cold: Vec<Cold>,
    calls: Vec<Call>,
    /// How many words of the stack hold values that wait.
    waited: usize,
    /// What is being made isn't shipped: it answers datagrams.
    responding: Option<Responding>,
}

/// What is done when something fails.
struct Cold {
    label: Label,
    what: Failing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Failing {
    /// With a fault, or with the status in r0; the location, and where to go on if it is resumed.
    Fault(Option<Fault>, u32, Label),
    /// No failure yet: a product of large numbers. It may overflow; else it goes on behind, with both factors where
    /// they were.
    Multiply { overflow: Label, back: Label, waiting: usize },
}

impl Compiler {
    fn new(program: &Program) -> Result<Compiler, Refusal> {
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

    fn program(&mut self, tree: &Command) {
        self.copy(BASE, R1);
        self.command(tree);
        self.number(R0, 0);
        self.put(Instruction::Exit);
        self.put_cold();
    }

    fn put_cold(&mut self) {
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

    /// Where to go when something fails.
    fn cold(&mut self, what: Failing) -> Label {
        let known = self.cold.iter().rev().take(8).find(|cold| cold.what == what);
        if let Some(known) = known {
            return known.label;
        }
        let label = self.assembler.label();
        self.cold.push(Cold { label, what });
        label
    }

    /// Where to go when what is being compiled fails so.
    fn failing(&mut self, fault: Fault, location: u32) -> Label {
        self.cold(Failing::Fault(Some(fault), location, self.again))
    }

    /// Where to go when a helper gave a status that isn't 0.
    fn failing_as_r0_says(&mut self, location: u32) -> Label {
        self.cold(Failing::Fault(None, location, self.again))
    }

    fn fail(&mut self, fault: Option<Fault>, location: u32, again: Label) {
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

    /// What fails from now on does so that the program can be resumed here.
    fn begin(&mut self) {
        self.again = self.assembler.label();
        self.assembler.place(self.again);
    }

    fn put(&mut self, instruction: Instruction) {
        self.assembler.put(instruction);
    }

    fn helper(&mut self, number: u32) {
        if let Some(responding) = &mut self.responding {
            responding.refused = Some("REALs and TEXTs");
        }
        self.put(Instruction::CallHelper { number });
    }

    fn alu(&mut self, operation: Alu, destination: Register, source: impl Into<Operand>) {
        self.put(Instruction::Alu { width: Width::W64, operation, destination, source: source.into() });
    }

    fn alu32(&mut self, operation: Alu, destination: Register, source: i32) {
        self.put(Instruction::Alu {
            width: Width::W32,
            operation,
            destination,
            source: Operand::Immediate(source),
        });
    }

    fn copy(&mut self, to: Register, from: Register) {
        if to != from {
            self.alu(Alu::Mov, to, from);
        }
    }

    fn number(&mut self, to: Register, number: i64) {
        match i32::try_from(number) {
            Ok(number) => self.alu(Alu::Mov, to, number),
            Err(_) => {
                let constant = Constant::Number(number as u64);
                self.put(Instruction::Constant { destination: to, constant });
            }
        }
    }

    fn jump_if(&mut self, condition: Condition, left: Register, right: impl Into<Operand>, label: Label) {
        self.assembler.jump_if(condition, left, right.into(), label);
    }

    /// Where a word is: a register and the distance from it. Far ones take an instruction, and that register.
    fn place(&mut self, word: u32, far: Register) -> (Register, i16) {
        if self.responding.is_some() {
            return (Register::FRAME, self.variable_of_responder(word));
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

    fn load(&mut self, to: Register, word: u32) {
        let (base, offset) = self.place(word, to);
        self.load_from(to, base, offset);
    }

    fn store(&mut self, word: u32, from: Register) {
        let (base, offset) = self.place(word, r(5));
        self.store_at(base, offset, from);
    }

    fn load_from(&mut self, destination: Register, base: Register, offset: i16) {
        let (sign, size) = (crate::bytecode::Sign::Zero, Size::Double);
        self.put(Instruction::Load { sign, size, destination, base, offset });
    }

    fn store_at(&mut self, base: Register, offset: i16, source: Register) {
        self.put(Instruction::Store { size: Size::Double, base, offset, source: Operand::Register(source) });
    }

    /// Has a value wait, as the so manieth.
    fn wait(&mut self, number: usize, from: Register) {
        match number.checked_sub(WAITING_REGISTERS) {
            None => self.copy(r(6 + number as u8), from),
            Some(cell) => {
                self.waited = self.waited.max(cell + 1);
                self.store_at(Register::FRAME, -8 * (cell as i16 + 1), from);
            }
        }
    }

    /// Takes a value that waited.
    fn take(&mut self, to: Register, number: usize) {
        match number.checked_sub(WAITING_REGISTERS) {
            None => self.copy(to, r(6 + number as u8)),
            Some(cell) => self.load_from(to, Register::FRAME, -8 * (cell as i16 + 1)),
        }
    }

    fn ty(&self, variable: u32) -> Type {
        self.layout.variable(variable).ty
    }

    /// A variable that has no name: an INTEGER. Gives its word.
    fn new_word(&mut self) -> u32 {
        self.variables.push(Variable {
            ty: Type::Integer,
            length: None,
            travels: Travels::Not(Value::Integer(0)),
        });
        self.words += 1;
        self.words - 1
    }

    /// The same for a TEXT: gives its slot.
    fn new_text(&mut self, text: Text) -> u32 {
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
