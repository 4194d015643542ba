//! What is deleted last, where components end together with what holds them: whoever is exported. For who comes by a
//! name may be anywhere, also in this program, and may come while others end. So a deletion passes over them, at
//! whatever depth they are held, and comes back for one after the other when nothing else is left.
//!
//! # Why this is sound
//! A deletion that comes back holds what it has passed over as long as nothing is ended by force ([`Late::is_valid`]).
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem::take;
use core::ptr::null_mut;

use super::owned::Cell;
use crate::communication::connection::{first_client, has_name};
use crate::far::standing::{self, Binding};
use crate::home::home;
use crate::instance::slots::{inward_slots, required_slots};
use crate::instance::{holder_of, template_of};
use crate::layout::{Instance, RequiredSlot, Worker};
use crate::worker::ground;

/// What the deletion of a component, or of what a process holds, has passed over.
#[derive(Default)]
pub struct Late {
    /// Those who are late: the container here that leads to each, and a number in the order in which they were found.
    ways: BTreeMap<*mut Instance, (Cell, usize)>,
    /// The containers that lead to some.
    cells: BTreeSet<Cell>,
    /// Those of whom the deletion around this one has not been told; and what had been ended by force when it was told
    /// last.
    news: Vec<*mut Instance>,
    told: u64,
    /// In which order they go, the first last: for the outermost.
    order: Vec<*mut Instance>,
    found: usize,
    /// How much had been ended by force when the first was passed over.
    forced: u64,
}

impl Late {
    /// Whether all that it leads to is still there.
    pub unsafe fn is_valid(&self, w: *mut Worker) -> bool {
        self.is_new() || self.forced == (*home(w)).deletions.forced
    }

    /// Whether nothing has been passed over.
    pub fn is_new(&self) -> bool {
        self.ways.is_empty() && self.cells.is_empty()
    }

    /// Whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Whether a container leads to something late.
    pub fn leads(&self, cell: Cell) -> bool {
        self.cells.contains(&cell)
    }

    /// A component is late: it is in this container, or within what that holds.
    pub unsafe fn add(&mut self, w: *mut Worker, instance: *mut Instance, cell: Cell) {
        if self.is_new() {
            self.forced = (*home(w)).deletions.forced;
        }
        self.found += 1;
        self.ways.insert(instance, (cell, self.found));
        self.cells.insert(cell);
        self.news.push(instance);
        self.order.clear();
    }

    /// A deletion within this one, of what is in the container, waits for its turn, with these that are late.
    pub unsafe fn add_all(&mut self, w: *mut Worker, within: &mut Late, cell: Cell) {
        let mut news = take(&mut within.news);
        if self.is_new() || within.told != self.forced {
            news = within.ways.keys().copied().collect();
        }
        for instance in news {
            self.add(w, instance, cell);
        }
        self.cells.insert(cell);
        within.told = self.forced;
    }

    /// Whose turn it is, for the outermost; null if nobody is late.
    pub unsafe fn next(&mut self, w: *mut Worker) -> *mut Instance {
        // Who waits for what is found out only if somebody is late: it takes a look at all bindings of the program.
        if self.order.is_empty() && !self.ways.is_empty() {
            self.order = order(w, &self.ways);
        }
        self.order.pop().unwrap_or(null_mut())
    }

    /// The container that leads to one whose turn it is. `None`: it is not late.
    pub fn turn(&mut self, instance: *mut Instance) -> Option<Cell> {
        let (cell, _) = self.ways.remove(&instance)?;
        self.cells.remove(&cell);
        Some(cell)
    }
}

/// Whether anybody may reach a component by a name. Through what a component elsewhere requires comes only that one.
pub unsafe fn is_exported(w: *mut Worker, instance: *mut Instance) -> bool {
    // Listeners are kept, so in most programs there is nothing to look for.
    if (*ground(w)).kept.is_empty() {
        return has_name(w, instance);
    }
    let mut is_exported = has_name(w, instance);
    clients(instance, |client| {
        is_exported |= matches!(standing::binding((*client).instance), Some(Binding::Listener(..)));
    });
    is_exported
}

