//! Teams leave the home, and come back.
//!
//! What a component's processes can touch is inside of it, but for two things: communications through the interfaces
//! that it requires or offers, and the links between these interfaces. The first are marked as long as it is lent, so
//! that neither side uses them. The links stay as they are meanwhile, because whoever would change one asks the home's
//! `lending` first. A component in which something is whose connections may lead elsewhere [stays at
//! home](crate::instance::stays_at_home).
//!
//! # Why this is sound
//! From [`depart`] until [`welcome`] nobody but the worker that has a team touches what is in it. Processes, timers and
//! watches are looked for by the components that hold theirs, so none stays behind. The home says `Memory::depart`
//! first, so counts that both may touch are atomic meanwhile.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;

use drystone_component::{Interface, Offered};

use super::counting::{came_back, goes};
use crate::communication::connection::{Target, decode, description, first_client, leaves_through};
use crate::communication::interface_of;
use crate::home::exchange::Item;
use crate::home::lending::Lent;
use crate::home::team::{Order, Team};
use crate::home::timers::First;
use crate::home::{home, shared, team};
use crate::instance::slots::required_slots;
use crate::instance::{body_of, holder_of, is_around, slot_at, template_of};
use crate::layout::*;
use crate::queue::{Queue, retain_ready};

/// Most communications with the outside that a team may have: each is seen to when it goes, and when it comes back.
const MOST_CROSSINGS: usize = 256;
/// Most components around a process, each within the next.
const MOST_DEPTH: usize = 256;
/// Most slots that are followed from a component to those around it.
const MOST_STEPS: usize = 4096;

/// A component that may be lent, and what is between it and the outside.
pub struct Candidate {
    /// The component.
    pub root: *mut Instance,
    crossings: Vec<*mut Communication>,
    around: Vec<*mut Instance>,
}

/// Looks whether a component can be lent; `None`: not now.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control; `root` is live.
pub unsafe fn examine(w: *mut Worker, root: *mut Instance) -> Option<Candidate> {
    // SAFETY: the instances of linked slots are there, and communications to which slots lead are live.
    unsafe {
        let template = &*template_of(root);
        let has_tables = template.required.get().iter().any(|required| required.slots != 0);
        if (*root).live & (STAYS | DELETING | DEAD) != 0 || (*root).is_lent() || has_tables {
            return None;
        }
        let mut border = Border { crossings: Vec::new(), around: Vec::new(), steps: 0, is_open: true };
        required_slots(root, |slot| {
            leaves_through(slot, |leaf| {
                let c = *leaf.cell;
                border.communication(c);
                if !c.is_null() {
                    border.server(c);
                }
            });
            border.way((*slot).target);
        });
        for offered in template.offered.get() {
            border.communication((*slot_at::<OfferedSlot>(root, offered.offset)).holder);
            let mut client = first_client(root, offered);
            while !client.is_null() {
                // What is lent isn't looked into.
                border.is_open &= !(*(*client).instance).is_lent();
                if !border.is_open {
                    return None;
                }
                leaves_through(client, |leaf| {
                    border.communication(*leaf.cell);
                    border.client(leaf.client);
                });
                // Links inside that lead to the outermost component have others beside them, from outside.
                border.is_open &= !is_around(root, (*client).instance);
                client = (*client).next;
            }
        }
        let holder = holder_of(root);
        let is_held = !holder.is_null() && !(*holder).is_dead();
        if is_held {
            border.client(holder);
        }
        let apart = (*home(w)).lending.crossings.len() + border.crossings.len() > 16 * MOST_CROSSINGS;
        if !border.is_open || !is_held || apart {
            return None;
        }
        let Border { mut crossings, mut around, .. } = border;
        crossings.sort_unstable();
        crossings.dedup();
        around.sort_unstable();
        around.dedup();
        Some(Candidate { root, crossings, around })
    }
}

/// What is found between a component and the outside.
struct Border {
    crossings: Vec<*mut Communication>,
    around: Vec<*mut Instance>,
    steps: usize,
    /// Nothing has been found that keeps the component at home.
    is_open: bool,
}

