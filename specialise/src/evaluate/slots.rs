//! The places of a path in which two paths at the same place of the program can differ.

use super::evaluator::{Evaluator, Stop};
use super::kept::Slot;
use super::memory::Held;
use super::operands::Leak;
use super::state::State;
use super::value::{ObjectId, Value};
use crate::ir::{Access, Operand, Type, ValueId};
use std::rc::Rc;

/// The longest difference between what two paths hold that becomes phis; a longer one makes the object real.
pub(super) const LONGEST_CELL: u64 = 64;

impl Evaluator<'_> {
    /// The values of a frame that are still wanted where it stands.
    pub fn wanted(&mut self, state: &State, depth: usize) -> Rc<[ValueId]> {
        let frame = &state.frames[depth];
        let top = depth + 1 == state.frames.len();
        let key = (frame.function, frame.block, frame.index, top);
        if let Some(known) = self.learnt.wanted.get(&key) {
            return known.clone();
        }
        let code = &frame.body.blocks[frame.block.0 as usize];
        let phis = code.phi_count();
        let wanted: Rc<[ValueId]> = if top && frame.index == phis {
            frame.flow.live_at(frame.block).iter().collect()
        } else if top {
            frame.flow.live_before(&frame.body, frame.block, frame.index).iter().collect()
        } else {
            let result = code.instructions[frame.index].result;
            let live = frame.flow.live_before(&frame.body, frame.block, frame.index + 1);
            live.iter().filter(|value| Some(*value) != result).collect()
        };
        self.learnt.wanted.insert(key, wanted.clone());
        wanted
    }

    /// What a slot holds.
    pub fn slot(&mut self, state: &mut State, slot: Slot, ty: &Type) -> Result<Value, Stop> {
        match slot {
            Slot::Local(depth, value) => Ok(state.frames[depth as usize].values[value.0 as usize].clone()),
            Slot::Cell(object, offset, _) => {
                self.load(state, &Value::Pointer(object, offset as i64), ty, Access::Plain, 1)
            }
            Slot::Base(object) => Ok(match self.base(state, object) {
                Operand::Value(value) => Value::Dynamic(value),
                Operand::Const(constant) => self.constant(&constant),
            }),
        }
    }

    /// Makes a slot hold a value of the residual program.
    pub fn set_slot(&mut self, state: &mut State, slot: Slot, value: ValueId) {
        match slot {
            Slot::Local(depth, local) => {
                state.frames.elements()[depth as usize].set(local, Value::Dynamic(value))
            }
            Slot::Cell(object, offset, size) => {
                if let Some(contents) = state.memory.get_mut(object) {
                    contents.put(offset, size, Held::Value(Value::Dynamic(value), 0));
                }
            }
            Slot::Base(object) => {
                if let Some(contents) = state.memory.get_mut(object) {
                    contents.base = Some(value);
                }
            }
        }
    }

    /// The type that the residual program gives to what a slot holds.
    pub fn slot_type(&mut self, state: &State, slot: Slot) -> Type {
        match slot {
            Slot::Local(depth, value) => state.frames[depth as usize].body.types[value.0 as usize].clone(),
            Slot::Base(_) => Type::Ptr,
            Slot::Cell(object, offset, size) => {
                let pointer = size == 8
                    && state.memory.get(object).is_some_and(|contents| {
                        matches!(contents.cells.get(&offset), Some(cell) if cell.size == 8
                            && matches!(&cell.held, Held::Value(value, 0) if self.type_of(value) == Type::Ptr))
                    });
                if pointer { Type::Ptr } else { Type::Int(size as u32 * 8) }
            }
        }
    }

    /// What a slot holds as an operand; its address is given away unless it points into `object`.
    pub fn slot_operand(
        &mut self,
        state: &mut State,
        slot: Slot,
        ty: &Type,
        object: Option<ObjectId>,
    ) -> Result<Operand, Stop> {
        let value = self.slot(state, slot, ty)?;
        let value = if value.is_undef() { Value::undef(ty) } else { value };
        let value = if matches!(slot, Slot::Cell(..)) { self.reinterpret(state, value, ty)? } else { value };
        let leak = if object.is_some() { Leak::No } else { Leak::Yes };
        if object.is_none()
            && let Some(pointee) = self.pointee(&value)
        {
            self.escape(state, pointee)?;
        }
        self.operand(state, &value, ty, leak)
    }

    /// The cells in which two held objects differ: offset, size.
    pub fn differing_cells(&self, a: &State, b: &State, object: ObjectId) -> Vec<(u64, u64)> {
        let (Some(x), Some(y)) = (a.memory.get(object), b.memory.get(object)) else { return Vec::new() };
        if std::ptr::eq(x, y) || x.cells == y.cells {
            return Vec::new();
        }
        let mut bounds: Vec<u64> = Vec::new();
        for contents in [x, y] {
            bounds.extend(contents.cells.iter().flat_map(|(at, cell)| [*at, *at + cell.size]));
        }
        bounds.sort_unstable();
        bounds.dedup();
        let mut differing: Vec<(u64, u64)> = Vec::new();
        for pair in bounds.windows(2) {
            let (at, size) = (pair[0], pair[1] - pair[0]);
            if x.pieces(at, size) != y.pieces(at, size) {
                differing.push((at, size));
            }
        }
        // A difference within what both wrote as one value is a difference of that value.
        differing
            .into_iter()
            .flat_map(|(at, size)| {
                let mut steps = Vec::new();
                let mut done = 0;
                while done < size && size <= LONGEST_CELL {
                    let step = [8, 4, 2, 1].into_iter().find(|step| *step <= size - done).unwrap_or(1);
                    steps.push((at + done, step));
                    done += step;
                }
                if size > LONGEST_CELL { vec![(at, size)] } else { steps }
            })
            .collect()
    }
}
