//! Disassembles instructions to text, which [`assemble`](super::assemble()) reads.

use alloc::{collections::BTreeSet, format, string::String};
use core::fmt::{self, Display};

use super::Program;
use super::instruction::*;
use super::names::*;

/// A program as text, with labels where it jumps to.
pub fn disassemble(program: &Program) -> String {
    let targets: BTreeSet<i64> = program.instructions().filter_map(|(at, it)| it.target(at)).collect();
    let mut text = String::new();
    for (at, instruction) in program.instructions() {
        if targets.contains(&(at as i64)) {
            text += &format!("at{at}:\n");
        }
        let target = instruction.target(at).map(|target| format!("at{target}")).unwrap_or_default();
        text += &format!("    {}\n", Text { instruction, target });
    }
    text
}

/// Without labels: jumps give the number of slots from the next instruction.
impl Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let target = self.target(0).map(|target| format!("{:+}", target - 1)).unwrap_or_default();
        Text { instruction: *self, target }.fmt(f)
    }
}

struct Text {
    instruction: Instruction,
    target: String,
}

impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let target = &self.target;
        match self.instruction {
            Instruction::Alu { width, operation, destination, source } => {
                write!(f, "{}{} {destination}, {source}", name_of(&ALU, operation), suffix(width))
            }
            Instruction::Negate { width, destination } => write!(f, "neg{} {destination}", suffix(width)),
            Instruction::Extend { width, from, destination, source } => {
                write!(f, "{} {destination}, {source}", name_of(&EXTENSIONS, (width, from)))
            }
            Instruction::Swap { order, size, destination } => {
                write!(f, "{} {destination}", name_of(&SWAPS, (order, size)))
            }
            Instruction::Constant { destination, constant } => {
                write!(f, "lddw {destination}, ")?;
                match constant {
                    Constant::Number(number) => write!(f, "{number:#x}"),
                    Constant::MapByFd(map) => write!(f, "map_by_fd({map})"),
                    Constant::ValueByFd { map, offset } => write!(f, "map_val(map_by_fd({map})){offset:+}"),
                    Constant::Variable(number) => write!(f, "var_addr({number})"),
                    Constant::Code(_) => write!(f, "code_addr({target})"),
                    Constant::MapByIndex(map) => write!(f, "map_by_idx({map})"),
                    Constant::ValueByIndex { map, offset } => {
                        write!(f, "map_val(map_by_idx({map})){offset:+}")
                    }
                }
            }
            Instruction::Load { sign, size, destination, base, offset } => {
                write!(f, "{} {destination}, [{base}{offset:+}]", name_of(&LOADS, (sign, size)))
            }
            Instruction::Store { size, base, offset, source } => {
                let name = match source {
                    Operand::Register(_) => name_of(&STORES, size),
                    Operand::Immediate(_) => &name_of(&STORES, size).replace("stx", "st"),
                };
                write!(f, "{name} [{base}{offset:+}], {source}")
            }
            Instruction::Atomic { width, operation, base, offset, source } => {
                let name = name_of(&ATOMICS, operation);
                write!(f, "lock {name}{} [{base}{offset:+}], {source}", suffix(width))
            }
            Instruction::Jump { width, .. } => write!(f, "ja{} {target}", suffix(width)),
            Instruction::JumpIf { width, condition, left, right, .. } => {
                write!(f, "{}{} {left}, {right}, {target}", name_of(&CONDITIONS, condition), suffix(width))
            }
            Instruction::CallHelper { number } => write!(f, "call {number}"),
            Instruction::CallLocal { .. } => write!(f, "call local {target}"),
            Instruction::CallRegister { target } => write!(f, "callx {target}"),
            Instruction::Exit => f.write_str("exit"),
        }
    }
}

fn suffix(width: Width) -> &'static str {
    match width {
        Width::W32 => "32",
        Width::W64 => "",
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Operand::Register(register) => register.fmt(f),
            Operand::Immediate(number) => number.fmt(f),
        }
    }
}
