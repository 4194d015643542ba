//! Interprets a program of classic BPF.

use super::program::*;

impl Program {
    /// The number that it returns for a packet; 0 if it loads beyond the packet's end, or divides by zero.
    pub fn run(&self, packet: &[u8]) -> u32 {
        self.finish(packet).unwrap_or(0)
    }

    fn finish(&self, packet: &[u8]) -> Option<u32> {
        let (mut a, mut x, mut scratch) = (0, 0, [0; SCRATCH]);
        let mut at = 0;
        loop {
            let step = *self.steps.get(at)?;
            at += 1;
            match step {
                Step::Load(register, source) => {
                    let value = match source {
                        Source::Number(number) => number,
                        Source::Length => packet.len() as u32,
                        Source::Scratch(index) => scratch[index],
                        Source::At { offset, size } => number(packet, offset.into(), size.bytes())?,
                        Source::Beyond { offset, size } => {
                            number(packet, u64::from(offset) + u64::from(x), size.bytes())?
                        }
                        Source::HeaderLength(offset) => (number(packet, offset.into(), 1)? & 15) * 4,
                    };
                    match register {
                        Register::A => a = value,
                        Register::X => x = value,
                    }
                }
                Step::Store(Register::A, index) => scratch[index] = a,
                Step::Store(Register::X, index) => scratch[index] = x,
                Step::Compute(operation, operand) => a = operation.of(a, value(operand, x))?,
                Step::Negate => a = a.wrapping_neg(),
                Step::Jump(distance) => at += distance,
                Step::JumpIf { comparison, operand, then, otherwise } => {
                    at += if comparison.holds(a, value(operand, x)) { then } else { otherwise };
                }
                Step::Return(number) => return Some(number.unwrap_or(a)),
                Step::Move(Register::X) => x = a,
                Step::Move(Register::A) => a = x,
            }
        }
    }
}

fn value(operand: Operand, x: u32) -> u32 {
    match operand {
        Operand::Number(number) => number,
        Operand::X => x,
    }
}

fn number(packet: &[u8], offset: u64, bytes: u32) -> Option<u32> {
    let offset = usize::try_from(offset).ok()?;
    let bytes = packet.get(offset..offset.checked_add(bytes as usize)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}