impl Border {
    /// # Safety
    /// `c` is null or live; at home.
    unsafe fn communication(&mut self, c: *mut Communication) {
        self.step();
        // SAFETY: `c` is live, and so is its service, if there is one; so are processes that wait.
        unsafe {
            if c.is_null() || (*c).process.instance.is_null() {
                return;
            }
            let CommunicationWord { flags, tag, .. } = (*c).word;
            let waiter = (*c).waiter;
            let is_native = |p: *mut Process| !body_of(p).native.is_null();
            let has_native = is_native(c.cast()) || !waiter.is_null() && is_native(waiter);
            // Whom a message waits for will soon come to it.
            self.is_open &= flags & !SERVICE_ENDED == 0 && tag == 0 && !has_native;
            self.crossings.push(c);
            self.is_open &= self.crossings.len() <= MOST_CROSSINGS;
        }
    }

    /// A component outside, to which there is a way; or null. One that is deleted without a record ends without asking.
    ///
    /// # Safety
    /// It is null, or its block is there; at home.
    unsafe fn neighbour(&mut self, instance: *mut Instance) {
        self.step();
        if !instance.is_null() {
            // SAFETY: its block is there.
            self.is_open &= unsafe { (*instance).left_through() }.is_null();
            self.around.push(instance);
        }
    }

    /// What serves a communication, outside. A service that may send next can't wait until a team is at home: see
    /// `ds_room`.
    ///
    /// # Safety
    /// `c` is live; at home.
    unsafe fn server(&mut self, c: *mut Communication) {
        // SAFETY: `c` is live.
        unsafe {
            let word = (*c).word;
            let may_send = interface_of(c).state(word.state) & Interface::SERVER_SENDS != 0;
            self.is_open &= !may_send || word.flags & SERVICE_ENDED != 0;
            self.neighbour((*c).process.instance);
        }
    }

    /// A component outside that may be a client. Native ones can't wait until a team is at home.
    ///
    /// # Safety
    /// It is live; at home.
    unsafe fn client(&mut self, instance: *mut Instance) {
        // SAFETY: it is live.
        unsafe {
            self.neighbour(instance);
            let bodies = (*template_of(instance)).bodies.get();
            self.is_open &= bodies.iter().all(|body| body.native.is_null());
        }
    }

    /// All components on the way from a target to what serves it.
    ///
    /// # Safety
    /// The target is linked; at home.
    unsafe fn way(&mut self, mut target: usize) {
        // SAFETY: the targets of links are linked.
        unsafe {
            loop {
                target = match decode(target) {
                    Target::Nothing => return,
                    Target::PassedOn(slot) => {
                        self.neighbour((*slot).instance);
                        (*slot).target
                    }
                    Target::Offered(slot) => {
                        let (instance, offered) = description(slot);
                        self.neighbour(instance);
                        // What is lent may not be followed further; and what it serves stays with it.
                        self.is_open &= !(*instance).is_lent();
                        if offered.body != Offered::INWARD || !self.is_open {
                            return;
                        }
                        (*slot_at::<RequiredSlot>(instance, offered.inward)).target
                    }
                };
            }
        }
    }

    fn step(&mut self) {
        self.steps += 1;
        self.is_open &= self.steps <= MOST_STEPS;
    }
}

/// Which of some components holds another one.
struct Whose {
    /// What is known of components on the ways that were gone.
    known: BTreeMap<*mut Instance, Option<usize>>,
}

impl Whose {
    fn new(roots: &[Candidate]) -> Whose {
        let known = roots.iter().enumerate().map(|(index, candidate)| (candidate.root, Some(index)));
        Whose { known: known.collect() }
    }

