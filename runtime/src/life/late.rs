//! Exported components, which are deleted last where components end together with what holds them. A client that comes
//! by a name may be anywhere, also in this program, and may come while others end. So a deletion passes over exported
//! components, at whatever depth they are held, and comes back for one after the other when nothing else is left.
//!
//! # Why this is sound
//! A deletion that comes back holds what it has passed over as long as nothing is ended by force ([`Late::is_valid`]).

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem::take;
use core::ptr::null_mut;

use super::owned::Container;
use crate::communication::connection::{first_client, has_name};
use crate::far::standing::{self, Binding};
use crate::instance::slots::{inward_slots, required_slots};
use crate::instance::{holder_of, template_of};
use crate::layout::{Instance, RequiredSlot, Worker};
use crate::worker::ground;

/// What the deletion of a component, or of what a process holds, has passed over.
#[derive(Default)]
pub struct Late {
    /// The container here that leads to each late component, and its number in the order in which they were found.
    ways: BTreeMap<*mut Instance, (Container, usize)>,
    /// The containers that lead to some.
    containers: BTreeSet<Container>,
    /// Late components of which the deletion around this one has not been told; and `Deletions::forced` when it was
    /// told last.
    news: Vec<*mut Instance>,
    told: u64,
    /// The order in which they go, the first last: for the outermost deletion.
    order: Vec<*mut Instance>,
    found: usize,
    /// `Deletions::forced` when the first was passed over.
    forced: u64,
}

impl Late {
    /// Whether all that it leads to is still there: nothing has been ended by force, which `Deletions::forced` counts.
    pub fn is_valid(&self, forced: u64) -> bool {
        self.is_new() || self.forced == forced
    }

    /// Whether nothing has been passed over.
    pub fn is_new(&self) -> bool {
        self.ways.is_empty() && self.containers.is_empty()
    }

    /// Whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.containers.is_empty()
    }

    /// Whether a container leads to something late.
    pub fn leads(&self, container: Container) -> bool {
        self.containers.contains(&container)
    }

    /// A component is late: it is in this container, or within what that holds.
    pub fn add(&mut self, forced: u64, instance: *mut Instance, container: Container) {
        if self.is_new() {
            self.forced = forced;
        }
        self.found += 1;
        self.ways.insert(instance, (container, self.found));
        self.containers.insert(container);
        self.news.push(instance);
        self.order.clear();
    }

    /// A deletion within this one, of what is in the container, waits for its turn, with what is late within it.
    pub fn add_all(&mut self, forced: u64, within: &mut Late, container: Container) {
        let mut news = take(&mut within.news);
        if self.is_new() || within.told != self.forced {
            news = within.ways.keys().copied().collect();
        }
        for instance in news {
            self.add(forced, instance, container);
        }
        self.containers.insert(container);
        within.told = self.forced;
    }

    /// The late component whose turn it is, for the outermost deletion; null if there is none.
    ///
    /// # Safety
    /// `w` is the home worker, and this is valid.
    pub unsafe fn next(&mut self, w: *mut Worker) -> *mut Instance {
        // The order is found only if something is late: that takes a look at all bindings of the program.
        if self.order.is_empty() && !self.ways.is_empty() {
            // SAFETY: components that are late are there.
            self.order = unsafe { order(w, &self.ways) };
        }
        self.order.pop().unwrap_or(null_mut())
    }

    /// The container that leads to a component whose turn it is. `None`: it is not late.
    pub fn turn(&mut self, instance: *mut Instance) -> Option<Container> {
        let (container, _) = self.ways.remove(&instance)?;
        self.containers.remove(&container);
        Some(container)
    }
}

/// Whether anybody may reach a component by a name. Through what a component elsewhere requires comes only that one.
///
/// # Safety
/// `w` is the home worker; `instance` is live.
pub unsafe fn is_exported(w: *mut Worker, instance: *mut Instance) -> bool {
    // SAFETY: `w` is the home worker; `instance` is live; a client's slot is of a live instance.
    unsafe {
        let mut is_exported = has_name(w, instance);
        // Listeners are kept, so in most programs there is nothing to look for.
        if !(*ground(w)).kept.is_empty() {
            clients(instance, |client| {
                is_exported |= matches!(standing::binding((*client).instance), Some(Binding::Listener(..)));
            });
        }
        is_exported
    }
}

