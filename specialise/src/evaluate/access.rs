//! Loads, stores and copies: what is done to memory that is only held, and what is left to the residual program.

use super::memory::Held;
use super::operands::Leak;
use super::state::State;
use super::value::{ObjectId, Value};
use super::{Evaluator, Stop};
use crate::ir::{Access, Binary, Cast, Const, Op, Operand, Type};

/// The longest copy that is loaded into values when its origin is about to change.
const LONGEST_SETTLED: u64 = 128;
/// The longest copy between real objects that is made by loads and stores.
const LONGEST_MOVED: u64 = 16;

impl Evaluator<'_> {
    /// Reads a value of a type.
    pub fn load(
        &mut self,
        state: &mut State,
        from: &Value,
        ty: &Type,
        access: Access,
        align: u64,
    ) -> Result<Value, Stop> {
        if access != Access::Plain {
            return self.load_as_it_stands(state, from, ty, access, align);
        }
        let Value::Pointer(object, offset) = *from else { return self.load_anywhere(state, from, ty, align) };
        self.ensure(state, object);
        if !ty.is_scalar() {
            return self.load_parts(state, object, offset, ty);
        }
        if offset < 0 {
            self.materialise(state, object)?;
            return self.load_anywhere(state, from, ty, align);
        }
        let (offset, size) = (offset as u64, ty.store_size());
        let Some(contents) = state.memory.get(object) else { return Ok(Value::undef(ty)) };
        // The common case first: the value is there as it was stored.
        if let Some(cell) = contents.cells.get(&offset)
            && cell.size == size
            && let Held::Value(value, 0) = &cell.held
        {
            let value = value.clone();
            return self.reinterpret(state, value, ty);
        }
        let real = contents.real;
        let pieces = contents.pieces(offset, size);
        if !real && pieces.iter().all(|(_, _, held)| held.is_none()) {
            return Ok(Value::undef(ty));
        }
        if let [(_, _, Some(Held::Copy(origin, at)))] = pieces[..] {
            let value = self.load(state, &Value::Pointer(origin, at as i64), ty, Access::Plain, 1)?;
            self.put(state, object, offset, size, Self::held(value.clone()));
            return Ok(value);
        }
        if real && pieces.iter().any(|(_, _, held)| !matches!(held, Some(Held::Value(..) | Held::Fill(_)))) {
            return self.load_known_place(state, object, offset, ty, align);
        }
        self.assemble(state, object, offset, &pieces, ty)
    }

    fn load_parts(
        &mut self,
        state: &mut State,
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
                self.materialise(state, object)?;
                return self.load_anywhere(state, &Value::Pointer(object, offset), ty, 1);
            }
        };
        let mut values = Vec::new();
        for (at, ty) in parts {
            values.push(self.load(
                state,
                &Value::Pointer(object, offset + at as i64),
                &ty,
                Access::Plain,
                1,
            )?);
        }
        Ok(Value::Aggregate(values.into()))
    }

    /// A load from real memory of which nothing is known; what it gives is known from then on.
    fn load_known_place(
        &mut self,
        state: &mut State,
        object: ObjectId,
        offset: u64,
        ty: &Type,
        align: u64,
    ) -> Result<Value, Stop> {
        let align = self.align_at(object, offset).max(align);
        let from = self.operand(state, &Value::Pointer(object, offset as i64), &Type::Ptr, Leak::No)?;
        let op = Op::Load { from, align, access: Access::Plain };
        let value = Value::Dynamic(self.emit(state, ty.clone(), op));
        if let Value::Dynamic(value) = value {
            self.loaded.insert(value, (object, offset));
        }
        if ty.bits() == ty.store_size() * 8 {
            self.put(state, object, offset, ty.store_size(), Self::held(value.clone()));
        }
        Ok(value)
    }

    /// A load through a pointer that is a value of the residual program.
    fn load_anywhere(
        &mut self,
        state: &mut State,
        from: &Value,
        ty: &Type,
        align: u64,
    ) -> Result<Value, Stop> {
        if let Some(object) = self.pointee(from) {
            self.materialise(state, object)?;
        }
        let from = self.operand(state, from, &Type::Ptr, Leak::No)?;
        let op = Op::Load { from, align, access: Access::Plain };
        Ok(Value::Dynamic(self.emit(state, ty.clone(), op)))
    }

    fn load_as_it_stands(
        &mut self,
        state: &mut State,
        from: &Value,
        ty: &Type,
        access: Access,
        align: u64,
    ) -> Result<Value, Stop> {
        if let Some(object) = self.pointee(from) {
            self.materialise(state, object)?;
        }
        let from = self.operand(state, from, &Type::Ptr, Leak::No)?;
        let value = Value::Dynamic(self.emit(state, ty.clone(), Op::Load { from, align, access }));
        if access == Access::Atomic {
            self.clobber_escaped(state)?;
        }
        Ok(value)
    }

    /// A value made of the bytes of several cells.
    fn assemble(
        &mut self,
        state: &mut State,
        object: ObjectId,
        offset: u64,
        pieces: &[(u64, u64, Option<Held>)],
        ty: &Type,
    ) -> Result<Value, Stop> {
        let size = ty.store_size();
        if size > 16 {
            self.materialise(state, object)?;
            return self.load_known_place(state, object, offset, ty, 1);
        }
        if let Some(known) = known_bytes(pieces) {
            return self.reinterpret(state, Value::int(size as u32 * 8, known), ty);
        }
        if pieces.iter().any(|(_, _, held)| matches!(held, Some(Held::Copy(..)))) {
            for (at, size, held) in pieces {
                if let Some(Held::Copy(..)) = held {
                    self.settle(state, object, offset + at, *size)?;
                }
            }
            let pieces = state.memory.get(object).map(|c| c.pieces(offset, size)).unwrap_or_default();
            return self.assemble(state, object, offset, &pieces, ty);
        }
        if let Some(whole) = self.whole_origin(state, pieces, size) {
            return self.reinterpret(state, whole, ty);
        }
        let width = Type::Int(size as u32 * 8);
        let mut sum: Option<Value> = None;
        for (at, piece_size, held) in pieces {
            let part = match held {
                Some(Held::Value(value, start)) => self.part(state, value, *start, *piece_size)?,
                Some(Held::Fill(byte)) => Value::int(*piece_size as u32 * 8, repeated(*byte, *piece_size)),
                _ => continue,
            };
            let part = self.cast(state, Cast::ZExt, part, &width)?;
            let by = Value::int(size as u32 * 8, u128::from(at * 8));
            let part = self.binary(state, Binary::Shl, part, by, &width)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => self.binary(state, Binary::Or, sum, part, &width)?,
            });
        }
        let whole = sum.unwrap_or_else(|| Value::undef(&width));
        self.reinterpret(state, whole, ty)
    }

    /// If the bytes are all those of one value in their order, or in the opposite one: that value, or its swap.
    fn whole_origin(
        &mut self,
        state: &State,
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
        let swap =
            self.intrinsic(&format!("llvm.bswap.i{}", size * 8), std::slice::from_ref(&whole), &whole)?;
        Some(Value::Dynamic(self.emit(state, whole, swap(vec![Operand::Value(root)]))))
    }

    /// Writes a value of a type.
    pub fn store(
        &mut self,
        state: &mut State,
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
            self.note_store(object, offset as u64, &value, ty.store_size());
            self.ensure(state, object);
            let Some(contents) = state.memory.get(object) else { return Ok(()) };
            if !contents.real {
                return self.hold(state, object, offset as u64, value, ty);
            }
        }
        let size = ty.store_size();
        self.before_write(state, to, Some(size))?;
        let operand = self.operand(state, &value, ty, Leak::Yes)?;
        if let Some(object) = self.pointee(to) {
            self.materialise(state, object)?;
        }
        let address = self.operand(state, to, &Type::Ptr, Leak::No)?;
        let align = match to {
            Value::Pointer(object, offset) => self.align_at(*object, *offset as u64).max(align),
            _ => align,
        };
        self.effect(state, Op::Store { value: operand, to: address, align, access });
        self.after_write(state, to, size);
        if access == Access::Atomic {
            self.clobber_escaped(state)?;
        }
        if let (Value::Pointer(object, offset), true, Access::Plain) = (to, ty.is_scalar(), access)
            && *offset >= 0
            && ty.bits() == size * 8
        {
            self.put(state, *object, *offset as u64, size, Self::held(value));
        }
        Ok(())
    }

    /// A store to an object that is only held.
    fn hold(
        &mut self,
        state: &mut State,
        object: ObjectId,
        offset: u64,
        value: Value,
        ty: &Type,
    ) -> Result<(), Stop> {
        if !ty.is_scalar() {
            if value.is_undef() {
                return Ok(());
            }
            let fields = self.fields(state, &value, ty)?;
            let parts: Vec<(u64, Type)> = match ty {
                Type::Struct { fields, .. } => ty.offsets().into_iter().zip(fields.iter().cloned()).collect(),
                Type::Array(_, element) => {
                    let size = element.layout().size;
                    (0..fields.len() as u64).map(|at| (at * size, (**element).clone())).collect()
                }
                _ => return Err(Stop::Fail(format!("a store of a value of type {ty:?}"))),
            };
            for ((at, ty), field) in parts.into_iter().zip(fields.iter()) {
                self.hold(state, object, offset + at, field.clone(), &ty)?;
            }
            return Ok(());
        }
        let size = ty.store_size();
        let value = if ty.bits() == size * 8 {
            value
        } else {
            self.cast(state, Cast::ZExt, value, &Type::Int(size as u32 * 8))?
        };
        self.put(state, object, offset, size, Self::held(value));
        Ok(())
    }

    /// Copies a known number of bytes between known places.
    pub fn copy(&mut self, state: &mut State, to: &Value, from: &Value, size: u64) -> Result<bool, Stop> {
        let (Value::Pointer(target, to_offset), Value::Pointer(source, from_offset)) = (to, from) else {
            return Ok(false);
        };
        let (target, source) = (*target, *source);
        self.ensure(state, target);
        self.ensure(state, source);
        if *to_offset < 0 || *from_offset < 0 {
            return Ok(false);
        }
        let (to_offset, from_offset) = (*to_offset as u64, *from_offset as u64);
        let (Some(target_contents), Some(source_contents)) =
            (state.memory.get(target), state.memory.get(source))
        else {
            return Ok(true);
        };
        let clash = target == source || self.may_overlap(target, source);
        if target_contents.real && source_contents.real && clash {
            return Ok(false);
        }
        self.note_copy(target, to_offset, source, from_offset, size);
        if !target_contents.real {
            let source_real = source_contents.real;
            for (at, size, held) in source_contents.pieces(from_offset, size) {
                let held = match held {
                    Some(held) => held,
                    None if source_real => Held::Copy(source, from_offset + at),
                    None => Held::Value(Value::undef(&Type::Int(8)), 0),
                };
                if let Held::Copy(origin, _) = held {
                    state.memory.note_copy(origin);
                }
                self.put(state, target, to_offset + at, size, held);
            }
            return Ok(true);
        }
        // What the source holds may be copies of the very bytes that are written; these are saved first.
        self.before_write(state, to, Some(size))?;
        let Some(source_contents) = state.memory.get(source) else { return Ok(true) };
        let source_real = source_contents.real;
        if source_real && clash {
            return Ok(false);
        }
        let pieces = source_contents.pieces(from_offset, size);
        let mut known = Vec::new();
        for (at, size, held) in joined(pieces, source_real.then_some((source, from_offset))) {
            let place = to_offset + at;
            self.write_held(state, &Value::Pointer(target, 0), place, size, &held)?;
            known.push((place, size, held));
        }
        self.after_write(state, to, size);
        for (place, size, held) in known {
            if let Held::Value(value, 0) = &held
                && !value.is_undef()
                && self.type_of(value).store_size() == size
            {
                self.put(state, target, place, size, held);
            }
        }
        Ok(true)
    }

    /// Sets a known number of bytes at a known place to a known byte.
    pub fn fill(&mut self, state: &mut State, to: &Value, byte: u8, size: u64) -> Result<bool, Stop> {
        let Value::Pointer(object, offset) = *to else { return Ok(false) };
        if offset < 0 {
            return Ok(false);
        }
        self.ensure(state, object);
        let Some(contents) = state.memory.get(object) else { return Ok(true) };
        if contents.real {
            self.before_write(state, to, Some(size))?;
            self.write_held(state, to, 0, size, &Held::Fill(byte))?;
            self.after_write(state, to, size);
        }
        self.put(state, object, offset as u64, size, Held::Fill(byte));
        Ok(true)
    }

    /// Makes the residual program write what a cell holds to real memory, some bytes after a pointer.
    fn write_held(
        &mut self,
        state: &mut State,
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
                let operand = self.operand(state, &value, &ty, Leak::Yes)?;
                self.emit_store(state, to, offset, operand)?;
            }
            Held::Value(value, start) => {
                let (mut done, value) = (0, value.clone());
                while done < size {
                    let step = largest_step(size - done);
                    let part = self.part(state, &value, start + done as u32, step)?;
                    let operand = self.operand(state, &part, &Type::Int(step as u32 * 8), Leak::Yes)?;
                    self.emit_store(state, to, offset + done, operand)?;
                    done += step;
                }
            }
            Held::Fill(byte) if size <= LONGEST_MOVED => {
                let mut done = 0;
                while done < size {
                    let step = largest_step(size - done);
                    let operand = Operand::Const(Const::int(step as u32 * 8, repeated(*byte, step)));
                    self.emit_store(state, to, offset + done, operand)?;
                    done += step;
                }
            }
            Held::Fill(byte) => {
                let to = self.place_after(state, to, offset)?;
                let byte = Operand::Const(Const::int(8, u128::from(*byte)));
                let size = Operand::Const(Const::int(64, u128::from(size)));
                self.emit_memory_call(state, "memset", vec![to, byte, size])?;
            }
            Held::Copy(origin, from) if size <= LONGEST_MOVED => {
                let mut done = 0;
                let mut loaded = Vec::new();
                while done < size {
                    let step = largest_step(size - done);
                    let value =
                        self.load_known_place(state, *origin, from + done, &Type::Int(step as u32 * 8), 1)?;
                    loaded.push((done, value));
                    done += step;
                }
                for (at, value) in loaded {
                    let ty = self.type_of(&value);
                    let operand = self.operand(state, &value, &ty, Leak::Yes)?;
                    self.emit_store(state, to, offset + at, operand)?;
                }
            }
            Held::Copy(origin, from) => {
                let to = self.place_after(state, to, offset)?;
                let from =
                    self.operand(state, &Value::Pointer(*origin, *from as i64), &Type::Ptr, Leak::No)?;
                let size = Operand::Const(Const::int(64, u128::from(size)));
                self.emit_memory_call(state, "memcpy", vec![to, from, size])?;
            }
        }
        Ok(())
    }

    fn emit_store(&mut self, state: &mut State, to: &Value, offset: u64, value: Operand) -> Result<(), Stop> {
        let align = match to {
            Value::Pointer(object, at) => self.align_at(*object, at.wrapping_add(offset as i64) as u64),
            _ => 1,
        };
        let to = self.place_after(state, to, offset)?;
        self.effect(state, Op::Store { value, to, align, access: Access::Plain });
        Ok(())
    }

    /// The address some bytes after a pointer.
    fn place_after(&mut self, state: &mut State, to: &Value, offset: u64) -> Result<Operand, Stop> {
        if let Value::Pointer(object, at) = to {
            let there = Value::Pointer(*object, at.wrapping_add(offset as i64));
            return self.operand(state, &there, &Type::Ptr, Leak::No);
        }
        let base = self.operand(state, to, &Type::Ptr, Leak::No)?;
        Ok(self.residual.address(state.block, base, offset as i64, self.place))
    }

    /// Copies a known number of bytes from an object that is only held to where it isn't known ("dynamic destination,
    /// static source", section 3.2.2): one copy from each origin, and the object itself is not needed.
    pub fn copy_out(&mut self, state: &mut State, to: &Value, from: &Value, size: u64) -> Result<bool, Stop> {
        let (Value::Dynamic(_), Value::Pointer(source, offset)) = (to, from) else { return Ok(false) };
        let (source, offset) = (*source, *offset);
        self.ensure(state, source);
        let held = |state: &State| state.memory.get(source).is_some_and(|contents| !contents.real);
        if offset < 0 || !held(state) {
            return Ok(false);
        }
        if let Some(object) = self.pointee(to) {
            self.materialise(state, object)?;
        }
        // Origins that may be overwritten are saved; what is left can be copied piece by piece.
        self.before_write(state, to, Some(size))?;
        if !held(state) {
            return Ok(false);
        }
        let pieces = state.memory.get(source).map(|c| c.pieces(offset as u64, size)).unwrap_or_default();
        for (at, size, held) in joined(pieces, None) {
            self.write_held(state, to, at, size, &held)?;
        }
        self.after_write(state, to, size);
        Ok(true)
    }

    /// Makes an object real: all that is held is written to the residual program's memory.
    pub fn materialise(&mut self, state: &mut State, object: ObjectId) -> Result<(), Stop> {
        self.ensure(state, object);
        let Some(contents) = state.memory.get_mut(object) else { return Ok(()) };
        if contents.real {
            return Ok(());
        }
        contents.real = true;
        let cells: Vec<_> = contents.cells.iter().map(|(at, cell)| (*at, cell.clone())).collect();
        for (at, cell) in &cells {
            self.write_held(state, &Value::Pointer(object, 0), *at, cell.size, &cell.held)?;
        }
        if let Some(contents) = state.memory.get_mut(object) {
            // What stands in memory is known only as far as it can be read back as it was written.
            contents.cells.retain(|_, cell| {
                matches!(&cell.held, Held::Value(value, 0) if !value.is_undef())
                    || matches!(cell.held, Held::Fill(_))
            });
        }
        self.note_materialised(object);
        Ok(())
    }

    /// Gives an object's address away.
    pub fn escape(&mut self, state: &mut State, object: ObjectId) -> Result<(), Stop> {
        self.materialise(state, object)?;
        if let Some(contents) = state.memory.get(object)
            && !contents.escaped
            && let Some(contents) = state.memory.get_mut(object)
        {
            contents.escaped = true;
        }
        Ok(())
    }

    /// Turns a cell that holds a copy into one that doesn't, because its origin is about to change.
    pub fn settle(&mut self, state: &mut State, holder: ObjectId, at: u64, size: u64) -> Result<(), Stop> {
        let Some(contents) = state.memory.get_mut(holder) else { return Ok(()) };
        if contents.real {
            contents.forget(at, size);
            return Ok(());
        }
        if size > LONGEST_SETTLED {
            return self.materialise(state, holder);
        }
        for (from, piece_size, held) in contents.pieces(at, size) {
            let Some(Held::Copy(origin, origin_at)) = held else { continue };
            let mut done = 0;
            while done < piece_size {
                let step = largest_step(piece_size - done);
                let ty = Type::Int(step as u32 * 8);
                let origin_place = Value::Pointer(origin, (origin_at + done) as i64);
                let value = self.load(state, &origin_place, &ty, Access::Plain, 1)?;
                self.put(state, holder, at + from + done, step, Self::held(value));
                done += step;
            }
        }
        Ok(())
    }

    /// Before bytes are written: what was copied from them is saved.
    pub fn before_write(&mut self, state: &mut State, to: &Value, size: Option<u64>) -> Result<(), Stop> {
        let written: Vec<ObjectId> = match self.pointee(to) {
            Some(object) => std::iter::once(object).chain(self.overlapping(state, object)).collect(),
            None => self.reachable(state),
        };
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
            for (holder, at, size) in state.memory.copies_of(object, at, size) {
                self.settle(state, holder, at, size)?;
            }
        }
        Ok(())
    }

    /// After bytes were written by the residual program: what was known of them is forgotten.
    pub fn after_write(&mut self, state: &mut State, to: &Value, size: u64) {
        let target = self.pointee(to);
        let others = match target {
            Some(object) => self.overlapping(state, object),
            None => self.reachable(state),
        };
        for object in others {
            self.forget_all(state, object);
        }
        match (to, target) {
            (Value::Pointer(object, offset), _) if *offset >= 0 => {
                if let Some(contents) = state.memory.get_mut(*object) {
                    contents.forget(*offset as u64, size);
                }
            }
            (_, Some(object)) => self.forget_all(state, object),
            _ => {}
        }
    }

    fn forget_all(&mut self, state: &mut State, object: ObjectId) {
        if self.objects.origin(object).constant {
            return;
        }
        if let Some(contents) = state.memory.get(object)
            && contents.real
            && !contents.cells.is_empty()
            && let Some(contents) = state.memory.get_mut(object)
        {
            // What is said to be constant stays, whoever may write elsewhere in the same variable.
            match self.initial.get(&object) {
                Some(initial) => contents.cells.retain(|at, cell| initial.cells.get(at) == Some(cell)),
                None => contents.cells.clear(),
            }
        }
    }

    /// The objects that a write through a pointer of unknown origin may touch.
    fn reachable(&mut self, state: &State) -> Vec<ObjectId> {
        let objects = state.memory.iter().filter(|(_, contents)| contents.escaped).map(|(object, _)| object);
        objects.filter(|object| !self.objects.origin(*object).constant).collect()
    }

    /// The other objects that a write to this one may touch.
    fn overlapping(&mut self, state: &State, object: ObjectId) -> Vec<ObjectId> {
        let escaped = state.memory.get(object).is_some_and(|contents| contents.escaped);
        if !escaped {
            return Vec::new();
        }
        let shared = self.objects.origin(object).shared;
        let mut others = self.reachable(state);
        others.retain(|other| *other != object && (shared || self.objects.origin(*other).shared));
        others
    }

    /// Whether two different objects may share bytes.
    pub fn may_overlap(&self, a: ObjectId, b: ObjectId) -> bool {
        self.objects.origin(a).shared || self.objects.origin(b).shared
    }

    /// Something that the evaluator doesn't see may have written to every escaped object.
    pub fn clobber_escaped(&mut self, state: &mut State) -> Result<(), Stop> {
        let reachable = self.reachable(state);
        for object in &reachable {
            for (holder, at, size) in state.memory.copies_of(*object, 0, u64::MAX) {
                self.settle(state, holder, at, size)?;
            }
        }
        for object in reachable {
            self.forget_all(state, object);
        }
        Ok(())
    }

    /// Something that the evaluator doesn't see may have written to one object.
    pub fn clobber(&mut self, state: &mut State, object: ObjectId) -> Result<(), Stop> {
        for (holder, at, size) in state.memory.copies_of(object, 0, u64::MAX) {
            self.settle(state, holder, at, size)?;
        }
        self.forget_all(state, object);
        Ok(())
    }

    /// Takes an object out of memory at the end of its life.
    pub fn end_of_life(&mut self, state: &mut State, object: ObjectId) -> Result<(), Stop> {
        for (holder, at, size) in state.memory.copies_of(object, 0, u64::MAX) {
            if holder != object {
                self.settle(state, holder, at, size)?;
            }
        }
        state.memory.remove(object);
        Ok(())
    }

    fn put(&mut self, state: &mut State, object: ObjectId, offset: u64, size: u64, held: Held) {
        if let Some(contents) = state.memory.get_mut(object) {
            contents.put(offset, size, held);
        }
    }

    /// What the address of a byte of an object is a multiple of.
    pub fn align_at(&self, object: ObjectId, offset: u64) -> u64 {
        let align = self.objects.origin(object).align.max(1);
        if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
    }
}

