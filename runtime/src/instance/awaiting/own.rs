//! Processes that await conditions of their own: lists of them in the order of their turns, and what they watch. Each
//! has a number, by which it is added, found and removed in constant time.

use alloc::vec::Vec;

use super::waiter::Waiter;
use super::watching::{Elements, Entry, NONE, Watching};
use crate::layout::WATCHED;

/// The number of a process that awaits a condition of its own.
pub type Number = u32;

/// All such processes of a component.
pub struct Owns {
    all: Vec<Own>,
    /// The first unused number; unused ones form a chain by `next`.
    free: Number,
    watching: Watching,
}

/// A process that awaits a condition of its own.
#[derive(Clone, Copy)]
pub struct Own {
    /// The process; none where the number is unused.
    waiter: Option<Waiter>,
    /// Its turn.
    pub turn: u64,
    /// The group that it belongs to.
    pub group: usize,
    watches: [Entry; WATCHED],
    before: Number,
    next: Number,
}

/// Those of one group, in the order in which they came.
pub struct List {
    first: Number,
    last: Number,
}

impl Own {
    /// The process.
    pub fn waiter(&self) -> Waiter {
        self.waiter.expect("it awaits")
    }
}

impl List {
    /// No waiters.
    pub const EMPTY: List = List { first: NONE, last: NONE };

    /// The first, if there is one.
    pub fn first(&self) -> Option<Number> {
        some(self.first)
    }
}

impl Owns {
    /// No waiters.
    pub const fn new() -> Owns {
        Owns { all: Vec::new(), free: NONE, watching: Watching::new() }
    }

    /// The process with a number, if that is used.
    pub fn get(&self, number: Number) -> Option<&Own> {
        self.all.get(number as usize).filter(|own| own.waiter.is_some())
    }

    /// The one that follows in its list.
    pub fn after(&self, number: Number) -> Option<Number> {
        some(self.all[number as usize].next)
    }

    /// Puts one at the end of its group's list.
    pub fn add(&mut self, list: &mut List, waiter: Waiter, turn: u64, group: usize) -> Number {
        let (waiter, watches) = (Some(waiter), [NONE; WATCHED]);
        let own = Own { waiter, turn, group, watches, before: list.last, next: NONE };
        let number = self.free;
        let number = if number == NONE {
            self.all.push(own);
            self.all.len() as Number - 1
        } else {
            self.free = core::mem::replace(&mut self.all[number as usize], own).next;
            number
        };
        match self.all.get_mut(list.last as usize) {
            Some(last) => last.next = number,
            None => list.first = number,
        }
        list.last = number;
        number
    }

    /// Takes one out of the list that it is in, and forgets what it watches.
    pub fn remove(&mut self, list: &mut List, number: Number) -> Own {
        self.watch(number, [0; WATCHED]);
        let own = self.all[number as usize];
        match self.all.get_mut(own.before as usize) {
            Some(before) => before.next = own.next,
            None => list.first = own.next,
        }
        match self.all.get_mut(own.next as usize) {
            Some(next) => next.before = own.before,
            None => list.last = own.before,
        }
        let unused = &mut self.all[number as usize];
        (unused.waiter, unused.next) = (None, self.free);
        self.free = number;
        own
    }

    /// Gives memory back when there are no waiters any more; keeps room for a few.
    pub fn forget_room(&mut self) {
        if self.all.len() > FEW {
            *self = Owns::new();
        }
    }

    /// Has a waiter watch these elements instead of those before.
    pub fn watch(&mut self, number: Number, elements: Elements) {
        let Owns { all, watching, .. } = self;
        for (entry, element) in all[number as usize].watches.iter_mut().zip(elements) {
            let before = if *entry == NONE { 0 } else { watching.element(*entry) };
            if before == element {
                continue;
            }
            if before != 0 {
                watching.remove(*entry);
            }
            *entry = if element == 0 { NONE } else { watching.insert(element, number) };
        }
    }

    /// The waiters that watch an element, in no order.
    pub fn watchers(&self, element: u64) -> impl Iterator<Item = Number> {
        self.watching.watchers(element)
    }
}

/// How many are a few.
const FEW: usize = 64;

fn some(number: Number) -> Option<Number> {
    (number != NONE).then_some(number)
}
