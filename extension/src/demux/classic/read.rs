//! Validates programs of classic BPF: makes steps of their instructions, which need no more checks.

use alloc::{vec, vec::Vec};

use super::program::*;
use crate::demux::test::Size;

impl Program {
    /// Reads a program.
    pub fn new(instructions: &[Instruction]) -> Result<Program, Refusal> {
        program(instructions).map(|steps| Program { steps })
    }
}

/// Checks each instruction by itself, and then the control flow.
fn program(instructions: &[Instruction]) -> Result<Vec<Step>, Refusal> {
    let count = instructions.len();
    if count > Program::LONGEST {
        return Err(Refusal { at: Program::LONGEST, why: "the program is too long" });
    }
    let read = |(at, it): (usize, &Instruction)| step(*it).map_err(|why| Refusal { at, why });
    let steps: Vec<Step> = instructions.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    for (at, step) in steps.iter().enumerate() {
        let farthest = match step {
            Step::Return(_) => continue,
            Step::Jump(distance) => *distance,
            Step::JumpIf { then, otherwise, .. } => *then.max(otherwise),
            _ => 0,
        };
        if farthest >= count - at - 1 {
            return Err(Refusal { at, why: "it leads beyond the end" });
        }
    }
    if count == 0 {
        return Err(Refusal { at: 0, why: "it leads beyond the end" });
    }
    scratch_is_written_first(&steps)?;
    Ok(steps)
}

fn step(Instruction { code, jt, jf, k }: Instruction) -> Result<Step, &'static str> {
    let (low, high) = (code & 0x07, code & 0xf0);
    let operand = if code & 8 == 0 { Operand::Number(k) } else { Operand::X };
    Ok(match (code, low) {
        (0x00, _) => Step::Load(Register::A, Source::Number(k)),
        (0x20 | 0x28 | 0x30, _) => Step::Load(Register::A, Source::At { offset: near(k)?, size: size(code) }),
        (0x40 | 0x48 | 0x50, _) => {
            Step::Load(Register::A, Source::Beyond { offset: near(k)?, size: size(code) })
        }
        (0x60, _) => Step::Load(Register::A, Source::Scratch(scratch(k)?)),
        (0x80, _) => Step::Load(Register::A, Source::Length),
        (0x01, _) => Step::Load(Register::X, Source::Number(k)),
        (0x61, _) => Step::Load(Register::X, Source::Scratch(scratch(k)?)),
        (0x81, _) => Step::Load(Register::X, Source::Length),
        (0xb1, _) => Step::Load(Register::X, Source::HeaderLength(near(k)?)),
        (0x02, _) => Step::Store(Register::A, scratch(k)?),
        (0x03, _) => Step::Store(Register::X, scratch(k)?),
        (0x84, _) => Step::Negate,
        (..=0xff, 4) => Step::Compute(operation(high, operand)?, operand),
        (0x05, _) => Step::Jump(usize::try_from(k).map_err(|_| "it leads beyond the end")?),
        (..=0xff, 5) => {
            let comparison = comparison(high)?;
            Step::JumpIf { comparison, operand, then: jt.into(), otherwise: jf.into() }
        }
        (0x06, _) => Step::Return(Some(k)),
        (0x16, _) => Step::Return(None),
        (0x07, _) => Step::Move(Register::X),
        (0x87, _) => Step::Move(Register::A),
        _ => return Err(UNKNOWN),
    })
}

const UNKNOWN: &str = "there is no such instruction";

fn size(code: u16) -> Size {
    match code & 0x18 {
        0 => Size::Word,
        8 => Size::Half,
        _ => Size::Byte,
    }
}

/// To Linux negative offsets mean something else than the packet; to other systems nothing.
fn near(offset: u32) -> Result<u32, &'static str> {
    if i32::try_from(offset).is_ok() { Ok(offset) } else { Err("it loads what isn't in the packet") }
}

fn scratch(k: u32) -> Result<usize, &'static str> {
    let index = usize::try_from(k).ok().filter(|&index| index < SCRATCH);
    index.ok_or("there is no such scratch memory")
}

fn operation(high: u16, operand: Operand) -> Result<Operation, &'static str> {
    let operation = match high {
        0x00 => Operation::Add,
        0x10 => Operation::Sub,
        0x20 => Operation::Mul,
        0x30 => Operation::Div,
        0x40 => Operation::Or,
        0x50 => Operation::And,
        0x60 => Operation::ShiftLeft,
        0x70 => Operation::ShiftRight,
        0x90 => Operation::Mod,
        0xa0 => Operation::Xor,
        _ => return Err(UNKNOWN),
    };
    match (operation, operand) {
        (Operation::Div | Operation::Mod, Operand::Number(0)) => Err("it divides by zero"),
        (Operation::ShiftLeft | Operation::ShiftRight, Operand::Number(32..)) => {
            Err("it shifts by more bits than there are")
        }
        _ => Ok(operation),
    }
}

