//! The effects of writes: copies of the overwritten bytes are saved, and facts about these bytes forgotten. Also
//! materialisation: held objects are written to residual memory when the residual program needs them.

use super::Machine;
use super::access::{largest_step, repeated};
use super::operands::Leak;
use crate::evaluate::facts::Facts;
use crate::evaluate::memory::{Cell, Held};
use crate::evaluate::stop::Stop;
use crate::evaluate::value::{ObjectId, Value};
use crate::ir::{Access, Const, Op, Operand, Type};
use std::rc::Rc;

/// The longest copy, in bytes, that is loaded into values when its origin is about to change.
const LONGEST_SETTLED: u64 = 128;
/// The longest copy between real objects, in bytes, that becomes loads and stores.
const LONGEST_MOVED: u64 = 16;

impl Machine<'_> {
    /// To be called before bytes are written: saves the copies that refer to them.
    pub(super) fn before_write(
        &mut self,
        facts: &mut Facts,
        to: &Value,
        size: Option<u64>,
    ) -> Result<(), Stop> {
        let written: Vec<ObjectId> = match self.pointee(to) {
            Some(object) => std::iter::once(object).chain(facts.overlapping(object, self.objects)).collect(),
            None => facts.reachable(self.objects),
        };
        if self.initialising {
            self.initial.changed.extend(&written);
        }
        for object in written {
            let (at, size) = match (to, size) {
                (Value::Pointer(target, offset), Some(size)) if *target == object && *offset >= 0 => {
                    (*offset as u64, size)
                }
                _ => (0, u64::MAX),
            };
            if self.pointee(to) == Some(object) {
                self.check_invariant(object, at, size)?;
            }
            for (holder, at, size) in facts.memory.copies_of(object, at, size) {
                self.settle(facts, holder, at, size)?;
            }
        }
        Ok(())
    }

    /// To be called after the residual program has written bytes: forgets the facts about them.
    pub(super) fn after_write(&mut self, facts: &mut Facts, to: &Value, size: u64) {
        let target = self.pointee(to);
        let may_be_seen = |object| facts.memory.get(object).is_none_or(|contents| contents.escaped);
        if target.is_none_or(may_be_seen) {
            facts.seen = Rc::default();
        }
        let others = match target {
            Some(object) => facts.overlapping(object, self.objects),
            None => facts.reachable(self.objects),
        };
        for object in others {
            facts.forget_all(object, self.objects, self.initial);
        }
        match (to, target) {
            (Value::Pointer(object, offset), _) if *offset >= 0 => {
                if let Some(contents) = facts.memory.get_mut(*object) {
                    contents.forget(*offset as u64, size);
                }
            }
            (_, Some(object)) => facts.forget_all(object, self.objects, self.initial),
            _ => {}
        }
    }

    /// Unseen code may have written to every escaped object.
    pub fn clobber_escaped(&mut self, facts: &mut Facts) -> Result<(), Stop> {
        facts.seen = Rc::default();
        let reachable = facts.reachable(self.objects);
        for object in &reachable {
            for (holder, at, size) in facts.memory.copies_of(*object, 0, u64::MAX) {
                self.settle(facts, holder, at, size)?;
            }
        }
        for object in reachable {
            facts.forget_all(object, self.objects, self.initial);
        }
        Ok(())
    }

    /// Unseen code may have written to this object.
    pub(super) fn clobber(&mut self, facts: &mut Facts, object: ObjectId) -> Result<(), Stop> {
        for (holder, at, size) in facts.memory.copies_of(object, 0, u64::MAX) {
            self.settle(facts, holder, at, size)?;
        }
        facts.forget_all(object, self.objects, self.initial);
        Ok(())
    }

    /// Removes an object from memory at the end of its life.
    pub fn end_of_life(&mut self, facts: &mut Facts, object: ObjectId) -> Result<(), Stop> {
        for (holder, at, size) in facts.memory.copies_of(object, 0, u64::MAX) {
            if holder != object {
                self.settle(facts, holder, at, size)?;
            }
        }
        facts.memory.remove(object);
        Ok(())
    }

    /// Before the origin of a copy changes: replaces the copy by values, or forgets it if its holder is real.
    pub(super) fn settle(
        &mut self,
        facts: &mut Facts,
        holder: ObjectId,
        at: u64,
        size: u64,
    ) -> Result<(), Stop> {
        let Some(contents) = facts.memory.get_mut(holder) else { return Ok(()) };
        if contents.real {
            contents.forget(at, size);
            return Ok(());
        }
        if size > LONGEST_SETTLED {
            return self.materialise(facts, holder);
        }
        for (from, piece_size, held) in contents.pieces(at, size) {
            let Some(Held::Copy(origin, origin_at)) = held else { continue };
            let mut done = 0;
            while done < piece_size {
                let step = largest_step(piece_size - done);
                let ty = Type::Int(step as u32 * 8);
                let origin_place = Value::Pointer(origin, (origin_at + done) as i64);
                let value = self.load(facts, &origin_place, &ty, Access::Plain, 1)?;
                self.put(facts, holder, at + from + done, step, Held::Value(value, 0));
                done += step;
            }
        }
        Ok(())
    }

    /// Makes an object real: its held contents are written to the residual program's memory.
    pub fn materialise(&mut self, facts: &mut Facts, object: ObjectId) -> Result<(), Stop> {
        self.ensure(facts, object);
        let Some(contents) = facts.memory.get_mut(object) else { return Ok(()) };
        if contents.real {
            return Ok(());
        }
        contents.real = true;
        let cells: Vec<_> = contents.cells.iter().map(|(at, cell)| (*at, cell.clone())).collect();
        for (at, cell) in &cells {
            self.write_held(facts, &Value::Pointer(object, 0), *at, cell.size, &cell.held)?;
        }
        if let Some(contents) = facts.memory.get_mut(object) {
            // Contents remain known only if they can be read back as written.
            let readable = |cell: &Cell| match &cell.held {
                Held::Value(value, 0) => !value.is_undef(),
                Held::Fill(_) => true,
                _ => false,
            };
            contents.cells.edit(|cells| cells.retain(|_, cell| readable(cell)));
        }
        self.notes.materialised(object, self.objects);
        Ok(())
    }

    /// Lets an object's address escape.
    pub fn escape(&mut self, facts: &mut Facts, object: ObjectId) -> Result<(), Stop> {
        self.materialise(facts, object)?;
        if let Some(contents) = facts.memory.get(object)
            && !contents.escaped
            && let Some(contents) = facts.memory.get_mut(object)
        {
            contents.escaped = true;
        }
        Ok(())
    }

    /// Emits code that writes the contents of a cell to real memory, at an offset from a pointer.
    pub(super) fn write_held(
        &mut self,
        facts: &mut Facts,
        to: &Value,
        offset: u64,
        size: u64,
        held: &Held,
    ) -> Result<(), Stop> {
        match held {
            Held::Value(value, _) if value.is_undef() => {}
            Held::Value(value, 0) if self.type_of(value).store_size() == size => {
                let value = value.clone();
                let ty = self.type_of(&value);
                let operand = self.operand(facts, &value, &ty, Leak::Yes)?;
                self.emit_store(facts, to, offset, operand)?;
            }
            Held::Value(value, start) => {
                let (mut done, value) = (0, value.clone());
                while done < size {
                    let step = largest_step(size - done);
                    let part = self.part(facts, &value, start + done as u32, step)?;
                    let operand = self.operand(facts, &part, &Type::Int(step as u32 * 8), Leak::Yes)?;
                    self.emit_store(facts, to, offset + done, operand)?;
                    done += step;
                }
            }
            Held::Fill(byte) if size <= LONGEST_MOVED => {
                let mut done = 0;
                while done < size {
                    let step = largest_step(size - done);
                    let operand = Operand::Const(Const::int(step as u32 * 8, repeated(*byte, step)));
                    self.emit_store(facts, to, offset + done, operand)?;
                    done += step;
                }
            }
            Held::Fill(byte) => {
                let to = self.place_after(facts, to, offset)?;
                let byte = Operand::Const(Const::int(8, u128::from(*byte)));
                let size = Operand::Const(Const::int(64, u128::from(size)));
                self.emit_memory_call(facts, "memset", vec![to, byte, size]);
            }
            Held::Copy(origin, from) if size <= LONGEST_MOVED => {
                let mut done = 0;
                let mut loaded = Vec::new();
                while done < size {
                    let step = largest_step(size - done);
                    let value =
                        self.load_known_place(facts, *origin, from + done, &Type::Int(step as u32 * 8), 1)?;
                    loaded.push((done, value));
                    done += step;
                }
                for (at, value) in loaded {
                    let ty = self.type_of(&value);
                    let operand = self.operand(facts, &value, &ty, Leak::Yes)?;
                    self.emit_store(facts, to, offset + at, operand)?;
                }
            }
            Held::Copy(origin, from) => {
                let to = self.place_after(facts, to, offset)?;
                let from =
                    self.operand(facts, &Value::Pointer(*origin, *from as i64), &Type::Ptr, Leak::No)?;
                let size = Operand::Const(Const::int(64, u128::from(size)));
                self.emit_memory_call(facts, "memcpy", vec![to, from, size]);
            }
        }
        Ok(())
    }

    fn emit_store(&mut self, facts: &mut Facts, to: &Value, offset: u64, value: Operand) -> Result<(), Stop> {
        let align = match to {
            Value::Pointer(object, at) => self.align_at(*object, at.wrapping_add(offset as i64) as u64),
            _ => 1,
        };
        let to = self.place_after(facts, to, offset)?;
        self.effect(facts, Op::Store { value, to, align, access: Access::Plain });
        Ok(())
    }

    /// The address at an offset from a pointer.
    fn place_after(&mut self, facts: &mut Facts, to: &Value, offset: u64) -> Result<Operand, Stop> {
        if let Value::Pointer(object, at) = to {
            let there = Value::Pointer(*object, at.wrapping_add(offset as i64));
            return self.operand(facts, &there, &Type::Ptr, Leak::No);
        }
        let base = self.operand(facts, to, &Type::Ptr, Leak::No)?;
        Ok(self.residual.address(facts.block, base, offset as i64))
    }

    /// Appends a call of `memcpy`, `memmove` or `memset`.
    pub(super) fn emit_memory_call(&mut self, facts: &Facts, name: &str, args: Vec<Operand>) {
        let call = self.program.memory_call(name, args);
        self.effect(facts, call);
    }
}
