//! The objects of a program, which keep their identity from one attempt to the next, and the paths of calls.

use super::memory::Origin;
use super::state::PathId;
use super::value::ObjectId;
use crate::ir::{BlockId, FunctionId, GlobalId, ValueId};
use std::collections::HashMap;

/// What makes an object the one that it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Identity {
    Global(GlobalId),
    Argument(u32),
    /// A local variable of a call.
    Local(PathId, ValueId),
    /// The copy of an argument that a call gets by value.
    Copy(PathId, u32),
    /// The nth living object allocated at a place.
    Allocated(PathId, BlockId, u32, u32),
}

/// All objects and paths that have been seen.
#[derive(Default)]
pub(super) struct Objects {
    origins: Vec<Origin>,
    ids: HashMap<Identity, ObjectId>,
    identities: Vec<Identity>,
    paths: HashMap<(PathId, BlockId, u32, FunctionId), PathId>,
}

impl Objects {
    /// The object with an identity; made, when it is first seen, from what `origin` says.
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

    pub fn global(&self, global: GlobalId) -> Option<ObjectId> {
        self.ids.get(&Identity::Global(global)).copied()
    }

    /// The path that calls a function from a place of another path.
    pub fn path(&mut self, from: PathId, block: BlockId, index: usize, callee: FunctionId) -> PathId {
        let next = PathId(self.paths.len() as u32 + 1);
        *self.paths.entry((from, block, index as u32, callee)).or_insert(next)
    }
}
