//! Accesses to memory: their target, whether they are allowed, and the state afterwards.

use alloc::format;

use super::analysis::Analysis;
use super::contract::{Extent, Field, OWN, Region};
use super::frame::Unreadable;
use super::marks::{CONFINED, ELSEWHERE, PLAIN, REWRITTEN};
use super::number::Number;
use super::rejection::{Bytes, Holds, Rejection};
use super::state::{State, tie_of};
use super::value::{Kind, Value, is_near, least_bytes};
use crate::FRAME;
use crate::bytecode::{Atomic, Instruction, Operand, Register, Sign, Size};

/// The target of an access.
enum Place {
    /// A stack frame: its depth, and the least and greatest distance of the first byte from its end.
    Stack(u8, i64, i64),
    /// Plain bytes.
    Bytes,
    Field(Field),
}

/// The kind of access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Atomic,
}

/// How a load extends bytes.
pub(super) fn extended(value: Value, sign: Sign, size: Size) -> Value {
    match sign {
        Sign::Extend if value.is_number() => Value::number(value.number.low_signed(8 * size.bytes() as u32)),
        Sign::Extend => Value::MIXED,
        Sign::Zero => value,
    }
}

impl Analysis<'_> {
    pub(super) fn load(
        &mut self,
        at: usize,
        (base, offset): (Register, i16),
        size: Size,
        state: &State,
    ) -> Result<Value, Rejection> {
        match self.locate(at, (base, offset), size, Access::Read, state)? {
            Place::Stack(depth, first, last) => {
                let loaded = state.frame_at(depth).load(first, last, size.bytes());
                loaded.map_err(|why| self.unreadable(at, why))
            }
            Place::Bytes => Ok(Value::of_bytes(size.bytes())),
            Place::Field(field) if field.size == size => Ok(Value::given(field.gives, None)),
            Place::Field(_) => Ok(Value::of_bytes(size.bytes())),
        }
    }

    pub(super) fn store(
        &mut self,
        at: usize,
        (base, offset): (Register, i16),
        size: Size,
        source: Operand,
        state: &mut State,
    ) -> Result<(), Rejection> {
        let place = self.locate(at, (base, offset), size, Access::Write, state)?;
        if let Operand::Register(register) = source {
            self.readable(at, register, state)?;
            if let Place::Stack(..) = place {
                state.tie(register, tie_of(at));
            }
        }
        let value = state.operand(source);
        match place {
            Place::Stack(depth, first, last) => {
                state.change_frame(depth, |frame| frame.store(first, last, size.bytes(), value));
            }
            Place::Bytes | Place::Field(_) if self.is_secret(&value) => {
                let Operand::Register(register) = source else { unreachable!("immediates are numbers") };
                let what = format!(
                    "{}, but addresses are secret, so they can be stored in the stack only; store a number",
                    Holds(register, &value, self.contract)
                );
                return Err(self.refuse(at, what));
            }
            Place::Field(Field { gives: super::Given::Number(least, most), .. })
                if value.number.least < least || value.number.most > most =>
            {
                let stored = super::rejection::Range(value.number);
                let what = format!("{stored} is stored where {least} to {most} is allowed; compare it first");
                return Err(self.refuse(at, what));
            }
            Place::Bytes | Place::Field(_) => {}
        }
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        at: usize,
        (base, offset): (Register, i16),
        size: Size,
        (operation, source): (Atomic, Register),
        state: &mut State,
    ) -> Result<(), Rejection> {
        self.number(at, source, state)?;
        if operation == Atomic::CompareExchange {
            self.number(at, Register::new(0).expect("r0 is a register"), state)?;
        }
        if let Place::Stack(depth, first, last) =
            self.locate(at, (base, offset), size, Access::Atomic, state)?
        {
            let end = last + size.bytes() as i64;
            state
                .frame_at(depth)
                .readable(first, end, |value| self.is_secret(value))
                .map_err(|why| self.unreadable(at, why))?;
            state.change_frame(depth, |frame| frame.smear(first, end, 0, false));
        }
        if let Some(fetched) = operation.fetches_into(source) {
            state.set(fetched, Value::of_bytes(size.bytes()));
        }
        Ok(())
    }

    fn locate(
        &mut self,
        at: usize,
        (base, offset): (Register, i16),
        size: Size,
        access: Access,
        state: &State,
    ) -> Result<Place, Rejection> {
        let value = self.readable(at, base, state)?;
        let distance = value.number + Number::exactly(offset as i64 as u64);
        let bytes = size.bytes() as i64;
        match value.kind {
            Kind::Stack(depth) => {
                if !in_frame(distance, bytes) {
                    return Err(self.out_of_frame(at, base, offset, bytes, state));
                }
                self.mark(at, PLAIN | ELSEWHERE)?;
                Ok(Place::Stack(depth, distance.signed_least, distance.signed_most))
            }
            Kind::Region(region) if self.within(region, (value, offset.into(), distance), bytes, state) => {
                if access != Access::Read && !self.contract.memory(region).writable {
                    let name = self.contract.memory(region).name;
                    return Err(self.refuse(at, format!("{name} can only be read; write somewhere else")));
                }
                if !self.contract.memory(region).fields.is_empty() {
                    return self.field(at, region, distance, size, access);
                }
                self.mark(at, if region == OWN { PLAIN } else { PLAIN | ELSEWHERE })?;
                Ok(Place::Bytes)
            }
            _ if self.may_be_own(value) => {
                self.mark(at, PLAIN | CONFINED)?;
                Ok(Place::Bytes)
            }
            _ => Err(self.nowhere(at, base, offset, bytes, state)),
        }
    }

    /// Whether an unproved access may be meant for the program's own memory.
    fn may_be_own(&self, value: &Value) -> bool {
        let leads_there = matches!(value.kind, Kind::Number | Kind::Region(OWN) | Kind::RegionOrNull(OWN));
        leads_there && self.contract.own.is_some()
    }

    /// Whether so many bytes exist at a distance from a pointer.
    pub(super) fn within(
        &self,
        region: Region,
        (pointer, offset, distance): (&Value, i64, Number),
        bytes: i64,
        state: &State,
    ) -> bool {
        let there = i64::from(least_bytes(self.contract, region, state.packet));
        let reaches = || is_near(pointer.number) && offset + bytes <= i64::from(pointer.reach);
        distance.signed_least >= 0 && (distance.signed_most <= there - bytes || reaches())
    }

    fn field(
        &mut self,
        at: usize,
        region: Region,
        distance: Number,
        size: Size,
        access: Access,
    ) -> Result<Place, Rejection> {
        let memory = self.contract.memory(region);
        let bytes = size.bytes() as u64;
        let found = distance.constant().and_then(|first| {
            memory.fields.iter().find(|field| {
                let field_first = u64::from(field.offset);
                let whole = (field_first, field.size) == (first, size);
                let part = matches!(field.gives, super::Given::Number(..)) && field.stands_at.is_none();
                let inside = field_first <= first && first + bytes <= field_first + field.size.bytes() as u64;
                whole || part && inside && access == Access::Read
            })
        });
        let Some(field) = found else {
            let what = format!(
                "{} has no field of {} at {}; it has {}",
                memory.name,
                Bytes(bytes as i64),
                super::rejection::Range(distance),
                super::rejection::Fields(memory)
            );
            return Err(self.refuse(at, what));
        };
        if access == Access::Atomic || access == Access::Write && !field.writable {
            let what = format!("this field of {} can't be written like this; it can be loaded", memory.name);
            return Err(self.refuse(at, what));
        }
        match field.stands_at {
            None => self.mark(at, PLAIN | ELSEWHERE)?,
            Some((stands_at, size)) => self.rewrite(at, i32::from(stands_at) - field.offset as i32, size)?,
        }
        Ok(Place::Field(*field))
    }

    /// Rewrites a load, to another distance and size.
    fn rewrite(&mut self, at: usize, apart: i32, size: Size) -> Result<(), Rejection> {
        self.mark(at, REWRITTEN | ELSEWHERE)?;
        let Some(Instruction::Load { sign, destination, base, offset, .. }) = self.program.at(at) else {
            return Err(self.refuse(at, "this field can only be loaded"));
        };
        let Ok(offset) = i16::try_from(i32::from(offset) + apart) else {
            return Err(
                self.refuse(at, "a field can't be loaded from so far away; use a pointer to the start")
            );
        };
        let instruction = Instruction::Load { sign, size, destination, base, offset };
        match self.rewrites.insert(at, instruction) {
            Some(before) if before != instruction => Err(self.refuse(at, AMBIGUOUS)),
            _ => Ok(()),
        }
    }

    /// Marks how an access is done, which must be the same on all paths.
    fn mark(&mut self, at: usize, mark: u8) -> Result<(), Rejection> {
        self.marks[at] |= mark;
        let has = |both: u8| self.marks[at] & both == both;
        if has(CONFINED | ELSEWHERE) || has(PLAIN | REWRITTEN) {
            return Err(self.refuse(at, AMBIGUOUS));
        }
        Ok(())
    }

    /// Whether a value leaks an address that is secret.
    pub(super) fn is_secret(&self, value: &Value) -> bool {
        value.tells_address() && (self.contract.secret_addresses || matches!(value.kind, Kind::Stack(_)))
    }

    #[cold]
    fn out_of_frame(&self, at: usize, base: Register, offset: i16, bytes: i64, state: &State) -> Rejection {
        let what = format!(
            "{}, so {} at {offset:+} may not be in its {FRAME} bytes; keep the address between -{FRAME} and \
             -{bytes} from r10",
            Holds(base, state.get(base), self.contract),
            Bytes(bytes),
        );
        self.refuse(at, what)
    }

    #[cold]
    fn nowhere(&self, at: usize, base: Register, offset: i16, bytes: i64, state: &State) -> Rejection {
        let value = state.get(base);
        let holds = Holds(base, value, self.contract);
        let what = match value.kind {
            Kind::Region(region) => self.outside(region, &holds, offset.into(), bytes, state),
            Kind::RegionOrNull(_) => {
                format!("{holds}; compare it with 0 first, and use it only if it differs")
            }
            Kind::End(_) => format!("{holds}, where nothing can be accessed; use a pointer from its start"),
            Kind::Mixed => format!("{holds}; have a pointer of one kind there on all paths"),
            _ => format!("{holds}, which leads to no memory; use a pointer that the host gave"),
        };
        self.refuse(at, what)
    }

    /// The reason why bytes aren't known to be in a region.
    pub(super) fn outside(
        &self,
        region: Region,
        holds: &Holds,
        offset: i64,
        bytes: i64,
        state: &State,
    ) -> alloc::string::String {
        let name = self.contract.memory(region).name;
        let there = least_bytes(self.contract, region, state.packet);
        let accessed = Bytes(bytes);
        if holds.1.number.signed_least.saturating_add(offset) < 0 {
            return format!(
                "{holds}, so {accessed} at {offset:+} may be before it; check the distance first"
            );
        }
        match self.contract.memory(region).extent {
            Extent::Bytes(_) => format!(
                "{holds}, so {accessed} at {offset:+} may not be in its {there} bytes; compare or mask the distance \
                 before it is added"
            ),
            Extent::ToEnd(_) => format!(
                "{holds}, but {accessed} at {offset:+} may be behind the end; compare the pointer \
                 + {} with the end of {name} first",
                offset + bytes
            ),
        }
    }

    #[cold]
    pub(super) fn unreadable(&self, at: usize, why: Unreadable) -> Rejection {
        self.refuse(
            at,
            match why {
                Unreadable::Unset(distance) => {
                    format!(
                        "the byte at r10 {distance:+} is read, but some path to here doesn't write it; store there \
                         first"
                    )
                }
                Unreadable::Pointer(distance) => format!(
                    "the byte at r10 {distance:+} is part of a pointer, and addresses are secret; load \
                     pointers whole, and pass numbers only"
                ),
            },
        )
    }
}

const AMBIGUOUS: &str =
    "it accesses different kinds of memory, depending on the path; use an instruction for each";

/// Whether bytes at a distance from r10 are in the frame.
pub(super) fn in_frame(distance: Number, bytes: i64) -> bool {
    distance.signed_least >= -(FRAME as i64) && distance.signed_most <= -bytes
}
