//! The order in which siblings are deleted: none before its clients among them.
//!
//! There may be millions of them, so all is done in steps.
//!
//! # Why this is sound
//! The containers stay where they are while what holds them ends, and a component in one is there until it is deleted.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::owned::{Container, Range};
use crate::communication::connection::direct_server;
use crate::instance::slots::required_slots;
use crate::layout::Instance;

/// Most containers that are few.
const FEW: usize = 8;

/// Siblings that are to be deleted: always the first that has no clients among the rest, or else the first.
pub struct Children {
    /// The first range. Usually it is the only one, so that the others need no memory.
    first: Range,
    others: Box<[Range]>,
    /// The next container: the number of its range, and its index there.
    place: (usize, usize),
    stage: Stage,
    /// The container of the one that is being deleted now.
    pub current: Option<Container>,
    /// None where the order doesn't matter.
    joints: Option<Box<Joints>>,
}

/// What is done next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Looks for one that is a client of anything. Usually there is none, and the order doesn't matter.
    Search,
    /// Numbers them.
    Number,
    /// Counts this one as a client of its servers.
    Count(usize),
    /// Chooses this one as one of the first if it has no clients.
    Choose(usize),
    /// Deletes them.
    Delete,
}

/// Which siblings are clients of which, by their numbers.
#[derive(Default)]
struct Joints {
    containers: Vec<Container>,
    /// How many connections lead to each from those that remain.
    clients: Vec<u32>,
    /// Numbers by address.
    numbers: BTreeMap<usize, u32>,
    /// Siblings without clients among them.
    free: BinaryHeap<Reverse<u32>>,
}

impl Children {
    /// The components in these containers.
    pub fn new(mut ranges: Vec<Range>) -> Children {
        let others = if ranges.len() > 1 { ranges.split_off(1) } else { Vec::new() }.into_boxed_slice();
        let first = ranges.first().copied().unwrap_or(Range::EMPTY);
        let (place, stage) = ((0, 0), Stage::Search);
        let mut children = Children { first, others, place, stage, current: None, joints: None };
        children.reconsider();
        children
    }

    /// Forgets the order, which is then found anew.
    pub fn reconsider(&mut self) {
        let is_alone = self.first.count() <= 1 && self.others.is_empty();
        (self.current, self.joints) = (None, None);
        self.begin_again(if is_alone { Stage::Delete } else { Stage::Search });
    }

    /// Whether there are so few containers that it costs little to begin anew after each.
    pub fn are_few(&self) -> bool {
        self.others.len() < FEW
            && self.first.count() + self.others.iter().map(|range| range.count()).sum::<usize>() <= FEW
    }

    /// Makes this one, which is among them, the current one. Nothing has been done yet.
    pub fn find(&mut self, instance: *mut Instance) {
        let stage = self.stage;
        while let Some(container) = self.following() {
            if container.get() == instance {
                self.current = Some(container);
                break;
            }
        }
        self.begin_again(stage);
    }

    fn range(&self, index: usize) -> Option<Range> {
        if index == 0 { Some(self.first) } else { self.others.get(index - 1).copied() }
    }

    /// One step towards knowing the order; `false`: it is known.
    pub fn prepare(&mut self) -> bool {
        match self.stage {
            Stage::Search => match self.following() {
                Some(container) if is_client(container) => self.begin_again(Stage::Number),
                Some(_) => {}
                None => self.begin_again(Stage::Delete),
            },
            Stage::Number => match self.following() {
                Some(container) => self.joints.get_or_insert_default().number(container),
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
    fn following(&mut self) -> Option<Container> {
        while let Some(range) = self.range(self.place.0) {
            while let Some(container) = range.get(self.place.1) {
                self.place.1 += 1;
                if !container.get().is_null() {
                    return Some(container);
                }
            }
            self.place = (self.place.0 + 1, 0);
        }
        None
    }

    /// The next to be deleted, which is then the current one; and whether it has clients among the others.
    pub fn next(&mut self) -> Option<(Container, bool)> {
        while let Some(container) = self.joints.as_mut().and_then(|joints| joints.next()) {
            if !container.get().is_null() {
                self.current = Some(container);
                return Some((container, false));
            }
        }
        let container = self.following()?;
        self.current = Some(container);
        Some((container, self.joints.is_some()))
    }

    /// Whether the clients of each are counted.
    pub fn know_joints(&self) -> bool {
        self.joints.is_some()
    }

    /// A sibling is about to lose its connections.
    ///
    /// # Safety
    /// Its block is still there; on the home worker's thread.
    pub unsafe fn leave(&mut self, instance: *mut Instance) {
        if let Some(joints) = &mut self.joints {
            // SAFETY: the instance's block is still there; on the home worker's thread.
            unsafe { joints.leave(instance) };
        }
    }
}

/// Whether the component in a container is connected to another one itself.
fn is_client(container: Container) -> bool {
    let mut joined = false;
    // SAFETY: a component in a container is there.
    unsafe { servers(container.get(), |_| joined = true) };
    joined
}

/// Calls `each` with what the slots of a component are connected to directly.
///
/// # Safety
/// Its block is still there; on the home worker's thread.
unsafe fn servers(instance: *mut Instance, mut each: impl FnMut(*mut Instance)) {
    // SAFETY: the instance's block is still there; on the home worker's thread.
    unsafe {
        required_slots(instance, |slot| {
            let server = direct_server(slot);
            if !server.is_null() {
                each(server);
            }
        });
    }
}

impl Joints {
    fn number(&mut self, container: Container) {
        self.numbers.insert(container.get().addr(), self.containers.len() as u32);
        self.containers.push(container);
        self.clients.push(0);
    }

    /// Counts this one as a client of its servers; `false`: there is none of that number.
    fn count(&mut self, number: usize) -> bool {
        let Some(container) = self.containers.get(number) else { return false };
        let client = container.get();
        let count = |server| {
            if let Some(server) = self.sibling(client, server) {
                self.clients[server] += 1;
            }
        };
        // SAFETY: nothing has been deleted since it was numbered.
        unsafe { servers(client, count) };
        true
    }

    /// This one is free if it has no clients; `false`: there is none of that number.
    fn choose(&mut self, number: usize) -> bool {
        if self.clients.get(number) == Some(&0) {
            self.free(number);
        }
        number < self.clients.len()
    }

    /// This one has no clients any more.
    fn free(&mut self, number: usize) {
        if !self.containers[number].get().is_null() {
            self.free.push(Reverse(number as u32));
        }
    }

    /// The first without clients.
    fn next(&mut self) -> Option<Container> {
        self.free.pop().map(|Reverse(number)| self.containers[number as usize])
    }

    /// The number of a server, if that is a sibling of its client.
    fn sibling(&self, client: *mut Instance, server: *mut Instance) -> Option<usize> {
        if server == client {
            return None;
        }
        self.numbers.get(&server.addr()).map(|&number| number as usize)
    }

    /// # Safety
    /// As for [`Children::leave`].
    unsafe fn leave(&mut self, instance: *mut Instance) {
        self.numbers.remove(&instance.addr());
        let uncount = |server| {
            if let Some(server) = self.sibling(instance, server) {
                let clients = &mut self.clients[server];
                *clients = clients.saturating_sub(1);
                if *clients == 0 {
                    self.free(server);
                }
            }
        };
        // SAFETY: as for `Children::leave`.
        unsafe { servers(instance, uncount) };
    }
}
