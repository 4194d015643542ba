//! Counts of what has gone through a binding.

use alloc::string::String;
use core::cell::{Cell, RefCell};

use drystone_component::Type;

use crate::values::Values;

/// See the head of this file; the binding's pumps count.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Communications that have begun.
    pub begun: Cell<u64>,
    /// Those of them that are open.
    pub open: Cell<u64>,
    /// Those that were lost.
    pub lost: Cell<u64>,
    /// Messages to the far side, and bytes of their values.
    pub sent: Cell<(u64, u64)>,
    /// Messages from the far side, and bytes of their values.
    pub received: Cell<(u64, u64)>,
    /// Why the last one was lost.
    pub why: RefCell<String>,
}

impl Traffic {
    pub(crate) fn begin(&self) {
        self.begun.set(self.begun.get() + 1);
        self.open.set(self.open.get() + 1);
    }

    pub(crate) fn end(&self) {
        self.open.set(self.open.get() - 1);
    }

    pub(crate) fn lose(&self, why: String) {
        self.lost.set(self.lost.get() + 1);
        *self.why.borrow_mut() = why;
    }
}

/// One message more.
pub(crate) fn count(so_far: &Cell<(u64, u64)>, values: &Values<'_>) {
    let of = |(index, parameter): (usize, &drystone_component::Parameter)| match parameter.ty {
        Type::Text => values.text(index).len(),
        Type::Boolean | Type::Character => 1,
        Type::Integer | Type::Real | Type::Component | Type::Sequence => 8,
    };
    let bytes: usize = values.parameters().iter().enumerate().map(of).sum();
    let (messages, all) = so_far.get();
    so_far.set((messages + 1, all + bytes as u64));
}
