//! A second, plain implementation of programs, which checks everything.

use std::{collections::BTreeMap, vec, vec::Vec};

use super::arithmetic::{compute, extend, holds};
use super::{CONTEXT, OWN_BYTES, PACKET, PATIENCE, VALUE};
use crate::bytecode::{Alu, Atomic, Constant, Instruction, Operand, Order, Register, Sign, Size, Width};
use crate::verifier::contract::{OWN, Region};
use crate::{DEPTH, FRAME, Guard, Verified};

/// Where own memory begins; the stack lies below.
const OWN_BASE: u64 = 1 << 30;
/// Addresses of code are this and a slot.
pub const CODE: u64 = 1 << 62;

/// Memory with bytes that may never have been written.
pub struct Stretch {
    pub base: u64,
    pub region: Option<Region>,
    pub bytes: Vec<Option<u8>>,
}

/// What may happen instead of an end.
#[derive(Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The budget is spent, or calls are too deep where they are counted.
    Guard,
    /// It ran for longer than the test wants to wait.
    Late,
    /// It did what no accepted program may.
    Fault(std::string::String),
}

/// A run of a program.
pub struct Machine<'a> {
    verified: &'a Verified,
    pub registers: [Option<u64>; Register::COUNT],
    /// Frames (the outermost one's first), then regions.
    pub memory: Vec<Stretch>,
    /// What callers get back, and where they go on.
    callers: Vec<([Option<u64>; 4], usize)>,
    pub at: usize,
    budget: u32,
    /// Instructions that were done since something was taken from the budget.
    unasked: usize,
    random: u64,
    moves: u64,
    layout: u64,
    /// Everything that the host is told.
    pub told: Vec<u64>,
}

type Step<T> = Result<T, Stopped>;

fn fault<T>(what: std::string::String) -> Step<T> {
    Err(Stopped::Fault(what))
}

impl<'a> Machine<'a> {
    /// A packet of so many bytes; layouts differ in where memory of the host lies.
    pub fn new(verified: &'a Verified, packet: usize, seed: u64, layout: u64) -> Machine<'a> {
        let filled =
            |bytes: usize, first: u64| (0..bytes as u64).map(|it| Some((it ^ first) as u8)).collect();
        let stretch = |base, region, bytes| Stretch { base, region: Some(region), bytes };
        let own = filled(OWN_BYTES as usize + 8, seed >> 8);
        let mut memory: Vec<Stretch> = (0..DEPTH as u64)
            .map(|depth| Stretch {
                base: OWN_BASE - ((DEPTH as u64 - depth) * FRAME as u64),
                region: None,
                bytes: vec![None; FRAME],
            })
            .collect();
        memory.push(stretch(0x5555_0000_1000 + layout * 0x11238, CONTEXT, filled(32, seed)));
        memory.push(stretch(0x7fff_0000_2002 + layout * 0x13359, PACKET, filled(packet, seed >> 16)));
        memory.push(stretch(0x6000_0000_3000 + layout * 0x20010, VALUE, filled(16, seed >> 24)));
        memory.push(stretch(0x6000_0000_8000 + layout * 0x10010, VALUE, filled(16, seed >> 32)));
        memory.push(stretch(OWN_BASE, OWN, own));
        let mut machine = Machine {
            verified,
            registers: [None; Register::COUNT],
            memory,
            callers: Vec::new(),
            at: 0,
            budget: 40,
            unasked: 0,
            random: seed | 1,
            moves: 0,
            layout,
            told: Vec::new(),
        };
        machine.place_packet();
        machine.registers[1] = Some(machine.base(CONTEXT));
        machine.registers[2] = Some(seed.rotate_left(13));
        machine.registers[3] = Some(OWN_BASE);
        machine.registers[10] = Some(machine.frame(0));
        machine
    }

    pub fn depth(&self) -> usize {
        self.callers.len()
    }

    /// The value of r10 at a depth.
    pub fn frame(&self, depth: usize) -> u64 {
        self.memory[depth].base + FRAME as u64
    }

    /// The first stretch of a region.
    pub fn stretch(&self, region: Region) -> &Stretch {
        self.memory.iter().find(|it| it.region == Some(region)).expect("every region is somewhere")
    }

    pub fn base(&self, region: Region) -> u64 {
        self.stretch(region).base
    }

    /// Writes where the packet is, as the contract has it.
    fn place_packet(&mut self) {
        let (data, end) = (self.base(PACKET), self.base(PACKET) + self.stretch(PACKET).bytes.len() as u64);
        let random = self.random;
        let context = self.memory.iter_mut().find(|it| it.region == Some(CONTEXT)).expect("it is there");
        let mut fill = |first: usize, bytes: &[u8]| {
            context.bytes[first..first + bytes.len()]
                .iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = Some(*from));
        };
        fill(0, &data.to_le_bytes());
        fill(8, &end.to_le_bytes());
        fill(16, &(random as u32 % 8).to_le_bytes());
        fill(20, &(random as u32 % 101).to_le_bytes());
        fill(28, &(random as u32 >> 1).to_le_bytes());
    }

