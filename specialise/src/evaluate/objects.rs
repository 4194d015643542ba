//! The objects of a program, and chains of calls. Both keep their identity from one attempt to the next.

use super::value::ObjectId;
use crate::ir::{BlockId, FunctionId, GlobalId, Module, ValueId};
use std::collections::HashMap;
use std::rc::Rc;

/// A chain of call sites from the entry: the context in which a function is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct CallString(pub u32);

/// The identity of an object, the same in all attempts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Identity {
    Global(GlobalId),
    Argument(u32),
    /// A local variable of a call.
    Local(CallString, ValueId),
    /// The copy of an argument that a call passes by value.
    Copy(CallString, u32),
    /// The nth living object allocated at a place.
    Allocated(CallString, BlockId, u32, u32),
}

/// The origin of an object.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// A name for readers.
    pub name: Rc<str>,
    /// The size in bytes, if known.
    pub size: Option<u64>,
    /// The alignment.
    pub align: u64,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether other arguments and escaped objects may overlap it.
    pub shared: bool,
    /// Whether its address may be null.
    pub allocated: bool,
}

/// A place of the program, in a chain of calls.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub chain: CallString,
    pub block: BlockId,
    pub index: usize,
}

/// All objects and chains of calls seen so far.
#[derive(Default)]
pub(super) struct Objects {
    origins: Vec<Origin>,
    ids: HashMap<Identity, ObjectId>,
    identities: Vec<Identity>,
    chains: HashMap<(CallString, BlockId, u32, FunctionId), CallString>,
    /// The place that holds the address of memory that an initialiser allocated.
    pub found_at: HashMap<ObjectId, (ObjectId, u64)>,
}

impl Objects {
    /// The object with an identity. At first sight, it is created with the properties that `origin` gives.
    pub fn intern(&mut self, identity: Identity, origin: impl FnOnce() -> Origin) -> ObjectId {
        *self.ids.entry(identity).or_insert_with(|| {
            self.origins.push(origin());
            self.identities.push(identity);
            ObjectId(self.origins.len() as u32 - 1)
        })
    }

    pub fn origin(&self, object: ObjectId) -> &Origin {
        &self.origins[object.0 as usize]
    }

    pub fn origin_mut(&mut self, object: ObjectId) -> &mut Origin {
        &mut self.origins[object.0 as usize]
    }

    pub fn identity(&self, object: ObjectId) -> Identity {
        self.identities[object.0 as usize]
    }

    /// The object of a global variable, if there has been a use of it.
    pub fn global(&self, global: GlobalId) -> Option<ObjectId> {
        self.ids.get(&Identity::Global(global)).copied()
    }

    /// The object of a global variable of the program.
    pub fn global_of(&mut self, global: GlobalId, module: &Module) -> ObjectId {
        self.intern(Identity::Global(global), || {
            let variable = &module.globals[global.0 as usize];
            let replaceable = module.replaceable.contains(&variable.name);
            let is_this = variable.initial.is_some() && !replaceable;
            Origin {
                name: variable.name.clone(),
                size: is_this.then(|| variable.ty.layout().size),
                align: variable.align.max(1),
                constant: variable.constant,
                // A replaceable variable may be replaced by an alias of another object.
                shared: replaceable,
                // The address of a weak variable is null if no module defines it.
                allocated: variable.initial.is_none() && module.weak.contains(&variable.name),
            }
        })
    }

    /// Whether an argument of the entry points to this object.
    pub fn is_argument(&self, object: ObjectId) -> bool {
        matches!(self.identity(object), Identity::Argument(_))
    }

    /// Whether the evaluated code created the object, so that no other code can have kept its address.
    pub fn is_local(&self, object: ObjectId) -> bool {
        match self.identity(object) {
            Identity::Local(..) | Identity::Copy(..) => true,
            Identity::Allocated(..) => !self.found_at.contains_key(&object),
            Identity::Global(_) | Identity::Argument(_) => false,
        }
    }

    /// Whether two different objects may share bytes.
    pub fn may_overlap(&self, a: ObjectId, b: ObjectId) -> bool {
        self.origin(a).shared || self.origin(b).shared
    }

    /// The chain of a call from a place in another chain.
    pub fn chain(&mut self, from: Site, callee: FunctionId) -> CallString {
        let next = CallString(self.chains.len() as u32 + 1);
        *self.chains.entry((from.chain, from.block, from.index as u32, callee)).or_insert(next)
    }
}
