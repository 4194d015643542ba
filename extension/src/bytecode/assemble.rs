//! Assembles text to slots. A line has an instruction, `label:` or both; `#`, `;` and `//` begin comments. The target
//! of a jump is a label, or a number of slots from the next instruction (`+2`, `-7`).

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use super::Slot;
use super::instruction::*;
use super::names::*;

/// Assembles a program.
pub fn assemble(text: &str) -> Result<Vec<Slot>, Error> {
    let mut labels = BTreeMap::new();
    let mut lines = Vec::new();
    let mut slots = 0;
    for (at, line) in text.lines().enumerate() {
        let in_line = |what| in_line(at, what);
        let mut rest = without_comment(line).trim();
        while let Some((label, after)) = rest.split_once(':') {
            if labels.insert(label.trim(), slots).is_some() {
                return Err(in_line(format!("the label `{label}` stands twice")));
            }
            rest = after.trim();
        }
        if !rest.is_empty() {
            lines.push((at, slots, rest));
            slots += if rest.starts_with("lddw") { 2 } else { 1 };
        }
    }
    let mut out = Vec::new();
    for (at, slot, line) in lines {
        let line = Line { text: line, slot, labels: &labels };
        line.instruction().map_err(|what| in_line(at, what))?.encode(&mut out);
    }
    Ok(out)
}

fn in_line(at: usize, what: String) -> Error {
    Error { at: at + 1, what: format!("line {}: {what}", at + 1) }
}

fn without_comment(line: &str) -> &str {
    let end = ["#", ";", "//"].iter().filter_map(|mark| line.find(mark)).min();
    &line[..end.unwrap_or(line.len())]
}

struct Line<'a> {
    text: &'a str,
    slot: i64,
    labels: &'a BTreeMap<&'a str, i64>,
}

type Read<T> = Result<T, String>;

impl Line<'_> {
    fn instruction(&self) -> Read<Instruction> {
        let (name, operands) = self.text.split_once(char::is_whitespace).unwrap_or((self.text, ""));
        match name {
            "lock" => {
                let (name, operands) = operands.trim().split_once(char::is_whitespace).ok_or("lock what?")?;
                self.atomic(name, operands)
            }
            "call" => match operands.trim().strip_prefix("local") {
                Some(target) => Ok(Instruction::CallLocal { offset: self.offset(target)? }),
                None => Ok(Instruction::CallHelper { number: immediate(operands)? as u32 }),
            },
            "callx" => Ok(Instruction::CallRegister { target: register(operands)? }),
            "exit" => {
                let [] = split(operands)?;
                Ok(Instruction::Exit)
            }
            "lddw" => {
                let [destination, constant] = split(operands)?;
                Ok(Instruction::Constant {
                    destination: register(destination)?,
                    constant: self.constant(constant)?,
                })
            }
            _ => self.exact(name, operands).unwrap_or_else(|| self.wide_or_narrow(name, operands)),
        }
    }

    /// Instructions with a fixed name.
    fn exact(&self, name: &str, operands: &str) -> Option<Read<Instruction>> {
        let swap = name.strip_prefix("swap").map(|bits| format!("bswap{bits}"));
        if let Some((order, size)) = named(&SWAPS, swap.as_deref().unwrap_or(name)) {
            return Some(register(operands).map(|destination| Instruction::Swap {
                order,
                size,
                destination,
            }));
        }
        if let Some((width, from)) = named(&EXTENSIONS, name) {
            return Some(split(operands).and_then(|[destination, source]| {
                let (destination, source) = (register(destination)?, register(source)?);
                Ok(Instruction::Extend { width, from, destination, source })
            }));
        }
        if let Some((sign, size)) = named(&LOADS, name) {
            return Some(split(operands).and_then(|[destination, address]| {
                let (destination, (base, offset)) = (register(destination)?, address_in(address)?);
                Ok(Instruction::Load { sign, size, destination, base, offset })
            }));
        }
        let is_of_register = name.starts_with("stx");
        let size = if is_of_register {
            named(&STORES, name)
        } else {
            named(&STORES, &name.replacen("st", "stx", 1))
        };
        size.map(|size| {
            let [address, source] = split(operands)?;
            let (base, offset) = address_in(address)?;
            let source = if is_of_register {
                Operand::Register(register(source)?)
            } else {
                Operand::Immediate(immediate(source)?)
            };
            Ok(Instruction::Store { size, base, offset, source })
        })
    }

    /// Arithmetic: on 64 bits, and with `32` at the end of the name on 32.
    fn wide_or_narrow(&self, full_name: &str, operands: &str) -> Read<Instruction> {
        let (name, width) = width_of(full_name);
        if name == "ja" {
            return Ok(Instruction::Jump { width, offset: self.jump(operands, width)? });
        }
        if name == "neg" {
            return Ok(Instruction::Negate { width, destination: register(operands)? });
        }
        if let Some(operation) = named(&ALU, name) {
            let [destination, source] = split(operands)?;
            let (destination, source) = (register(destination)?, operand(source)?);
            return Ok(Instruction::Alu { width, operation, destination, source });
        }
        if let Some(condition) = named(&CONDITIONS, name) {
            let [left, right, target] = split(operands)?;
            let offset = self.jump(target, Width::W64)? as i16;
            return Ok(Instruction::JumpIf {
                width,
                condition,
                left: register(left)?,
                right: operand(right)?,
                offset,
            });
        }
        Err(format!("there is no instruction `{full_name}`"))
    }

    fn atomic(&self, full_name: &str, operands: &str) -> Read<Instruction> {
        let (name, width) = width_of(full_name);
        let operation =
            named(&ATOMICS, name).ok_or_else(|| format!("there is no instruction `lock {full_name}`"))?;
        let [address, source] = split(operands)?;
        let (base, offset) = address_in(address)?;
        Ok(Instruction::Atomic { width, operation, base, offset, source: register(source)? })
    }

    fn constant(&self, text: &str) -> Read<Constant> {
        if let Some(rest) = text.strip_prefix("map_val(map_by_fd(") {
            return value(rest).map(|(map, offset)| Constant::ValueByFd { map, offset });
        }
        if let Some(rest) = text.strip_prefix("map_val(map_by_idx(") {
            return value(rest).map(|(map, offset)| Constant::ValueByIndex { map, offset });
        }
        let Some((kind, argument)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
            return number(text).map(|number| Constant::Number(number as u64));
        };
        match kind {
            "map_by_fd" => Ok(Constant::MapByFd(immediate(argument)?)),
            "map_by_idx" => Ok(Constant::MapByIndex(immediate(argument)?)),
            "var_addr" => Ok(Constant::Variable(immediate(argument)?)),
            "code_addr" => Ok(Constant::Code(self.offset(argument)?)),
            _ => Err(format!("there is no constant of kind `{kind}`")),
        }
    }

    fn jump(&self, target: &str, width: Width) -> Read<i32> {
        let offset = self.offset(target)?;
        if width == Width::W64 && i16::try_from(offset).is_err() {
            return Err(format!("it jumps {offset} slots, and this instruction can only 32768; use ja32"));
        }
        Ok(offset)
    }

    fn offset(&self, target: &str) -> Read<i32> {
        let target = target.trim();
        if target.starts_with(['+', '-']) {
            return immediate(target);
        }
        let to = self.labels.get(target).ok_or_else(|| format!("there is no label `{target}`"))?;
        i32::try_from(to - self.slot - 1).map_err(|_| "it jumps too far".into())
    }
}

