//! Loops that stay loops, and recursive functions that become loops.

use super::objects::CallString;
use super::slots::Slot;
use super::state::{Frame, State};
use super::stop::Stop;
use super::value::{ObjectId, Value};
use crate::ir::{BlockId, Type};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What was found out about loops and recursion.
#[derive(Default)]
pub(super) struct Loops {
    /// Loops that stay loops, by their headers.
    pub directives: HashMap<(CallString, BlockId), Directive>,
    /// Calls within their own callee that are followed by more than giving back what they gave.
    pub followed: HashSet<CallString>,
}

impl Loops {
    /// Whether a loop stays a loop.
    pub fn stays(&self, chain: CallString, header: BlockId) -> bool {
        self.directives.contains_key(&(chain, header))
    }

    /// A loop stays one: the attempt is at its end.
    pub fn keep(&mut self, chain: CallString, header: BlockId) -> Result<(), Stop> {
        self.directives.entry((chain, header)).or_default();
        Err(Stop::Again)
    }

    /// Something more must be unknown at the header of a loop: the attempt is at its end.
    pub fn forget(&mut self, chain: CallString, header: BlockId, missing: Directive) -> Result<(), Stop> {
        self.directives.entry((chain, header)).or_default().add(missing);
        Err(Stop::Again)
    }
}

/// A directive: in what the rounds of a kept loop differ.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Directive {
    pub(super) slots: BTreeSet<Slot>,
    /// Those of the slots that hold pointers to more than one object.
    pub(super) anywhere: BTreeSet<Slot>,
    pub(super) real: BTreeSet<ObjectId>,
    pub(super) escaped: BTreeSet<ObjectId>,
    /// Bytes of real objects of which nothing is known at the header.
    pub(super) forgotten: BTreeSet<(ObjectId, u64, u64)>,
    /// Objects of which it isn't known at the header whether they are null.
    pub(super) may_be_null: BTreeSet<ObjectId>,
}

impl Directive {
    /// By how much the rounds differ.
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
            // Cells that overlap can't both be phis.
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

/// A recursive function that became a loop: its recursive calls, after each of which something might have to be done,
/// and its returns.
#[derive(Default)]
pub(super) struct Recursion {
    /// The allocated objects that are alive at every entry of the function.
    pub(super) living: Option<BTreeSet<ObjectId>>,
    pub(super) calls: Vec<Rc<Call>>,
    pub(super) returns: Vec<Rc<Return>>,
}

/// A recursive call that became a jump to the entry: the activations from the function's own to the caller's.
pub(super) struct Call {
    pub(super) site: CallString,
    pub(super) frames: Vec<Frame>,
}

/// A return of the function: the state it leaves, and the values of which it returns one.
pub(super) struct Return {
    pub(super) state: State,
    pub(super) values: Vec<Value>,
}