    /// Runs to the end; asks before each instruction whether what is known of it is so.
    pub fn run(&mut self, mut look: impl FnMut(&Machine) -> Result<(), std::string::String>) -> Step<u64> {
        for _ in 0..20_000 {
            look(self).map_err(Stopped::Fault)?;
            let Some(instruction) = self.verified.program().at(self.at) else {
                return fault(std::format!("it goes to {}, where nothing begins", self.at));
            };
            if let Some(result) = self.step(instruction)? {
                return Ok(result);
            }
        }
        Err(Stopped::Late)
    }

    fn step(&mut self, instruction: Instruction) -> Step<Option<u64>> {
        let (at, guard) = (self.at, self.verified.guards()[self.at]);
        self.at += instruction.slots();
        if guard == Guard::Budget {
            self.budget = self.budget.checked_sub(1).ok_or(Stopped::Guard)?;
            self.unasked = 0;
        }
        self.unasked += 1;
        // In each function that is being called, loops and calls may add as much as the host has patience for.
        if self.unasked > DEPTH * (self.verified.program().slots() + 2 * PATIENCE as usize) {
            return fault(std::format!(
                "{} instructions are done, and nothing is taken from the budget",
                self.unasked
            ));
        }
        let to = instruction.target(at).unwrap_or(0) as usize;
        match instruction {
            Instruction::Alu { operation: Alu::Mov, width, destination, source } => {
                let value = self.operand(source)?;
                self.put(destination, if width == Width::W32 { u64::from(value as u32) } else { value });
            }
            Instruction::Alu { width, operation, destination, source } => {
                let value = compute(operation, width, self.get(destination)?, self.operand(source)?);
                self.put(destination, value);
            }
            Instruction::Negate { width, destination } => {
                let value = compute(Alu::Sub, width, 0, self.get(destination)?);
                self.put(destination, value);
            }
            Instruction::Extend { width, from, destination, source } => {
                let value = extend(self.get(source)?, from);
                self.put(destination, if width == Width::W32 { u64::from(value as u32) } else { value });
            }
            Instruction::Swap { order, size, destination } => {
                let above = 64 - 8 * size.bytes() as u32;
                let value = self.get(destination)?;
                let swapped = if order == Order::Little {
                    value << above >> above
                } else {
                    value.swap_bytes() >> above
                };
                self.put(destination, swapped);
            }
            Instruction::Constant { destination, constant } => {
                let value = match constant {
                    Constant::Number(number) => number,
                    Constant::MapByFd(map) | Constant::MapByIndex(map) => map as u64,
                    Constant::ValueByFd { offset, .. } | Constant::ValueByIndex { offset, .. } => {
                        self.base(VALUE).wrapping_add(offset as i64 as u64)
                    }
                    Constant::Code(_) => CODE | to as u64,
                    Constant::Variable(_) => return fault("a variable".into()),
                };
                self.put(destination, value);
            }
            Instruction::Load { sign, size, destination, base, offset } => {
                let value = self.load(self.address(guard, base, offset)?, size.bytes())?;
                self.put(destination, if sign == Sign::Extend { extend(value, size) } else { value });
            }
            Instruction::Store { size, base, offset, source } => {
                let value = self.operand(source)?;
                self.write(self.address(guard, base, offset)?, &value.to_le_bytes()[..size.bytes()])?;
            }
            Instruction::Atomic { width, operation, base, offset, source } => {
                self.atomic(width, operation, self.address(guard, base, offset)?, source)?;
            }
            Instruction::Jump { .. } => self.at = to,
            Instruction::JumpIf { width, condition, left, right, .. } => {
                if holds(condition, width, self.get(left)?, self.operand(right)?) {
                    self.at = to;
                }
            }
            Instruction::CallHelper { number } => self.call(u64::from(number))?,
            Instruction::CallLocal { .. } => self.enter(to, guard)?,
            Instruction::CallRegister { target } => match self.get(target)? {
                code if code & CODE != 0 => self.enter((code ^ CODE) as usize, guard)?,
                number => self.call(number)?,
            },
            Instruction::Exit => return self.leave(),
        }
        Ok(None)
    }