fn width_of(name: &str) -> (&str, Width) {
    name.strip_suffix("32").map_or((name, Width::W64), |name| (name, Width::W32))
}

fn split<const N: usize>(operands: &str) -> Read<[&str; N]> {
    let all: Vec<&str> = operands.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    let count = all.len();
    all.try_into().map_err(|_| format!("it has {count} operands instead of {N}"))
}

fn register(text: &str) -> Read<Register> {
    let number = text.trim().trim_start_matches('%').strip_prefix('r').and_then(|number| number.parse().ok());
    number
        .and_then(Register::new)
        .ok_or_else(|| format!("`{}` is no register: they are %r0 to %r10", text.trim()))
}

fn operand(text: &str) -> Read<Operand> {
    if text.trim_start_matches('%').starts_with('r') {
        register(text).map(Operand::Register)
    } else {
        immediate(text).map(Operand::Immediate)
    }
}

/// `[%r1+8]`.
fn address_in(text: &str) -> Read<(Register, i16)> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("`{text}` is no address: they are like [%r1+8]"))?;
    let Some(sign) = inner.find(['+', '-']) else { return Ok((register(inner)?, 0)) };
    let offset =
        i16::try_from(number(&inner[sign..])?).map_err(|_| format!("`{text}`: its offset has 16 bits"))?;
    Ok((register(&inner[..sign])?, offset))
}

/// `3))+8`.
fn value(text: &str) -> Read<(i32, i32)> {
    let (map, offset) = text.split_once("))").ok_or("it lacks `))`")?;
    Ok((immediate(map)?, if offset.is_empty() { 0 } else { immediate(offset)? }))
}

/// A number of 32 bits, signed or unsigned.
fn immediate(text: &str) -> Read<i32> {
    let number = number(text)?;
    let fits = (i32::MIN.into()..=u32::MAX.into()).contains(&number);
    if fits {
        Ok(number as i32)
    } else {
        Err(format!("`{}` has more than 32 bits; lddw takes 64", text.trim()))
    }
}

fn number(text: &str) -> Read<i128> {
    let text = text.trim();
    let digits = text.trim_start_matches(['+', '-']);
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let magnitude = i128::from(magnitude.map_err(|_| format!("`{text}` is no number"))?);
    Ok(if text.starts_with('-') { -magnitude } else { magnitude })
}