    /// Whether it is known of each of some processes which component it belongs to. Those held very deep aren't looked
    /// at: that would take too long.
    ///
    /// # Safety
    /// The processes are live; at home.
    unsafe fn knows(&mut self, mut first: *mut Process) -> bool {
        // SAFETY: the processes in a queue are live.
        unsafe {
            while !first.is_null() {
                if self.find((*first).instance).is_none() {
                    return false;
                }
                first = (*first).next;
            }
        }
        true
    }

    /// The number of the component that a process belongs to.
    ///
    /// # Safety
    /// The process is live; at home.
    unsafe fn process(&mut self, p: *mut Process) -> Option<usize> {
        // SAFETY: the process is live.
        unsafe { self.find((*p).instance).flatten() }
    }

    /// The number of the component that holds another one, or is it; the outer `None`: it is held too deep.
    ///
    /// # Safety
    /// The component is live, or null; at home.
    unsafe fn find(&mut self, first: *mut Instance) -> Option<Option<usize>> {
        // SAFETY: holders live longer than what they hold.
        unsafe {
            let mut instance = first;
            let mut steps = 0;
            let found = loop {
                if instance.is_null() {
                    break None;
                }
                if let Some(&known) = self.known.get(&instance) {
                    break known;
                }
                if steps == MOST_DEPTH {
                    return None;
                }
                steps += 1;
                instance = holder_of(instance);
            };
            // The way is gone once.
            let mut instance = first;
            for _ in 0..steps {
                self.known.insert(instance, found);
                instance = holder_of(instance);
            }
            Some(found)
        }
    }
}

/// Lends components: puts each with its processes into the exchange. Those stay of which a process is away alone, or
/// waits for another team. Gives how many have gone.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control; the candidates were examined since any process ran, and none is
/// within another one.
pub unsafe fn depart(w: *mut Worker, mut candidates: Vec<Candidate>) -> usize {
    // SAFETY: processes in queues are live.
    unsafe {
        // A communication between two of them would be marked once, for both.
        let mut seen = BTreeSet::new();
        candidates.retain(|candidate| {
            let is_alone = candidate.crossings.iter().all(|c| !seen.contains(c));
            seen.extend(candidate.crossings.iter().copied());
            is_alone
        });
        let mut whose = Whose::new(&candidates);
        if !knows_all(w, &mut whose) {
            return 0;
        }
        let mut stays = Vec::from_iter(candidates.iter().map(|_| false));
        let mut is_known = true;
        let mut has_to_stay = |p: *mut Process| match whose.find((*p).instance) {
            Some(Some(index)) => stays[index] = true,
            Some(None) => {}
            None => is_known = false,
        };
        (*home(w)).parallel.travelling.iter().for_each(|&p| has_to_stay(p));
        for lent in (*home(w)).lending.lent.values() {
            let mut p = lent.visitors.head();
            while !p.is_null() {
                has_to_stay(p);
                p = (*p).next;
            }
        }
        if !is_known {
            return 0;
        }
        let mut stays = stays.into_iter();
        candidates.retain(|_| stays.next() == Some(false));
        if candidates.is_empty() {
            return 0;
        }
        let orders: Vec<Arc<Order>> = candidates.iter().map(|_| Arc::default()).collect();
        let mut teams: Vec<Box<Team>> = candidates
            .iter()
            .zip(&orders)
            .map(|(candidate, order)| Box::new(Team::lent(candidate.root, order.clone())))
            .collect();
        for team in &mut teams {
            team.deletions.forced = (*self::team(w)).deletions.forced;
        }
        take_processes(w, &candidates, &mut teams);
        let count = candidates.len();
        for ((candidate, order), team) in candidates.into_iter().zip(orders).zip(teams) {
            let Candidate { root, crossings, around } = candidate;
            let lending = &mut (*home(w)).lending;
            for &c in &crossings {
                (*c).word.flags |= APART;
                lending.crossings.insert(c, root);
            }
            (*root).holder |= LENT;
            lending.lent.insert(
                root,
                Lent { crossings, around, visitors: Queue::EMPTY, finished: Vec::new(), order },
            );
            lending.departures += 1;
            goes(w);
            shared(w).exchange.put(Item::Team(team));
            shared(w).wake_one();
        }
        (*self::team(w)).is_apart = true;
        count
    }
}

