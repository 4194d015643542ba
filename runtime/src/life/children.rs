//! In which order siblings are deleted: none before its clients among them.
//!
//! There may be millions of them, so all is done in steps.
//!
//! # Why this is sound
//! The containers stay where they are while what holds them ends, and what they hold lives until it is deleted.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ptr::null_mut;

use super::owned::{Cell, Range};
use crate::communication::connection::direct_server;
use crate::instance::slots::required_slots;
use crate::layout::{Instance, RequiredSlot};

/// So many siblings at most are few.
const FEW: usize = 8;

/// Siblings that are to be deleted: again and again the first that no remaining one is a client of, or just the
/// first.
pub struct Children {
    /// Usually there are no others, so that they need no memory.
    first: Range,
    others: Box<[Range]>,
    /// The container that comes next: in which of the ranges, and where there.
    place: (usize, usize),
    stage: Stage,
    /// The one that is being deleted now.
    pub current: Cell,
    /// Made where it is needed.
    joints: Option<Box<Joints>>,
}

/// What is done for the next of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Does the order matter for it? Usually it does for none.
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
    /// Siblings without clients among them.
    free: BinaryHeap<Reverse<u32>>,
}

impl Children {
    /// Those in these containers.
    pub fn new(mut ranges: Vec<Range>) -> Children {
        let others = if ranges.len() > 1 { ranges.split_off(1) } else { Vec::new() }.into_boxed_slice();
        let first = ranges.first().copied().unwrap_or((null_mut(), 0));
        let (place, stage) = ((0, 0), Stage::Search);
        let mut children = Children { first, others, place, stage, current: null_mut(), joints: None };
        children.reconsider();
        children
    }

    /// In which order they go is to be found out, also if it has been already.
    pub fn reconsider(&mut self) {
        let is_alone = self.first.1 <= 1 && self.others.is_empty();
        (self.current, self.joints) = (null_mut(), None);
        self.begin_again(if is_alone { Stage::Delete } else { Stage::Search });
    }

    /// Whether so few containers are in question that it costs little to begin anew after each.
    pub fn are_few(&self) -> bool {
        self.others.len() < FEW
            && self.first.1 + self.others.iter().map(|range| range.1).sum::<usize>() <= FEW
    }

    /// The current one is this one, which is among them, and nothing has been done yet.
    pub unsafe fn find(&mut self, instance: *mut Instance) {
        let stage = self.stage;
        while let Some(cell) = self.following() {
            if *cell == instance {
                self.current = cell;
                break;
            }
        }
        self.begin_again(stage);
    }

    fn range(&self, index: usize) -> Option<Range> {
        if index == 0 { Some(self.first) } else { self.others.get(index - 1).copied() }
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
                Some(cell) => self.joints.get_or_insert_default().number(cell),
                None => self.begin_again(Stage::Count(0)),
            },
            Stage::Count(number) => {
                let has_counted = self.joints.as_mut().is_some_and(|joints| joints.count(number));
                self.stage = if has_counted { Stage::Count(number + 1) } else { Stage::Choose(0) };
            }
            Stage::Choose(number) => {
                let has_chosen = self.joints.as_mut().is_some_and(|joints| joints.choose(number));
                self.stage = if has_chosen { Stage::Choose(number + 1) } else { Stage::Delete };
            }
            Stage::Delete => return false,
        }
        true
    }

    fn begin_again(&mut self, stage: Stage) {
        (self.place, self.stage) = ((0, 0), stage);
    }

    /// The next container that is not empty.
    unsafe fn following(&mut self) -> Option<Cell> {
        while let Some((first, count)) = self.range(self.place.0) {
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

    /// The next to be deleted, which is then the current one; and whether it has clients among the others.
    pub unsafe fn next(&mut self) -> Option<(Cell, bool)> {
        while let Some(cell) = self.joints.as_mut().and_then(|joints| joints.next()) {
            if !(*cell).is_null() {
                self.current = cell;
                return Some((cell, false));
            }
        }
        self.current = self.following()?;
        Some((self.current, self.joints.is_some()))
    }

    /// Whether it is counted whose clients they are.
    pub fn know_joints(&self) -> bool {
        self.joints.is_some()
    }

    /// A sibling is about to lose its connections.
    pub unsafe fn leave(&mut self, instance: *mut Instance) {
        if let Some(joints) = &mut self.joints {
            joints.leave(instance);
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

    /// Counts whose client this one is; `false`: there is none of that number.
    unsafe fn count(&mut self, number: usize) -> bool {
        let Some(&cell) = self.cells.get(number) else { return false };
        required_slots(*cell, |slot| {
            if let Some(server) = self.server(slot) {
                self.clients[server] += 1;
            }
        });
        true
    }

    /// This one is free if it has no clients; `false`: there is none of that number.
    unsafe fn choose(&mut self, number: usize) -> bool {
        if self.clients.get(number) == Some(&0) {
            self.free(number);
        }
        number < self.clients.len()
    }

    /// This one has no clients any more.
    unsafe fn free(&mut self, number: usize) {
        let cell = self.cells[number];
        if !(*cell).is_null() {
            self.free.push(Reverse(number as u32));
        }
    }

    /// The first without clients.
    fn next(&mut self) -> Option<Cell> {
        self.free.pop().map(|Reverse(number)| self.cells[number as usize])
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
                    self.free(server);
                }
            }
        });
    }
}