/// The largest power of two, at most 8, that is not more than what is left.
fn largest_step(left: u64) -> u64 {
    match left {
        8.. => 8,
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

/// An integer of so many bytes, all the same.
fn repeated(byte: u8, size: u64) -> u128 {
    (0..size.min(16)).fold(0, |sum, at| sum | u128::from(byte) << (at * 8))
}

/// The integer that the pieces make, if all is known.
fn known_bytes(pieces: &[(u64, u64, Option<Held>)]) -> Option<u128> {
    let mut sum = 0u128;
    for (at, size, held) in pieces {
        for byte in 0..*size {
            let value = match held {
                None => 0,
                Some(Held::Fill(value)) => *value,
                Some(Held::Value(value, start)) => Evaluator::known_byte(value, start + byte as u32)?,
                Some(Held::Copy(..)) => return None,
            };
            sum |= u128::from(value) << ((at + byte) * 8);
        }
    }
    Some(sum)
}

/// The pieces of a source as what is to be written, with neighbours that are copies of one origin put together: "a
/// single copy operation" (Figure 6 of the paper).
fn joined(pieces: Vec<(u64, u64, Option<Held>)>, source: Option<(ObjectId, u64)>) -> Vec<(u64, u64, Held)> {
    let mut joined: Vec<(u64, u64, Held)> = Vec::new();
    for (at, size, held) in pieces {
        let held = match (held, source) {
            (Some(held), _) => held,
            (None, Some((object, offset))) => Held::Copy(object, offset + at),
            (None, None) => continue,
        };
        if let (Some((before, before_size, Held::Copy(a, from))), Held::Copy(b, next)) =
            (joined.last_mut(), &held)
            && a == b
            && *from + *before_size == *next
            && *before + *before_size == at
        {
            *before_size += size;
            continue;
        }
        joined.push((at, size, held));
    }
    joined
}
