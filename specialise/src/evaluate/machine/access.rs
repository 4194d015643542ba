//! Loads and stores. Those of held memory are evaluated, the others become residual code.

use super::Machine;
use super::operands::Leak;
use crate::evaluate::facts::Facts;
use crate::evaluate::memory::Held;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::{ObjectId, Value};
use crate::ir::{Access, Binary, Cast, Op, Operand, Type, ValueId};
use std::rc::Rc;

impl Machine<'_> {
    /// Reads a value of a type.
    pub fn load(
        &mut self,
        facts: &mut Facts,
        from: &Value,
        ty: &Type,
        access: Access,
        align: u64,
    ) -> Result<Value, Stop> {
        if access != Access::Plain {
            return self.load_as_it_stands(facts, from, ty, access, align);
        }
        let Value::Pointer(object, offset) = *from else { return self.load_anywhere(facts, from, ty, align) };
        self.ensure(facts, object);
        if !ty.is_scalar() {
            return self.load_parts(facts, object, offset, ty);
        }
        if offset < 0 {
            self.materialise(facts, object)?;
            return self.load_anywhere(facts, from, ty, align);
        }
        let (offset, size) = (offset as u64, ty.store_size());
        let Some(contents) = facts.memory.get(object) else { return Ok(Value::undef(ty)) };
        // The common case first: the value is there as it was stored.
        if let Some(cell) = contents.cells.get(&offset)
            && cell.size == size
            && let Held::Value(value, 0) = &cell.held
        {
            let value = value.clone();
            return self.reinterpret(facts, value, ty);
        }
        let real = contents.real;
        let pieces = contents.pieces(offset, size);
        if !real && pieces.iter().all(|(_, _, held)| held.is_none()) {
            return Ok(Value::undef(ty));
        }
        if let [(_, _, Some(Held::Copy(origin, at)))] = pieces[..] {
            let value = self.load(facts, &Value::Pointer(origin, at as i64), ty, Access::Plain, 1)?;
            self.put(facts, object, offset, size, Held::Value(value.clone(), 0));
            return Ok(value);
        }
        if real && pieces.iter().any(|(_, _, held)| !matches!(held, Some(Held::Value(..) | Held::Fill(_)))) {
            return self.load_known_place(facts, object, offset, ty, align);
        }
        self.assemble(facts, object, offset, &pieces, ty)
    }

    fn load_parts(
        &mut self,
        facts: &mut Facts,
        object: ObjectId,
        offset: i64,
        ty: &Type,
    ) -> Result<Value, Stop> {
        let parts: Vec<(u64, Type)> = match ty {
            Type::Struct { fields, .. } => ty.offsets().into_iter().zip(fields.iter().cloned()).collect(),
            Type::Array(count, element) => {
                let size = element.layout().size;
                (0..*count).map(|at| (at * size, (**element).clone())).collect()
            }
            _ => {
                self.materialise(facts, object)?;
                return self.load_anywhere(facts, &Value::Pointer(object, offset), ty, 1);
            }
        };
        let mut values = Vec::new();
        for (at, ty) in parts {
            values.push(self.load(
                facts,
                &Value::Pointer(object, offset + at as i64),
                &ty,
                Access::Plain,
                1,
            )?);
        }
        Ok(Value::Aggregate(values.into()))
    }

    /// A load from real memory about which nothing is known. Its result is known from then on.
    pub(super) fn load_known_place(
        &mut self,
        facts: &mut Facts,
        object: ObjectId,
        offset: u64,
        ty: &Type,
        align: u64,
    ) -> Result<Value, Stop> {
        let align = self.align_at(object, offset).max(align);
        let from = self.operand(facts, &Value::Pointer(object, offset as i64), &Type::Ptr, Leak::No)?;
        let op = Op::Load { from, align, access: Access::Plain };
        let value = Value::Dynamic(self.emit(facts, ty.clone(), op));
        if let Value::Dynamic(value) = value {
            self.notes.loaded.insert(value, (object, offset));
        }
        if ty.bits() == ty.store_size() * 8 {
            self.put(facts, object, offset, ty.store_size(), Held::Value(value.clone(), 0));
        }
        Ok(value)
    }

    /// A load through a pointer that is a residual value.
    fn load_anywhere(
        &mut self,
        facts: &mut Facts,
        from: &Value,
        ty: &Type,
        align: u64,
    ) -> Result<Value, Stop> {
        let pointee = self.pointee(from);
        if let Some(object) = pointee {
            self.materialise(facts, object)?;
        }
        let from = self.operand(facts, from, &Type::Ptr, Leak::No)?;
        let Operand::Value(pointer) = from else {
            return Ok(Value::Dynamic(self.emit_load(facts, from, ty, align)));
        };
        if let Some(value) = facts.seen.get(&pointer)
            && self.type_of(value) == *ty
        {
            return Ok(value.clone());
        }
        let value = Value::Dynamic(self.emit_load(facts, from, ty, align));
        // If the object is known, its cells record more than `seen` could.
        if pointee.is_none() {
            Rc::make_mut(&mut facts.seen).edit(|seen| seen.insert(pointer, value.clone()));
        }
        Ok(value)
    }

    fn emit_load(&mut self, facts: &mut Facts, from: Operand, ty: &Type, align: u64) -> ValueId {
        self.emit(facts, ty.clone(), Op::Load { from, align, access: Access::Plain })
    }

    fn load_as_it_stands(
        &mut self,
        facts: &mut Facts,
        from: &Value,
        ty: &Type,
        access: Access,
        align: u64,
    ) -> Result<Value, Stop> {
        if let Some(object) = self.pointee(from) {
            self.materialise(facts, object)?;
        }
        let from = self.operand(facts, from, &Type::Ptr, Leak::No)?;
        let value = Value::Dynamic(self.emit(facts, ty.clone(), Op::Load { from, align, access }));
        if access == Access::Atomic {
            self.clobber_escaped(facts)?;
        }
        Ok(value)
    }

    /// A value composed of the bytes of several cells.
    fn assemble(
        &mut self,
        facts: &mut Facts,
        object: ObjectId,
        offset: u64,
        pieces: &[(u64, u64, Option<Held>)],
        ty: &Type,
    ) -> Result<Value, Stop> {
        let size = ty.store_size();
        if size > 16 {
            self.materialise(facts, object)?;
            return self.load_known_place(facts, object, offset, ty, 1);
        }
        if let Some(known) = known_bytes(pieces) {
            return self.reinterpret(facts, Value::int(size as u32 * 8, known), ty);
        }
        if pieces.iter().any(|(_, _, held)| matches!(held, Some(Held::Copy(..)))) {
            for (at, size, held) in pieces {
                if let Some(Held::Copy(..)) = held {
                    self.settle(facts, object, offset + at, *size)?;
                }
            }
            let pieces = facts.memory.get(object).map(|c| c.pieces(offset, size)).unwrap_or_default();
            return self.assemble(facts, object, offset, &pieces, ty);
        }
        if let Some(whole) = self.whole_origin(facts, pieces, size) {
            return self.reinterpret(facts, whole, ty);
        }
        let width = Type::Int(size as u32 * 8);
        let mut sum: Option<Value> = None;
        for (at, piece_size, held) in pieces {
            let part = match held {
                Some(Held::Value(value, start)) => self.part(facts, value, *start, *piece_size)?,
                Some(Held::Fill(byte)) => Value::int(*piece_size as u32 * 8, repeated(*byte, *piece_size)),
                _ => continue,
            };
            let part = self.cast(facts, Cast::ZExt, part, &width)?;
            let by = Value::int(size as u32 * 8, u128::from(at * 8));
            let part = self.binary(facts, Binary::Shl, part, by, &width)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => self.binary(facts, Binary::Or, sum, part, &width)?,
            });
        }
        let whole = sum.unwrap_or_else(|| Value::undef(&width));
        self.reinterpret(facts, whole, ty)
    }

    /// If the bytes are all the bytes of one value, in order or reversed: that value, or its byte swap.
    fn whole_origin(
        &mut self,
        facts: &Facts,
        pieces: &[(u64, u64, Option<Held>)],
        size: u64,
    ) -> Option<Value> {
        let mut bytes = Vec::new();
        for (_, piece_size, held) in pieces {
            let Some(Held::Value(Value::Dynamic(value), start)) = held else { return None };
            for byte in 0..*piece_size as u32 {
                bytes.push(self.residual.origin(*value, start + byte)?);
            }
        }
        let root = bytes.first()?.0;
        let whole = Type::Int(size as u32 * 8);
        if self.residual.type_of(root).store_size() != size || bytes.iter().any(|(value, _)| *value != root) {
            return None;
        }
        if bytes.iter().enumerate().all(|(at, (_, byte))| at as u32 == *byte) {
            return Some(Value::Dynamic(root));
        }
        let swapped = bytes.iter().rev().enumerate().all(|(at, (_, byte))| at as u32 == *byte);
        if !swapped || *self.residual.type_of(root) != whole {
            return None;
        }
        let name = format!("llvm.bswap.i{}", size * 8);
        let swap =
            self.program.intrinsic(&name, std::slice::from_ref(&whole), &whole, vec![Operand::Value(root)]);
        Some(Value::Dynamic(self.emit(facts, whole, swap)))
    }

    /// Writes a value of a type.
    pub fn store(
        &mut self,
        facts: &mut Facts,
        to: &Value,
        value: Value,
        ty: &Type,
        access: Access,
        align: u64,
    ) -> Result<(), Stop> {
        if access == Access::Plain
            && let Value::Pointer(object, offset) = *to
            && offset >= 0
        {
            let place = (object, offset as u64);
            self.notes.store(place, &value, ty.store_size(), &self.residual, self.objects);
            self.ensure(facts, object);
            let Some(contents) = facts.memory.get(object) else { return Ok(()) };
            if !contents.real {
                return self.hold(facts, object, offset as u64, value, ty);
            }
        }
        let size = ty.store_size();
        self.before_write(facts, to, Some(size))?;
        let operand = self.operand(facts, &value, ty, Leak::Yes)?;
        if let Some(object) = self.pointee(to) {
            self.materialise(facts, object)?;
        }
        let address = self.operand(facts, to, &Type::Ptr, Leak::No)?;
        let align = match to {
            Value::Pointer(object, offset) => self.align_at(*object, *offset as u64).max(align),
            _ => align,
        };
        self.effect(facts, Op::Store { value: operand, to: address, align, access });
        self.after_write(facts, to, size);
        if access == Access::Atomic {
            self.clobber_escaped(facts)?;
        }
        if let (Value::Pointer(object, offset), true, Access::Plain) = (to, ty.is_scalar(), access)
            && *offset >= 0
            && ty.bits() == size * 8
        {
            self.put(facts, *object, *offset as u64, size, Held::Value(value, 0));
        }
        Ok(())
    }

    /// A store to a held object.
    fn hold(
        &mut self,
        facts: &mut Facts,
        object: ObjectId,
        offset: u64,
        value: Value,
        ty: &Type,
    ) -> Result<(), Stop> {
        if !ty.is_scalar() {
            if value.is_undef() {
                return Ok(());
            }
            let fields = self.fields(facts, &value, ty)?;
            let parts: Vec<(u64, Type)> = match ty {
                Type::Struct { fields, .. } => ty.offsets().into_iter().zip(fields.iter().cloned()).collect(),
                Type::Array(_, element) => {
                    let size = element.layout().size;
                    (0..fields.len() as u64).map(|at| (at * size, (**element).clone())).collect()
                }
                _ => return Err(Stop::Fail(format!("a value of type {ty} is stored"))),
            };
            for ((at, ty), field) in parts.into_iter().zip(fields.iter()) {
                self.hold(facts, object, offset + at, field.clone(), &ty)?;
            }
            return Ok(());
        }
        let size = ty.store_size();
        let value = if ty.bits() == size * 8 {
            value
        } else {
            self.cast(facts, Cast::ZExt, value, &Type::Int(size as u32 * 8))?
        };
        self.put(facts, object, offset, size, Held::Value(value, 0));
        Ok(())
    }

    pub(super) fn put(&mut self, facts: &mut Facts, object: ObjectId, offset: u64, size: u64, held: Held) {
        if self.initialising {
            self.initial.changed.insert(object);
        }
        if let Some(contents) = facts.memory.get_mut(object) {
            contents.put(offset, size, held);
        }
    }

    /// The alignment of a byte of an object.
    pub(super) fn align_at(&self, object: ObjectId, offset: u64) -> u64 {
        let align = self.objects.origin(object).align.max(1);
        if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
    }
}

/// The largest power of two, at most 8, that does not exceed `left`.
pub(super) fn largest_step(left: u64) -> u64 {
    match left {
        8.. => 8,
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

/// An integer whose `size` bytes are all equal.
pub(super) fn repeated(byte: u8, size: u64) -> u128 {
    (0..size.min(16)).fold(0, |sum, at| sum | u128::from(byte) << (at * 8))
}

/// The integer that consists of the pieces, if all are known.
fn known_bytes(pieces: &[(u64, u64, Option<Held>)]) -> Option<u128> {
    let mut sum = 0u128;
    for (at, size, held) in pieces {
        for byte in 0..*size {
            let value = match held {
                None => 0,
                Some(Held::Fill(value)) => *value,
                Some(Held::Value(value, start)) => value.known_byte(start + byte as u32)?,
                Some(Held::Copy(..)) => return None,
            };
            sum |= u128::from(value) << ((at + byte) * 8);
        }
    }
    Some(sum)
}
