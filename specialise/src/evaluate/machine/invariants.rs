//! Initial values of variables, and how long they are valid.
//!
//! The bytes of a variable that the context calls constant are known unless the entry writes to them. If it does, they
//! are unknown from the beginning of the next attempt.

use super::Machine;
use crate::evaluate::memory::{Cell, Contents, Held};
use crate::evaluate::objects::Identity;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::{ObjectId, Value};
use crate::ir::{Const, GlobalId, Type};

impl Machine<'_> {
    /// Whether a variable keeps the value that the initialisers have left.
    pub fn is_invariant(&self, object: ObjectId) -> bool {
        let Identity::Global(global) = self.objects.identity(object) else { return false };
        let variable = &self.task.module.globals[global.0 as usize];
        variable.constant && self.task.is_settled(variable) || self.task.is_said_constant(variable)
    }

    /// The entry writes to memory: bytes there that were taken as constant become unknown, and the attempt ends.
    pub(super) fn check_invariant(&mut self, object: ObjectId, at: u64, size: u64) -> Result<(), Stop> {
        if self.initialising || self.objects.origin(object).constant {
            return Ok(());
        }
        let Some(initial) = self.initial.contents.get_mut(&object) else { return Ok(()) };
        let end = at.saturating_add(size);
        let cells = initial.cells.iter().filter(|(from, cell)| **from < end && at < **from + cell.size);
        let changed: Vec<u64> = cells.map(|(from, _)| *from).collect();
        if changed.is_empty() {
            return Ok(());
        }
        initial.cells.edit(|cells| cells.retain(|from, _| !changed.contains(from)));
        let lost =
            self.objects.found_at.iter().find(|(_, (holder, at))| *holder == object && changed.contains(at));
        match lost {
            None => Err(Stop::Again),
            Some((found, _)) => {
                let name = &self.objects.origin(*found).name;
                Err(Stop::Fail(format!(
                    "it changes a pointer to memory that an initialiser allocated ({name})"
                )))
            }
        }
    }

    /// The contents of a global variable before any initialiser has run.
    pub(super) fn initial_contents(&mut self, global: GlobalId) -> Contents {
        let object = self.objects.global_of(global, self.task.module);
        let module = self.task.module;
        let variable = &module.globals[global.0 as usize];
        if self.task.context.global.get(&*variable.name).is_some_and(|said| said.temporary) {
            return Contents::default();
        }
        let mut contents = Contents { real: true, escaped: true, ..Contents::default() };
        if let Some(initial) = variable.initial.as_ref().filter(|_| self.is_invariant(object)) {
            self.fill_in(&mut contents, 0, initial);
        }
        contents
    }

    /// Puts a constant into memory.
    pub fn fill_in(&mut self, contents: &mut Contents, at: u64, constant: &Const) {
        let mut put = |at: u64, size: u64, held: Held| {
            if size > 0 {
                contents.cells.edit(|cells| cells.insert(at, Cell { size, held }));
            }
        };
        match constant {
            Const::Undef(_) => {}
            Const::Zero(ty) => put(at, ty.layout().size, Held::Fill(0)),
            Const::Bytes(bytes) => {
                for (offset, byte) in bytes.iter().enumerate() {
                    put(at + offset as u64, 1, Held::Value(Value::int(8, u128::from(*byte)), 0));
                }
            }
            Const::Aggregate(ty, fields) => {
                let offsets = match ty {
                    Type::Array(_, element) | Type::Vector(_, element) => {
                        let size = element.layout().size;
                        (0..fields.len() as u64).map(|field| field * size).collect()
                    }
                    _ => ty.offsets(),
                };
                for (field, offset) in fields.iter().zip(offsets) {
                    self.fill_in(contents, at + offset, field);
                }
            }
            scalar => {
                let size = scalar.ty().store_size();
                let value = self.constant(scalar);
                let held = Held::Value(value, 0);
                contents.cells.edit(|cells| cells.insert(at, Cell { size, held }));
            }
        }
    }
}
