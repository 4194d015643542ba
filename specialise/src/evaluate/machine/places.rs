//! Creates objects (global variables at their first use, local variables, allocated memory), and their addresses in the
//! residual program.

use super::Machine;
use crate::evaluate::facts::Facts;
use crate::evaluate::memory::{Contents, Held};
use crate::evaluate::objects::{Identity, Origin, Site};
use crate::evaluate::residual::PROLOGUE;
use crate::evaluate::value::ObjectId;
use crate::ir::{Access, Const, Op, Operand, Type, ValueId};
use std::rc::Rc;

impl Machine<'_> {
    /// Adds a global variable to a path's memory at its first use.
    pub fn ensure(&mut self, facts: &mut Facts, object: ObjectId) {
        if facts.memory.get(object).is_some() {
            return;
        }
        if let Some(contents) = self.initial.contents.get(&object) {
            facts.memory.insert(object, contents.clone());
            return;
        }
        if let Identity::Global(global) = self.objects.identity(object) {
            let contents = self.initial_contents(global);
            self.initial.contents.insert(object, contents.clone());
            facts.memory.insert(object, contents);
        }
    }

    /// A new local variable whose contents are followed. Its size must be known, and this place must not have one yet.
    pub fn local(
        &mut self,
        facts: &mut Facts,
        identity: Identity,
        name: &Rc<str>,
        size: u64,
        align: u64,
    ) -> Option<ObjectId> {
        let object = self.objects.intern(identity, || Origin {
            name: name.clone(),
            size: Some(size),
            align: align.max(1),
            constant: false,
            shared: false,
            allocated: false,
        });
        if facts.memory.get(object).is_some() {
            return None;
        }
        facts.memory.insert(object, Contents::default());
        Some(object)
    }

    /// The copy of an argument that is passed by value.
    pub fn argument_copy(
        &mut self,
        facts: &mut Facts,
        identity: Identity,
        name: Rc<str>,
        size: u64,
        align: u64,
    ) -> ObjectId {
        let copy = self.objects.intern(identity, || Origin {
            name,
            size: Some(size),
            align: align.max(1),
            constant: false,
            shared: false,
            allocated: false,
        });
        facts.memory.insert(copy, Contents::default());
        copy
    }

    /// Memory returned by a call of the allocator.
    pub(super) fn allocated(
        &mut self,
        facts: &mut Facts,
        site: Site,
        size: u64,
        filled: Option<u8>,
        base: ValueId,
    ) -> ObjectId {
        let mut number = 0;
        let object = loop {
            let identity = Identity::Allocated(site.chain, site.block, site.index as u32, number);
            let object = self.objects.intern(identity, || Origin {
                name: "allocated".into(),
                size: Some(size),
                align: 16,
                constant: false,
                shared: false,
                allocated: true,
            });
            if facts.memory.get(object).is_none() && !self.initial.contents.contains_key(&object) {
                break object;
            }
            number += 1;
        };
        self.objects.origin_mut(object).size = Some(size);
        let mut contents = Contents { base: Some(base), ..Contents::default() };
        if let Some(byte) = filled {
            contents.put(0, size, Held::Fill(byte));
        }
        facts.memory.insert(object, contents);
        facts.not_null.remove(&object);
        object
    }

    pub(super) fn may_be_null(&self, facts: &Facts, object: ObjectId) -> bool {
        self.objects.origin(object).allocated && !self.initialising && !facts.not_null.contains(&object)
    }

    /// The address of an object that has the same address on all paths.
    pub(super) fn fixed_base(&mut self, object: ObjectId) -> Operand {
        if let Some(base) = self.bases.get(&object) {
            return base.clone();
        }
        // The address belongs to no place of the source.
        let place = self.residual.place.take();
        let base = match self.objects.identity(object) {
            Identity::Global(global) => Operand::Const(Const::Global(global, 0)),
            Identity::Local(..) | Identity::Copy(..) => {
                let origin = self.objects.origin(object).clone();
                let count = Operand::Const(Const::int(64, 1));
                let op = Op::Alloca { size: origin.size.unwrap_or(0), count, align: origin.align };
                let value = self.residual.emit(PROLOGUE, Type::Ptr, op);
                self.residual.name(value, &origin.name);
                Operand::Value(value)
            }
            _ => match self.objects.found_at.get(&object).copied() {
                Some((parent, offset)) => {
                    let from = self.fixed_base(parent);
                    let from = self.residual.address(PROLOGUE, from, offset as i64);
                    let op = Op::Load { from, align: 8, access: Access::Plain };
                    Operand::Value(self.residual.emit(PROLOGUE, Type::Ptr, op))
                }
                None => Operand::Const(Const::Undef(Type::Ptr)),
            },
        };
        self.residual.place = place;
        self.bases.insert(object, base.clone());
        base
    }
}
