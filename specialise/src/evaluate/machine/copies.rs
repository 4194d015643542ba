//! Copies and fills of a known number of bytes: the four cases of section 3.2.2 of *copy elimination*.

use super::Machine;
use crate::evaluate::facts::Facts;
use crate::evaluate::memory::Held;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::{ObjectId, Value};
use crate::ir::Type;

impl Machine<'_> {
    /// Copies a known number of bytes between known places.
    pub(super) fn copy(
        &mut self,
        facts: &mut Facts,
        to: &Value,
        from: &Value,
        size: u64,
    ) -> Result<bool, Stop> {
        let (Value::Pointer(target, to_offset), Value::Pointer(source, from_offset)) = (to, from) else {
            return Ok(false);
        };
        let (target, source) = (*target, *source);
        self.ensure(facts, target);
        self.ensure(facts, source);
        if *to_offset < 0 || *from_offset < 0 {
            return Ok(false);
        }
        let (to_offset, from_offset) = (*to_offset as u64, *from_offset as u64);
        let (Some(target_contents), Some(source_contents)) =
            (facts.memory.get(target), facts.memory.get(source))
        else {
            return Ok(true);
        };
        let clash = target == source || self.objects.may_overlap(target, source);
        if target_contents.real && source_contents.real && clash {
            return Ok(false);
        }
        self.notes.copy((target, to_offset), (source, from_offset), size, self.objects);
        if !target_contents.real {
            let source_real = source_contents.real;
            for (at, size, held) in source_contents.pieces(from_offset, size) {
                let held = match held {
                    Some(held) => held,
                    None if source_real => Held::Copy(source, from_offset + at),
                    None => Held::Value(Value::undef(&Type::Int(8)), 0),
                };
                if let Held::Copy(origin, _) = held {
                    facts.memory.note_copy(origin);
                }
                self.put(facts, target, to_offset + at, size, held);
            }
            return Ok(true);
        }
        // The source may hold copies of the very bytes that are overwritten; these are saved first.
        self.before_write(facts, to, Some(size))?;
        let Some(source_contents) = facts.memory.get(source) else { return Ok(true) };
        let source_real = source_contents.real;
        if source_real && clash {
            return Ok(false);
        }
        let pieces = source_contents.pieces(from_offset, size);
        let mut known = Vec::new();
        for (at, size, held) in joined(pieces, source_real.then_some((source, from_offset))) {
            let place = to_offset + at;
            self.write_held(facts, &Value::Pointer(target, 0), place, size, &held)?;
            known.push((place, size, held));
        }
        self.after_write(facts, to, size);
        for (place, size, held) in known {
            if let Held::Value(value, 0) = &held
                && !value.is_undef()
                && self.type_of(value).store_size() == size
            {
                self.put(facts, target, place, size, held);
            }
        }
        Ok(true)
    }

    /// Copies a known number of bytes from a held object to an unknown place ("dynamic destination, static source",
    /// section 3.2.2): one copy from each origin, so that the object itself is not needed.
    pub(super) fn copy_out(
        &mut self,
        facts: &mut Facts,
        to: &Value,
        from: &Value,
        size: u64,
    ) -> Result<bool, Stop> {
        let (Value::Dynamic(_), Value::Pointer(source, offset)) = (to, from) else { return Ok(false) };
        let (source, offset) = (*source, *offset);
        self.ensure(facts, source);
        let held = |facts: &Facts| facts.memory.get(source).is_some_and(|contents| !contents.real);
        if offset < 0 || !held(facts) {
            return Ok(false);
        }
        if let Some(object) = self.pointee(to) {
            self.materialise(facts, object)?;
        }
        // Origins that may be overwritten are saved first. The rest can be copied piece by piece.
        self.before_write(facts, to, Some(size))?;
        if !held(facts) {
            return Ok(false);
        }
        let pieces = facts.memory.get(source).map(|c| c.pieces(offset as u64, size)).unwrap_or_default();
        for (at, size, held) in joined(pieces, None) {
            self.write_held(facts, to, at, size, &held)?;
        }
        self.after_write(facts, to, size);
        Ok(true)
    }

    /// Sets a known number of bytes at a known place to a known byte.
    pub(super) fn fill(&mut self, facts: &mut Facts, to: &Value, byte: u8, size: u64) -> Result<bool, Stop> {
        let Value::Pointer(object, offset) = *to else { return Ok(false) };
        if offset < 0 {
            return Ok(false);
        }
        self.ensure(facts, object);
        let Some(contents) = facts.memory.get(object) else { return Ok(true) };
        if contents.real {
            self.before_write(facts, to, Some(size))?;
            self.write_held(facts, to, 0, size, &Held::Fill(byte))?;
            self.after_write(facts, to, size);
        }
        self.put(facts, object, offset as u64, size, Held::Fill(byte));
        Ok(true)
    }
}

/// The pieces of a source in the form in which they are written. Adjacent copies from one origin are joined into "a
/// single copy operation" (Figure 6 of *copy elimination*).
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