fn comparison(high: u16) -> Result<Comparison, &'static str> {
    match high {
        0x10 => Ok(Comparison::Equal),
        0x20 => Ok(Comparison::Above),
        0x30 => Ok(Comparison::AboveOrEqual),
        0x40 => Ok(Comparison::Common),
        _ => Err(UNKNOWN),
    }
}

/// Checks that on every path scratch memory is written before it is read.
fn scratch_is_written_first(steps: &[Step]) -> Result<(), Refusal> {
    // For each instruction, what is written on all paths to it; jumps lead forward only.
    let mut written = vec![u16::MAX; steps.len()];
    written[0] = 0;
    for (at, step) in steps.iter().enumerate() {
        let mut here = written[at];
        let mut lead_to = |distance: usize, here: u16| {
            if let Some(there) = written.get_mut(at + 1 + distance) {
                *there &= here;
            }
        };
        match *step {
            Step::Load(_, Source::Scratch(index)) if here & 1 << index == 0 => {
                return Err(Refusal { at, why: "it reads scratch memory that wasn't written" });
            }
            Step::Store(_, index) => here |= 1 << index,
            _ => {}
        }
        match *step {
            Step::Return(_) => {}
            Step::Jump(distance) => lead_to(distance, here),
            Step::JumpIf { then, otherwise, .. } => {
                lead_to(then, here);
                lead_to(otherwise, here);
            }
            _ => lead_to(0, here),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(instructions: &[(u16, u8, u8, u32)]) -> Option<&'static str> {
        let instruction = |&(code, jt, jf, k)| Instruction { code, jt, jf, k };
        let instructions: Vec<Instruction> = instructions.iter().map(instruction).collect();
        program(&instructions).err().map(|refusal| refusal.why)
    }

    #[test]
    fn what_could_go_wrong_is_refused() {
        const RETURN: (u16, u8, u8, u32) = (6, 0, 0, 1);
        let beyond = Some("it leads beyond the end");
        assert_eq!(why(&[RETURN]), None);
        assert_eq!(why(&[]), beyond);
        assert_eq!(why(&[(0, 0, 0, 1)]), beyond);
        assert_eq!(why(&[(5, 0, 0, 1), RETURN]), beyond);
        assert_eq!(why(&[(5, 0, 0, u32::MAX), RETURN]), beyond);
        assert_eq!(why(&[(0x15, 0, 1, 0), RETURN]), beyond);
        assert_eq!(why(&[(0x15, 0, 0, 0), RETURN]), None);
        assert_eq!(why(&[(0x34, 0, 0, 0), RETURN]), Some("it divides by zero"));
        assert_eq!(why(&[(0x64, 0, 0, 32), RETURN]), Some("it shifts by more bits than there are"));
        assert_eq!(why(&[(0x20, 0, 0, 0xffff_f000), RETURN]), Some("it loads what isn't in the packet"));
        assert_eq!(why(&[(0x02, 0, 0, 16), RETURN]), Some("there is no such scratch memory"));
        for code in [0x08, 0x38, 0x100, 0x106, 0xb0, 0xf4, 0x8c, 0x55, 0x0e, 0x17] {
            assert_eq!(why(&[(code, 0, 0, 0), RETURN]), Some(UNKNOWN), "{code:#x}");
        }
        assert_eq!(why(&[RETURN; 4097]), Some("the program is too long"));
    }

    #[test]
    fn scratch_memory_is_read_only_behind_where_it_is_written() {
        let unwritten = Some("it reads scratch memory that wasn't written");
        assert_eq!(why(&[(0x60, 0, 0, 3), (6, 0, 0, 1)]), unwritten);
        assert_eq!(why(&[(0x02, 0, 0, 3), (0x60, 0, 0, 3), (6, 0, 0, 1)]), None);
        assert_eq!(why(&[(0x15, 1, 0, 9), (0x02, 0, 0, 3), (0x61, 0, 0, 3), (6, 0, 0, 1)]), unwritten);
        let both =
            [(0x15, 2, 0, 9), (0x02, 0, 0, 3), (5, 0, 0, 1), (0x03, 0, 0, 3), (0x61, 0, 0, 3), (6, 0, 0, 1)];
        assert_eq!(why(&both), None);
    }
}
