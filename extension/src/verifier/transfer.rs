//! Transfer functions of instructions that compute.

use core::fmt::Display;

use super::analysis::Analysis;
use super::contract::Extent;
use super::number::Number;
use super::rejection::{Holds, Rejection};
use super::state::{State, tie_of};
use super::value::{Kind, Value};
use crate::bytecode::{Alu, Constant, Instruction, Operand, Register, Size, Width};

impl Analysis<'_> {
    /// Applies an instruction that falls through, and isn't a call of a function.
    pub(super) fn step(
        &mut self,
        at: usize,
        instruction: Instruction,
        state: &mut State,
    ) -> Result<(), Rejection> {
        match instruction {
            Instruction::Alu { width, operation: Alu::Mov, destination, source } => {
                self.copy(at, width, destination, source, state)
            }
            Instruction::Alu { width, operation, destination, source } => {
                self.compute(at, width, operation, (destination, source), state)
            }
            Instruction::Negate { width, destination } => {
                self.change(at, destination, destination, state, |number| number.negated(width))
            }
            Instruction::Extend { width, from, destination, source } => {
                let bits = 8 * from.bytes() as u32;
                match width {
                    Width::W32 => {
                        self.change(at, destination, source, state, |number| number.low_signed(bits).low(32))
                    }
                    Width::W64 => {
                        self.narrow(at, destination, source, state, |number| number.low_signed(bits))
                    }
                }
            }
            Instruction::Swap { order, size, destination } => {
                self.change(at, destination, destination, state, |number| number.swapped(order, size))
            }
            Instruction::Constant { destination, constant } => {
                let value = self.constant(at, constant)?;
                state.set(destination, value);
                Ok(())
            }
            Instruction::Load { sign, size, destination, base, offset } => {
                let value = self.load(at, (base, offset), size, state)?;
                state.set(destination, super::memory::extended(value, sign, size));
                Ok(())
            }
            Instruction::Store { size, base, offset, source } => {
                self.store(at, (base, offset), size, source, state)
            }
            Instruction::Atomic { width, operation, base, offset, source } => {
                self.atomic(at, (base, offset), Size::from(width), (operation, source), state)
            }
            Instruction::CallHelper { number } => self.call_helper(at, number, state),
            Instruction::Jump { .. }
            | Instruction::JumpIf { .. }
            | Instruction::CallLocal { .. }
            | Instruction::CallRegister { .. }
            | Instruction::Exit => unreachable!("{instruction} goes elsewhere"),
        }
    }

    fn copy(
        &mut self,
        at: usize,
        width: Width,
        to: Register,
        from: Operand,
        state: &mut State,
    ) -> Result<(), Rejection> {
        match from {
            Operand::Register(register) if width == Width::W64 => {
                self.readable(at, register, state)?;
                state.tie(register, tie_of(at));
                state.set(to, *state.get(register));
                Ok(())
            }
            Operand::Register(register) => self.narrow(at, to, register, state, |number| number.low(32)),
            Operand::Immediate(_) if width == Width::W64 => {
                state.set(to, state.operand(from));
                Ok(())
            }
            Operand::Immediate(immediate) => {
                state.set(to, Value::number(Number::exactly(u64::from(immediate as u32))));
                Ok(())
            }
        }
    }

    /// Applies a function of a number to a register.
    fn change(
        &self,
        at: usize,
        to: Register,
        from: Register,
        state: &mut State,
        change: impl Fn(Number) -> Number,
    ) -> Result<(), Rejection> {
        let changed = change(self.number(at, from, state)?);
        state.set(to, Value::number(changed));
        Ok(())
    }

    /// Applies a function of the low bits of a number to a register. If nothing changes in what is known, the value and
    /// its ties are kept.
    fn narrow(
        &self,
        at: usize,
        to: Register,
        from: Register,
        state: &mut State,
        narrow: impl Fn(Number) -> Number,
    ) -> Result<(), Rejection> {
        let number = self.number(at, from, state)?;
        let value = *state.get(from);
        let same = value.is_number() && narrow(number) == number;
        state.set(to, if same { value } else { Value::number(narrow(number)) });
        Ok(())
    }

    fn compute(
        &self,
        at: usize,
        width: Width,
        operation: Alu,
        (destination, source): (Register, Operand),
        state: &mut State,
    ) -> Result<(), Rejection> {
        let (left, right) = (*state.get(destination), state.operand(source));
        let sum = match (operation, left.is_number(), right.is_number()) {
            (Alu::Add, true, true) if width == Width::W64 && left.tie != 0 => left.plus(right.number),
            (_, true, true) => Value::number(Number::computed(operation, width, left.number, right.number)),
            (Alu::Add, false, true) if width == Width::W64 && can_move(left.kind) => left.plus(right.number),
            (Alu::Add, true, false) if width == Width::W64 && can_move(right.kind) => right.plus(left.number),
            (Alu::Sub, false, true) if width == Width::W64 && can_move(left.kind) => left.minus(right.number),
            (Alu::Sub, false, false) if width == Width::W64 && self.tells_distance(&left, &right) => {
                Value::number(left.number - right.number)
            }
            (Alu::Sub, false, false)
                if width == Width::W64
                    && let Some(most) = self.most_before(&left, &right) =>
            {
                Value::number(Number::between(0, most) - right.number)
            }
            _ => {
                self.number(at, destination, state)?;
                if let Operand::Register(register) = source {
                    self.number(at, register, state)?;
                }
                Value::of_bytes(Size::from(width).bytes())
            }
        };
        state.set(destination, sum);
        Ok(())
    }

    /// Whether the distance between two pointers follows from what is known of each.
    pub(super) fn tells_distance(&self, left: &Value, right: &Value) -> bool {
        left.kind == right.kind
            && match left.kind {
                Kind::Stack(_) => true,
                Kind::Region(region) => self.contract.memory(region).single,
                _ => false,
            }
    }

    /// The greatest size of a pointer's region, if the other pointer is its end. Their distance leaks no address.
    fn most_before(&self, end: &Value, pointer: &Value) -> Option<u64> {
        let (Kind::End(ended), Kind::Region(region)) = (end.kind, pointer.kind) else { return None };
        let memory = self.contract.memory(region);
        match memory.extent {
            Extent::ToEnd(most) if ended == region && memory.single => Some(most.into()),
            _ => None,
        }
    }

    fn constant(&self, at: usize, constant: Constant) -> Result<Value, Rejection> {
        let map = |map: i32| usize::try_from(map).ok().filter(|&map| map < self.contract.maps.len());
        match constant {
            Constant::Number(number) => Ok(Value::number(Number::exactly(number))),
            Constant::MapByFd(number) | Constant::MapByIndex(number) => match map(number) {
                Some(map) => Ok(Value::new(Kind::Map, Number::exactly(map as u64))),
                None => Err(self.no_map(at, number)),
            },
            Constant::ValueByFd { map: number, offset } | Constant::ValueByIndex { map: number, offset } => {
                let map = map(number).ok_or_else(|| self.no_map(at, number))?;
                let map = self.contract.maps[map];
                if !map.direct {
                    let what = format_args!(
                        "table {number} has no value that a program may name; look it up by its key"
                    );
                    return Err(self.refuse(at, what));
                }
                let offset = Number::exactly(offset as i64 as u64);
                Ok(Value::new(Kind::Region(map.value), offset))
            }
            Constant::Variable(number) => Err(self.refuse(
                at,
                format_args!("the platform has no variable {number}; give what it holds in memory instead"),
            )),
            Constant::Code(offset) => {
                let slot = (at as i64 + 1 + i64::from(offset)) as u64;
                Ok(Value::new(Kind::Code, Number::exactly(slot)))
            }
        }
    }

    fn no_map(&self, at: usize, number: i32) -> Rejection {
        let count = self.contract.maps.len();
        self.refuse(at, format_args!("there is no table {number}; {count} are given, numbered from 0"))
    }

    /// The number in a register; for an address, any number, unless addresses are secret.
    pub(super) fn number(&self, at: usize, register: Register, state: &State) -> Result<Number, Rejection> {
        let value = self.readable(at, register, state)?;
        if value.is_number() {
            return Ok(value.number);
        }
        if !self.is_secret(value) {
            return Ok(Number::ANY);
        }
        let holds = Holds(register, value, self.contract);
        let what = match value.kind {
            Kind::RegionOrNull(_) => format_args!(
                "{holds}, but a number is needed here; compare it with 0 first, and compute only if it differs"
            ),
            Kind::Mixed => {
                format_args!("{holds}, but a number is needed here; have a number in {register} on all paths")
            }
            _ => format_args!(
                "{holds}, but a number is needed here, because addresses are secret; \
                 add numbers to pointers, subtract pointers of one kind, and use 64 bits"
            ),
        };
        Err(self.refuse(at, what))
    }

    /// The value of a register, which must have been written.
    pub(super) fn readable<'a>(
        &self,
        at: usize,
        register: Register,
        state: &'a State,
    ) -> Result<&'a Value, Rejection> {
        let value = state.get(register);
        if value.kind != Kind::Unset {
            return Ok(value);
        }
        let what = format_args!(
            "{register} is read, but some path to here doesn't set it; set it on all paths (calls leave r1 to r5 \
             undefined)"
        );
        Err(self.refuse(at, what))
    }

    #[cold]
    pub(super) fn refuse(&self, at: usize, what: impl Display) -> Rejection {
        Rejection::new(self.program, at, what)
    }
}

/// Whether numbers may be added to a value of this kind.
fn can_move(kind: Kind) -> bool {
    matches!(kind, Kind::Stack(_) | Kind::Region(_))
}
