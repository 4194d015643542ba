//! Loops that are kept, and recursive functions that become loops.

use super::objects::CallString;
use super::slots::Slot;
use super::state::{Frame, State};
use super::stop::Stop;
use super::value::{ObjectId, Value};
use crate::ir::{BlockId, Type};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What attempts have found out about loops and recursion.
#[derive(Default)]
pub(super) struct Loops {
    /// The directives of kept loops, by their headers.
    pub directives: HashMap<(CallString, BlockId), Directive>,
    /// Recursive calls after which the function does more than return their result.
    pub followed: HashSet<CallString>,
}

impl Loops {
    /// Whether a loop is kept.
    pub fn stays(&self, chain: CallString, header: BlockId) -> bool {
        self.directives.contains_key(&(chain, header))
    }

    /// Records that a loop is kept, and ends the attempt.
    pub fn keep(&mut self, chain: CallString, header: BlockId) -> Result<(), Stop> {
        self.directives.entry((chain, header)).or_default();
        Err(Stop::Again)
    }

    /// Records that more must be unknown at the header of a loop, and ends the attempt.
    pub fn forget(&mut self, chain: CallString, header: BlockId, missing: Directive) -> Result<(), Stop> {
        self.directives.entry((chain, header)).or_default().add(missing);
        Err(Stop::Again)
    }
}

/// A directive: in which ways the rounds of a kept loop differ.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Directive {
    pub(super) slots: BTreeSet<Slot>,
    /// Those of the slots with pointers to more than one object.
    pub(super) anywhere: BTreeSet<Slot>,
    pub(super) real: BTreeSet<ObjectId>,
    pub(super) escaped: BTreeSet<ObjectId>,
    /// Bytes of real objects about which nothing is known at the header.
    pub(super) forgotten: BTreeSet<(ObjectId, u64, u64)>,
    /// Objects that may be null at the header.
    pub(super) may_be_null: BTreeSet<ObjectId>,
}

impl Directive {
    /// A measure of how much the rounds differ.
    pub fn weight(&self) -> usize {
        self.slots.len()
            + self.anywhere.len()
            + self.real.len()
            + self.escaped.len()
            + self.forgotten.len()
            + self.may_be_null.len()
    }

    fn add(&mut self, other: Directive) {
        for slot in other.slots {
            let Slot::Cell(object, at, size) = slot else {
                self.slots.insert(slot);
                continue;
            };
            let clashes = self.slots.iter().any(|known| {
                matches!(known, Slot::Cell(o, from, bytes)
                    if *o == object && *from < at + size && at < from + bytes && (*from, *bytes) != (at, size))
            });
            // Overlapping cells can't both be phis.
            if clashes {
                self.real.insert(object);
            } else {
                self.slots.insert(slot);
            }
        }
        self.anywhere.extend(other.anywhere);
        self.real.extend(other.real);
        self.escaped.extend(other.escaped);
        self.forgotten.extend(other.forgotten);
        self.may_be_null.extend(other.may_be_null);
    }
}

/// A version of a loop in the residual program.
pub(super) struct Variant {
    pub(super) block: BlockId,
    pub(super) state: State,
    pub(super) slots: Vec<(Slot, Type, Option<ObjectId>)>,
}

/// A recursive function that has become a loop: its recursive calls, after each of which the function might do
/// something more, and its returns.
#[derive(Default)]
pub(super) struct Recursion {
    /// The allocated objects that are alive at every entry of the function.
    pub(super) living: Option<BTreeSet<ObjectId>>,
    pub(super) calls: Vec<Rc<Call>>,
    pub(super) returns: Vec<Rc<Return>>,
}

/// A recursive call that has become a jump to the entry. `frames` are the activations from the function's own to the
/// caller's.
pub(super) struct Call {
    pub(super) site: CallString,
    pub(super) frames: Vec<Frame>,
}

/// A return of the function: the state that it leaves, and the possible return values.
pub(super) struct Return {
    pub(super) state: State,
    pub(super) values: Vec<Value>,
}