    fn get(&self, register: Register) -> Step<u64> {
        match self.registers[register.index()] {
            Some(value) => Ok(value),
            None => fault(std::format!("{register} is read and wasn't set")),
        }
    }

    fn put(&mut self, register: Register, value: u64) {
        self.registers[register.index()] = Some(value);
    }

    fn operand(&self, operand: Operand) -> Step<u64> {
        match operand {
            Operand::Register(register) => self.get(register),
            Operand::Immediate(immediate) => Ok(immediate as i64 as u64),
        }
    }

    fn address(&self, guard: Guard, base: Register, offset: i16) -> Step<u64> {
        let address = self.get(base)?.wrapping_add(offset as i64 as u64);
        Ok(if guard == Guard::Confine { OWN_BASE + (address & u64::from(OWN_BYTES - 1)) } else { address })
    }

    /// The stretch in which bytes lie, and where in it.
    fn find(&self, address: u64, bytes: usize) -> Step<(usize, usize)> {
        let inside =
            |it: &Stretch| address >= it.base && address - it.base + bytes as u64 <= it.bytes.len() as u64;
        match self.memory.iter().position(inside) {
            Some(index) if index <= self.depth() || self.memory[index].region.is_some() => {
                Ok((index, (address - self.memory[index].base) as usize))
            }
            _ => fault(std::format!("{bytes} bytes at {address:#x} are nowhere")),
        }
    }

    fn read(&self, address: u64, bytes: usize) -> Step<Vec<u8>> {
        let (index, first) = self.find(address, bytes)?;
        let read: Option<Vec<u8>> = self.memory[index].bytes[first..first + bytes].iter().copied().collect();
        read.map_or_else(|| fault(std::format!("{bytes} bytes at {address:#x} weren't written")), Ok)
    }

    fn load(&self, address: u64, bytes: usize) -> Step<u64> {
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.read(address, bytes)?);
        Ok(u64::from_le_bytes(value))
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Step<()> {
        let (index, first) = self.find(address, bytes.len())?;
        if self.memory[index].region == Some(CONTEXT) && (first, bytes.len()) != (16, 4) {
            return fault(std::format!("it writes to the context at {first}"));
        }
        let to = &mut self.memory[index].bytes[first..first + bytes.len()];
        to.iter_mut().zip(bytes).for_each(|(to, from)| *to = Some(*from));
        Ok(())
    }

