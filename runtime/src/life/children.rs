//! In which order siblings are deleted: none before its clients among them.
//!
//! There may be millions of them, so all is done in steps.
//!
//! # Why this is sound
//! The containers stay where they are while what holds them ends, and what they hold lives until it is deleted.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ptr::null_mut;

use super::owned::{Cell, Range};
use crate::communication::connection::{direct_server, required_slots};
use crate::layout::{Instance, RequiredSlot};

/// Siblings that are to be deleted: again and again the first that no remaining one is a client of, or just the
/// first.
pub struct Children {
    ranges: Vec<Range>,
    /// The container that comes next: in which of the ranges, and where there.
    place: (usize, usize),
    stage: Stage,
    /// The one that is being deleted now.
    pub current: Cell,
    joints: Joints,
}

/// What is done for the next of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Is it a client of another? Usually none is.
    Search,
    /// It gets a number.
    Number,
    /// Whose client is this one?
    Count(usize),
    /// Has this one no clients?
    Choose(usize),
    /// It is deleted.
    Delete,
}

/// Which siblings are clients of which, by their numbers.
#[derive(Default)]
struct Joints {
    cells: Vec<Cell>,
    /// How many connections lead to each from others that remain.
    clients: Vec<u32>,
    /// Numbers by address.
    numbers: BTreeMap<usize, u32>,
    /// Siblings without clients.
    free: BinaryHeap<Reverse<u32>>,
}

impl Children {
    /// Those in these containers.
    pub fn new(ranges: Vec<Range>) -> Children {
        let is_alone = matches!(ranges[..], [] | [(_, 1)]);
        let stage = if is_alone { Stage::Delete } else { Stage::Search };
        Children { ranges, place: (0, 0), stage, current: null_mut(), joints: Joints::default() }
    }

    /// One step towards knowing who is a client of whom; `false`: that is known.
    pub unsafe fn prepare(&mut self) -> bool {
        match self.stage {
            Stage::Search => match self.following() {
                Some(cell) if is_client(*cell) => self.begin_again(Stage::Number),
                Some(_) => {}
                None => self.begin_again(Stage::Delete),
            },
            Stage::Number => match self.following() {
                Some(cell) => self.joints.number(cell),
                None => self.begin_again(Stage::Count(0)),
            },
            Stage::Count(number) if number < self.joints.cells.len() => {
                self.joints.count(number);
                self.stage = Stage::Count(number + 1);
            }
            Stage::Count(_) => self.stage = Stage::Choose(0),
            Stage::Choose(number) if number < self.joints.cells.len() => {
                self.joints.choose(number);
                self.stage = Stage::Choose(number + 1);
            }
            Stage::Choose(_) => self.stage = Stage::Delete,
            Stage::Delete => return false,
        }
        true
    }

    fn begin_again(&mut self, stage: Stage) {
        (self.place, self.stage) = ((0, 0), stage);
    }

    /// The next container that is not empty.
    unsafe fn following(&mut self) -> Option<Cell> {
        while let Some(&(first, count)) = self.ranges.get(self.place.0) {
            while self.place.1 < count {
                let cell = first.add(self.place.1);
                self.place.1 += 1;
                if !(*cell).is_null() {
                    return Some(cell);
                }
            }
            self.place = (self.place.0 + 1, 0);
        }
        None
    }

    /// The next to be deleted, which is then the current one.
    pub unsafe fn next(&mut self) -> Option<Cell> {
        while let Some(Reverse(number)) = self.joints.free.pop() {
            self.current = self.joints.cells[number as usize];
            if !(*self.current).is_null() {
                return Some(self.current);
            }
        }
        self.current = self.following()?;
        Some(self.current)
    }

    /// A sibling is about to lose its connections.
    pub unsafe fn leave(&mut self, instance: *mut Instance) {
        if !self.joints.cells.is_empty() {
            self.joints.leave(instance);
        }
    }
}

/// Whether a component is connected to another one itself.
unsafe fn is_client(instance: *mut Instance) -> bool {
    let mut joined = false;
    required_slots(instance, |slot| joined |= !direct_server(slot).is_null());
    joined
}

impl Joints {
    unsafe fn number(&mut self, cell: Cell) {
        self.numbers.insert((*cell).addr(), self.cells.len() as u32);
        self.cells.push(cell);
        self.clients.push(0);
    }

    unsafe fn count(&mut self, number: usize) {
        required_slots(*self.cells[number], |slot| {
            if let Some(server) = self.server(slot) {
                self.clients[server] += 1;
            }
        });
    }

    fn choose(&mut self, number: usize) {
        if self.clients[number] == 0 {
            self.free.push(Reverse(number as u32));
        }
    }

    /// The sibling that a slot of another one is connected to.
    unsafe fn server(&self, slot: *mut RequiredSlot) -> Option<usize> {
        let server = direct_server(slot);
        if server.is_null() || server == (*slot).instance {
            return None;
        }
        self.numbers.get(&server.addr()).map(|&number| number as usize)
    }

    unsafe fn leave(&mut self, instance: *mut Instance) {
        self.numbers.remove(&instance.addr());
        required_slots(instance, |slot| {
            if let Some(server) = self.server(slot) {
                let clients = &mut self.clients[server];
                *clients = clients.saturating_sub(1);
                if *clients == 0 {
                    self.free.push(Reverse(server as u32));
                }
            }
        });
    }
}