/// Calls `each` for whoever is connected to something that a component offers or passes on.
unsafe fn clients(instance: *mut Instance, mut each: impl FnMut(*mut RequiredSlot)) {
    let mut all = |mut client: *mut RequiredSlot| {
        while !client.is_null() {
            each(client);
            client = (*client).next;
        }
    };
    for offered in (*template_of(instance)).offered.get() {
        all(first_client(instance, offered));
    }
    required_slots(instance, |slot| all((*slot).clients));
    inward_slots(instance, |slot| all((*slot).clients));
}

/// In which order they go, the first last: none before those among them that need it, as far as that can be seen; and
/// who needs others before who doesn't.
unsafe fn order(w: *mut Worker, late: &BTreeMap<*mut Instance, (Cell, usize)>) -> Vec<*mut Instance> {
    let mut all: Vec<_> = late.iter().map(|(&instance, &(_, number))| (number, instance)).collect();
    all.sort_unstable();
    let numbers = all.iter().enumerate().map(|(number, &(_, instance))| (instance, number)).collect();
    let through = through_proxies(w);
    let mut needs = Vec::from_iter(all.iter().map(|_| BTreeSet::new()));
    let mut is_needy = Vec::from_iter(all.iter().map(|_| false));
    let mut users = Vec::from_iter(all.iter().map(|_| 0));
    for user in through.values().flatten().filter_map(|&user| around(user, &numbers)) {
        is_needy[user] = true;
    }
    for (server, &(_, instance)) in all.iter().enumerate() {
        users_of(instance, &through, |user| match around(user, &numbers) {
            Some(user) if user != server && needs[user].insert(server) => users[server] += 1,
            _ => {}
        });
    }
    let turn = |number: usize| Reverse((!is_needy[number] && needs[number].is_empty(), number));
    let mut free: BinaryHeap<_> = (0..all.len()).filter(|&number| users[number] == 0).map(turn).collect();
    let mut order = Vec::new();
    while let Some(Reverse((_, number))) = free.pop() {
        order.push(all[number].1);
        for &server in &needs[number] {
            users[server] -= 1;
            if users[server] == 0 {
                free.push(turn(server));
            }
        }
    }
    // Those in a circle go as they were found.
    order.extend((0..all.len()).filter(|&number| users[number] != 0).map(|number| all[number].1));
    order.reverse();
    order
}

/// The number of a component, or of the one with a number that holds it.
unsafe fn around(mut instance: *mut Instance, numbers: &BTreeMap<*mut Instance, usize>) -> Option<usize> {
    while !instance.is_null() {
        match numbers.get(&instance) {
            Some(&number) => return Some(number),
            None => instance = holder_of(instance),
        }
    }
    None
}

/// Who is connected to proxies: by what is connected in their place within the program, or by the name that they lead
/// to.
type Through<'a> = BTreeMap<(*mut RequiredSlot, &'a str), Vec<*mut Instance>>;

unsafe fn through_proxies<'a>(w: *mut Worker) -> Through<'a> {
    let mut through = Through::new();
    for &proxy in &(*ground(w)).kept {
        let Some(Binding::Proxy(name, _)) = standing::binding(proxy) else { continue };
        let behind = standing::behind(proxy);
        let key = (behind, if behind.is_null() { standing::bare(name) } else { "" });
        clients(proxy, |client| through.entry(key).or_default().push((*client).instance));
    }
    through
}

/// Calls `each` for whoever is known to be connected to a component.
unsafe fn users_of(instance: *mut Instance, through: &Through<'_>, mut each: impl FnMut(*mut Instance)) {
    clients(instance, |client| match standing::binding((*client).instance) {
        Some(Binding::Listener(name, _)) => {
            let keys = [(client, ""), (null_mut(), standing::bare(name))];
            keys.iter().filter_map(|key| through.get(key)).flatten().for_each(|&user| each(user));
        }
        Some(Binding::Requiring(_, _, user)) => each(user),
        _ => each((*client).instance),
    });
}