    fn atomic(&mut self, width: Width, operation: Atomic, address: u64, source: Register) -> Step<()> {
        let bytes = Size::from(width).bytes();
        let (old, operand) = (self.load(address, bytes)?, self.get(source)?);
        let expected = match operation {
            Atomic::CompareExchange if bytes == 4 => {
                u64::from(self.get(Register::new(0).expect("r0"))? as u32)
            }
            Atomic::CompareExchange => self.get(Register::new(0).expect("r0"))?,
            _ => 0,
        };
        let new = match operation {
            Atomic::Add | Atomic::FetchAdd => old.wrapping_add(operand),
            Atomic::Or | Atomic::FetchOr => old | operand,
            Atomic::And | Atomic::FetchAnd => old & operand,
            Atomic::Xor | Atomic::FetchXor => old ^ operand,
            Atomic::CompareExchange if old != expected => old,
            Atomic::Exchange | Atomic::CompareExchange => operand,
        };
        self.write(address, &new.to_le_bytes()[..bytes])?;
        if let Some(fetched) = operation.fetches_into(source) {
            self.put(fetched, old);
        }
        Ok(())
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // Small numbers are more likely to be taken for something.
        if self.random & 3 == 0 { self.random >> 8 } else { self.random >> 8 & 63 }
    }

    fn call(&mut self, number: u64) -> Step<()> {
        let argument = |machine: &Self, index: u8| machine.get(Register::new(index).expect("below 11"));
        let result = match number {
            1 => {
                let key = argument(self, 2).and_then(|key| self.load(key, 4))?;
                if argument(self, 1)? != 0 {
                    return fault("there is no such table".into());
                }
                let values = self.memory.iter().filter(|it| it.region == Some(VALUE));
                let bases: BTreeMap<u64, u64> = (1..).zip(values.map(|it| it.base)).collect();
                Some(bases.get(&(key % 3)).copied().unwrap_or(0))
            }
            2 => Some(self.next_random()),
            3 => {
                let bytes = argument(self, 2)? as usize;
                let told = if bytes == 0 { Vec::new() } else { self.read(argument(self, 1)?, bytes)? };
                self.told.extend(told.into_iter().map(u64::from));
                None
            }
            4 => {
                let bytes = argument(self, 2)? as usize;
                if bytes > 0 {
                    self.write(argument(self, 1)?, &vec![7; bytes])?;
                }
                Some(bytes as u64)
            }
            5 => {
                if argument(self, 1)? != self.base(CONTEXT) {
                    return fault("it isn't the context".into());
                }
                self.moves += 1;
                let length = self.next_random() as usize % 90;
                let base = 0x7fff_1000_0000 + self.moves * 0x10000 + self.layout * 0x1239;
                let packet =
                    self.memory.iter_mut().find(|it| it.region == Some(PACKET)).expect("it is there");
                (packet.base, packet.bytes) = (base, vec![Some(3); length]);
                self.place_packet();
                Some(self.moves & 1)
            }
            _ => return fault(std::format!("there is no helper {number}")),
        };
        self.registers[0] = result;
        self.registers[1..6].fill(None);
        Ok(())
    }

    fn enter(&mut self, to: usize, guard: Guard) -> Step<()> {
        if self.depth() + 1 == DEPTH {
            return if guard == Guard::Budget {
                Err(Stopped::Guard)
            } else {
                fault("it calls too deep".into())
            };
        }
        let kept = core::array::from_fn(|index| self.registers[6 + index]);
        self.callers.push((kept, self.at));
        self.registers[6..10].fill(None);
        self.registers[0] = None;
        self.registers[10] = Some(self.frame(self.depth()));
        self.at = to;
        Ok(())
    }

    fn leave(&mut self) -> Step<Option<u64>> {
        let depth = self.depth();
        let Some((kept, back)) = self.callers.pop() else {
            return self.get(Register::new(0).expect("r0 is a register")).map(Some);
        };
        self.memory[depth].bytes.fill(None);
        self.registers[1..6].fill(None);
        self.registers[6..10].copy_from_slice(&kept);
        self.registers[10] = Some(self.frame(depth - 1));
        self.at = back;
        Ok(None)
    }
}