/// Whether it is known of each process that is found by itself which component it belongs to.
///
/// # Safety
/// `w` is the home worker.
unsafe fn knows_all(w: *mut Worker, whose: &mut Whose) -> bool {
    // SAFETY: processes in queues are live, and so are those that wait for a time or for several things.
    unsafe {
        let own = team(w);
        let mut known = whose.knows((*w).ready_head) && whose.knows((*home(w)).parallel.candidates.head());
        (*own).timers.each(|first| match first {
            First::OfQueue(p) => known = known && whose.knows(p),
            First::Alone(p) => known = known && whose.find((*p).instance).is_some(),
        });
        known && (*own).watches.processes().all(|p| whose.find((*p).instance).is_some())
    }
}

/// Moves the processes of components to their teams, with what the home knows of them.
///
/// # Safety
/// As for [`depart`]; there is a team for each.
unsafe fn take_processes(w: *mut Worker, candidates: &[Candidate], teams: &mut [Box<Team>]) {
    let mut whose = Whose::new(candidates);
    // SAFETY: processes in queues are live; a process that leaves one queue is put into one other.
    unsafe {
        let mut moved = |p: *mut Process| match whose.process(p) {
            Some(index) => {
                if let Some(lent) = &mut teams[index].lent {
                    lent.ready.push(p);
                }
                false
            }
            None => true,
        };
        retain_ready(w, &mut moved);
        (*home(w)).parallel.candidates.retain(&mut moved);
        let own = team(w);
        if (*own).timers.is_empty() && (*own).watches.is_empty() {
            return;
        }
        for (index, team) in teams.iter_mut().enumerate() {
            team.timers = (*own).timers.split(|p| whose.process(p) == Some(index));
            team.watches = (*own).watches.split(|p| whose.process(p) == Some(index));
        }
    }
}

/// A team is at home again.
///
/// # Safety
/// `w` is the home worker, on which no process runs; the team is its own again.
pub unsafe fn welcome(w: *mut Worker, mut other: Box<Team>) {
    // SAFETY: what the team touches is the home's again; marked communications are live, because neither side has come
    // to them since.
    unsafe {
        let Some(mut lent) = other.lent.take() else { return };
        let root = lent.root;
        let lending = &mut (*home(w)).lending;
        let Some(mut known) = lending.lent.remove(&root) else { return };
        for c in known.crossings {
            (*c).word.flags &= !APART;
            lending.crossings.remove(&c);
        }
        (*root).holder &= !LENT;
        lending.answers.extend(take(&mut lent.answers));
        lending.finished.extend(take(&mut lent.finished));
        lending.finished.extend(take(&mut known.finished));
        let own = team(w);
        (*own).is_apart = !lending.lent.is_empty();
        (*own).timers.merge(take(&mut other.timers));
        (*own).watches.merge(take(&mut other.watches));
        (*own).census.add(&mut other.census);
        (*own).deletions.paused.append(&mut other.deletions.paused);
        (*w).messages += lent.messages;
        (*w).switches += lent.switches;
        (*home(w)).parallel.switches += lent.switches;
        // Who has waited for it comes first, so that it doesn't go again before that.
        let mut ready = take(&mut known.visitors);
        ready.append(&mut Queue::from_ready(w));
        ready.append(&mut lent.ready);
        ready.into_ready(w);
        came_back(w);
        let tick = (*home(w)).parallel.ticks;
        (*home(w)).lending.learn(root, lent.nanoseconds, tick);
    }
}

/// Recalls all teams.
///
/// # Safety
/// `w` is the home worker.
pub unsafe fn recall_all(w: *mut Worker) {
    // SAFETY: `w` is the home worker.
    unsafe {
        for lent in (*home(w)).lending.lent.values() {
            lent.order.recall();
        }
        shared(w).exchange.has_recalled.store(true, core::sync::atomic::Ordering::SeqCst);
    }
}
