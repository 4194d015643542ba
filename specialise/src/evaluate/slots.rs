//! Slots: the parts of a path in which two paths at the same place of the program can differ.

use super::machine::Machine;
use super::machine::operands::Leak;
use super::memory::Held;
use super::state::State;
use super::stop::Stop;
use super::value::{ObjectId, Value};
use crate::ir::{Access, Operand, Type, ValueId};

/// A place for a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Slot {
    /// A value of the nth frame.
    Local(u32, ValueId),
    /// Bytes of a held object.
    Cell(ObjectId, u64, u64),
    /// The address of an allocated object.
    Base(ObjectId),
}

impl Slot {
    /// Whether a path has this slot.
    pub fn exists(self, state: &State) -> bool {
        let contents = |object| state.facts.memory.get(object);
        match self {
            Slot::Local(..) => true,
            Slot::Base(object) => contents(object).is_some(),
            Slot::Cell(object, ..) => contents(object).is_some_and(|contents| !contents.real),
        }
    }

    /// The contents of the slot.
    pub fn get(self, state: &mut State, ty: &Type, machine: &mut Machine) -> Result<Value, Stop> {
        match self {
            Slot::Local(depth, value) => Ok(state.frames[depth as usize].values[value.0 as usize].clone()),
            Slot::Cell(object, offset, _) => {
                let place = Value::Pointer(object, offset as i64);
                machine.load(&mut state.facts, &place, ty, Access::Plain, 1)
            }
            Slot::Base(object) => {
                let base = machine.base(&state.facts, object);
                Ok(machine.known_or_dynamic(base))
            }
        }
    }

    /// Puts a residual value into the slot.
    pub fn set(self, state: &mut State, value: ValueId) {
        match self {
            Slot::Local(depth, local) => {
                state.frames.elements()[depth as usize].set(local, Value::Dynamic(value))
            }
            Slot::Cell(object, offset, size) => {
                if let Some(contents) = state.facts.memory.get_mut(object) {
                    contents.put(offset, size, Held::Value(Value::Dynamic(value), 0));
                }
            }
            Slot::Base(object) => {
                if let Some(contents) = state.facts.memory.get_mut(object) {
                    contents.base = Some(value);
                }
            }
        }
    }

    /// The type of the slot's contents in the residual program.
    pub fn type_in(self, state: &State, machine: &Machine) -> Type {
        match self {
            Slot::Local(depth, value) => state.frames[depth as usize].body.types[value.0 as usize].clone(),
            Slot::Base(_) => Type::Ptr,
            Slot::Cell(object, offset, size) => {
                let pointer = size == 8
                    && state.facts.memory.get(object).is_some_and(|contents| {
                        matches!(contents.cells.get(&offset), Some(cell) if cell.size == 8
                            && matches!(&cell.held, Held::Value(value, 0) if machine.type_of(value) == Type::Ptr))
                    });
                if pointer { Type::Ptr } else { Type::Int(size as u32 * 8) }
            }
        }
    }

    /// The contents as an operand. The address escapes, unless it points into `object`.
    pub fn operand(
        self,
        state: &mut State,
        ty: &Type,
        object: Option<ObjectId>,
        machine: &mut Machine,
    ) -> Result<Operand, Stop> {
        let value = self.get(state, ty, machine)?;
        let facts = &mut state.facts;
        let value = if value.is_undef() { Value::undef(ty) } else { value };
        let value =
            if matches!(self, Slot::Cell(..)) { machine.reinterpret(facts, value, ty)? } else { value };
        let leak = if object.is_some() { Leak::No } else { Leak::Yes };
        if object.is_none()
            && let Some(pointee) = machine.pointee(&value)
        {
            machine.escape(facts, pointee)?;
        }
        machine.operand(facts, &value, ty, leak)
    }
}
