//! Where objects come from: global variables when they are first met, local ones, allocated memory; and what they are
//! called in the residual program.

use super::evaluator::{Evaluator, PROLOGUE, Stop};
use super::memory::{Contents, Held, Origin};
use super::objects::Identity;
use super::operands::Leak;
use super::state::State;
use super::value::{ObjectId, Value};
use crate::ir::{Access, Const, GlobalId, Op, Operand, Type, ValueId};

impl Evaluator<'_> {
    /// The object that a global variable is.
    pub(super) fn global(&mut self, global: GlobalId) -> ObjectId {
        if let Some(object) = self.learnt.objects.global(global) {
            return object;
        }
        let module = self.module;
        let variable = &module.globals[global.0 as usize];
        let replaceable = module.replaceable.contains(&variable.name);
        let is_this = variable.initial.is_some() && !replaceable;
        self.learnt.objects.intern(Identity::Global(global), || Origin {
            name: variable.name.clone(),
            size: is_this.then(|| variable.ty.layout().size),
            align: variable.align.max(1),
            constant: variable.constant,
            // What replaces it may be another name for something else.
            shared: replaceable,
            // The address of a weak variable that nobody defines is null.
            allocated: variable.initial.is_none() && module.weak.contains(&variable.name),
        })
    }

    /// Puts a global variable into a path's memory when it is first met.
    pub(super) fn ensure(&mut self, state: &mut State, object: ObjectId) {
        if state.memory.get(object).is_some() {
            return;
        }
        if let Some(contents) = self.learnt.initial.get(&object) {
            state.memory.insert(object, contents.clone());
            return;
        }
        if let Identity::Global(global) = self.learnt.objects.identity(object) {
            let contents = self.initial_contents(global);
            self.learnt.initial.insert(object, contents.clone());
            state.memory.insert(object, contents);
        }
    }

    /// Local variables.
    pub(super) fn alloca(
        &mut self,
        state: &mut State,
        result: ValueId,
        size: u64,
        count: &Value,
        align: u64,
    ) -> Result<Value, Stop> {
        let frame = state.top();
        let path = frame.path;
        let name = frame.body.names.get(result.0 as usize).cloned().unwrap_or_else(|| "local".into());
        let known = count.known_int().map(|count| count as u64 * size);
        let object = known.map(|bytes| {
            self.learnt.objects.intern(Identity::Local(path, result), || Origin {
                name,
                size: Some(bytes),
                align: align.max(1),
                constant: false,
                shared: false,
                allocated: false,
            })
        });
        match object {
            Some(object) if state.memory.get(object).is_none() => {
                state.memory.insert(object, Contents::default());
                state.top().locals.push(object);
                Ok(Value::Pointer(object, 0))
            }
            _ => {
                let ty = self.type_of(count);
                let count = self.operand(state, count, &ty, Leak::No)?;
                Ok(Value::Dynamic(self.emit(state, Type::Ptr, Op::Alloca { size, count, align })))
            }
        }
    }

    /// Memory that a call of the allocator gave.
    pub(super) fn allocated(
        &mut self,
        state: &mut State,
        size: u64,
        filled: Option<u8>,
        base: ValueId,
    ) -> ObjectId {
        let frame = state.top();
        let (path, block, index) = (frame.path, frame.block, frame.index as u32);
        let mut number = 0;
        let object = loop {
            let identity = Identity::Allocated(path, block, index, number);
            let object = self.learnt.objects.intern(identity, || Origin {
                name: "allocated".into(),
                size: Some(size),
                align: 16,
                constant: false,
                shared: false,
                allocated: true,
            });
            if state.memory.get(object).is_none() && !self.learnt.initial.contains_key(&object) {
                break object;
            }
            number += 1;
        };
        self.learnt.objects.origin_mut(object).size = Some(size);
        let mut contents = Contents { base: Some(base), ..Contents::default() };
        if let Some(byte) = filled {
            contents.put(0, size, Held::Fill(byte));
        }
        state.memory.insert(object, contents);
        state.not_null.remove(&object);
        object
    }

    pub(super) fn may_be_null(&self, state: &State, object: ObjectId) -> bool {
        self.learnt.objects.origin(object).allocated
            && !self.initialising
            && !state.not_null.contains(&object)
    }

    /// Whether an object is what an argument of the entry points to.
    pub(super) fn is_argument(&self, object: ObjectId) -> bool {
        matches!(self.learnt.objects.identity(object), Identity::Argument(_))
    }

    /// Whether nobody outside of this run can have known an object from before.
    pub(super) fn is_local(&self, object: ObjectId) -> bool {
        match self.learnt.objects.identity(object) {
            Identity::Local(..) | Identity::Copy(..) => true,
            Identity::Allocated(..) => !self.learnt.found_at.contains_key(&object),
            Identity::Global(_) | Identity::Argument(_) => false,
        }
    }

    /// The address of an object whose address is the same on all paths.
    pub(super) fn fixed_base(&mut self, object: ObjectId) -> Operand {
        if let Some(base) = self.bases.get(&object) {
            return base.clone();
        }
        let base = match self.learnt.objects.identity(object) {
            Identity::Global(global) => Operand::Const(Const::Global(global, 0)),
            Identity::Local(..) | Identity::Copy(..) => {
                let origin = self.learnt.objects.origin(object).clone();
                let count = Operand::Const(Const::int(64, 1));
                let op = Op::Alloca { size: origin.size.unwrap_or(0), count, align: origin.align };
                let value = self.residual.emit(PROLOGUE, Type::Ptr, op, None);
                self.residual.name(value, &origin.name);
                Operand::Value(value)
            }
            _ => match self.learnt.found_at.get(&object).copied() {
                Some((parent, offset)) => {
                    let from = self.fixed_base(parent);
                    let from = self.residual.address(PROLOGUE, from, offset as i64, None);
                    let op = Op::Load { from, align: 8, access: Access::Plain };
                    Operand::Value(self.residual.emit(PROLOGUE, Type::Ptr, op, None))
                }
                None => Operand::Const(Const::Undef(Type::Ptr)),
            },
        };
        self.bases.insert(object, base.clone());
        base
    }
}
