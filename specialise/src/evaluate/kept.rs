//! What is known of loops that stay loops, and of functions whose recursion does.

use super::state::{Frame, PathId, State};
use super::value::{ObjectId, Value};
use crate::ir::{BlockId, Type, ValueId};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A place that holds a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Slot {
    /// A value of the nth frame.
    Local(u32, ValueId),
    /// Bytes of an object that is held.
    Cell(ObjectId, u64, u64),
    /// The address of an allocated object.
    Base(ObjectId),
}

/// What is known of a loop that stays a loop: in what its rounds differ.
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

/// A version of a loop in the residual program.
pub(super) struct Variant {
    pub(super) block: BlockId,
    pub(super) state: State,
    pub(super) slots: Vec<(Slot, Type, Option<ObjectId>)>,
}

/// A function that is the body of a loop: what would have to be done after the calls that go back to its beginning, and
/// how it ends.
#[derive(Default)]
pub(super) struct Recursion {
    /// The allocated objects that are there, however the function is entered.
    pub(super) living: Option<BTreeSet<ObjectId>>,
    pub(super) calls: Vec<Rc<Call>>,
    pub(super) returns: Vec<Rc<Return>>,
}

/// A call that went back: the activations from the function's own to the one that calls.
pub(super) struct Call {
    pub(super) site: PathId,
    pub(super) frames: Vec<Frame>,
}

/// An end of the function: what was left behind, and the values of which it gives one.
pub(super) struct Return {
    pub(super) state: State,
    pub(super) values: Vec<Value>,
}