/// Calls `each` for every slot that is connected to something that a component offers or passes on.
///
/// # Safety
/// `instance` is live; on the home worker's thread.
unsafe fn clients(instance: *mut Instance, mut each: impl FnMut(*mut RequiredSlot)) {
    // SAFETY: links between slots lead to slots of live instances.
    unsafe {
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
}

/// The order in which late components go, the first last: none before those among them that need it, as far as that can
/// be seen; and components that need another one before components that don't.
///
/// # Safety
/// `w` is the home worker; those who are late are live.
unsafe fn order(w: *mut Worker, late: &BTreeMap<*mut Instance, (Container, usize)>) -> Vec<*mut Instance> {
    let mut all: Vec<_> = late.iter().map(|(&instance, &(_, number))| (number, instance)).collect();
    all.sort_unstable();
    let numbers = all.iter().enumerate().map(|(number, &(_, instance))| (instance, number)).collect();
    // SAFETY: `w` is the home worker.
    let through = unsafe { through_proxies(w) };
    let mut needs = Vec::from_iter(all.iter().map(|_| BTreeSet::new()));
    let mut is_needy = Vec::from_iter(all.iter().map(|_| false));
    let mut users = Vec::from_iter(all.iter().map(|_| 0));
    // SAFETY: clients are live.
    for user in through.values().flatten().filter_map(|&user| unsafe { around(user, &numbers) }) {
        is_needy[user] = true;
    }
    for (server, &(_, instance)) in all.iter().enumerate() {
        // SAFETY: components that are late are live, and so are their clients.
        unsafe {
            users_of(instance, &through, |user| match around(user, &numbers) {
                Some(user) if user != server && needs[user].insert(server) => users[server] += 1,
                _ => {}
            });
        }
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
///
/// # Safety
/// `instance` is live, or null.
unsafe fn around(mut instance: *mut Instance, numbers: &BTreeMap<*mut Instance, usize>) -> Option<usize> {
    while !instance.is_null() {
        match numbers.get(&instance) {
            Some(&number) => return Some(number),
            // SAFETY: a holder lives longer than the component that it holds.
            None => instance = unsafe { holder_of(instance) },
        }
    }
    None
}

/// The components that are connected to proxies: by the slot that is connected in a proxy's place within the program,
/// or by the name that it leads to.
type Through<'a> = BTreeMap<(*mut RequiredSlot, &'a str), Vec<*mut Instance>>;

/// # Safety
/// `w` is the home worker; its bindings stay as they are for `'a`.
unsafe fn through_proxies<'a>(w: *mut Worker) -> Through<'a> {
    let mut through = Through::new();
    // SAFETY: components that are kept are live, and so are their clients.
    unsafe {
        for &proxy in &(*ground(w)).kept {
            let Some(Binding::Proxy(name, _)) = standing::binding(proxy) else { continue };
            let behind = standing::behind(proxy);
            let key = (behind, if behind.is_null() { standing::bare(name) } else { "" });
            clients(proxy, |client| through.entry(key).or_default().push((*client).instance));
        }
    }
    through
}

/// Calls `each` for every component that is known to be connected to another one.
///
/// # Safety
/// `instance` is live; on the home worker's thread.
unsafe fn users_of(instance: *mut Instance, through: &Through<'_>, mut each: impl FnMut(*mut Instance)) {
    // SAFETY: `instance` is live; on the home worker's thread; a client's slot is of a live instance.
    unsafe {
        clients(instance, |client| match standing::binding((*client).instance) {
            Some(Binding::Listener(name, _)) => {
                let keys = [(client, ""), (null_mut(), standing::bare(name))];
                keys.iter().filter_map(|key| through.get(key)).flatten().for_each(|&user| each(user));
            }
            Some(Binding::Requiring(_, _, user)) => each(user),
            _ => each((*client).instance),
        });
    }
}
