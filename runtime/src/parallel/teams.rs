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
use alloc::vec::Vec;
use core::mem::take;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::SeqCst;

use drystone_component::Interface;

use super::counting::{came_back, goes};
use crate::communication::connection::{
    component_at, first_client, leaves_through, lent_before, slot_behind,
};
use crate::communication::interface_of;
use crate::home::exchange::Item;
use crate::home::lending::Lent;
use crate::home::team::Team;
use crate::home::timers::First;
use crate::home::{home, shared, team};
use crate::instance::slots::required_slots;
use crate::instance::{body_of, holder_of, is_around, rare_of, slot_at, template_of};
use crate::layout::*;
use crate::queue::{Queue, retain_ready};

/// Most communications with the outside that a team may have: each is seen to when it goes, and when it comes back.
const MOST_CROSSINGS: usize = 256;
/// Most components around a process, each within the next.
const MOST_DEPTH: usize = 256;
/// Most processes that are looked at: nobody else runs meanwhile, which takes some tenth of a microsecond for each.
const MOST_PROCESSES: usize = 16_384;
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
                if !lent_before(client).is_null() {
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
                let instance = component_at(target);
                if instance.is_null() {
                    return;
                }
                self.neighbour(instance);
                // What is lent isn't looked into.
                self.is_open &= !(*instance).is_lent();
                let next = slot_behind(target);
                if next.is_null() || !self.is_open {
                    return;
                }
                target = (*next).target;
            }
        }
    }

    fn step(&mut self) {
        self.steps += 1;
        self.is_open &= self.steps <= MOST_STEPS;
    }
}

/// Which of some components holds another one, at any depth.
struct Whose {
    /// That component, or null, for each on the ways that were gone.
    known: BTreeMap<*mut Instance, *mut Instance>,
    /// How many processes may still be looked at.
    left: usize,
}

/// There are too many processes, or they are held too deep: to look at them would keep others waiting.
struct TooMuch;

impl Whose {
    fn new(roots: &[Candidate]) -> Whose {
        let known = roots.iter().map(|candidate| (candidate.root, candidate.root));
        Whose { known: known.collect(), left: MOST_PROCESSES }
    }

    /// Calls `each` with the component that a process belongs to, or null, for all of a queue.
    ///
    /// # Errors
    /// There are too many.
    ///
    /// # Safety
    /// The processes are live; at home.
    unsafe fn all(
        &mut self,
        mut first: *mut Process,
        each: &mut dyn FnMut(*mut Instance),
    ) -> Result<(), TooMuch> {
        // SAFETY: the processes in a queue are live.
        unsafe {
            while !first.is_null() {
                each(self.look(first)?);
                first = (*first).next;
            }
        }
        Ok(())
    }

    /// The component that a process belongs to, or null.
    ///
    /// # Errors
    /// There are too many, or it is held too deep.
    ///
    /// # Safety
    /// The process is live; at home.
    unsafe fn look(&mut self, p: *mut Process) -> Result<*mut Instance, TooMuch> {
        self.left = self.left.checked_sub(1).ok_or(TooMuch)?;
        // SAFETY: the process is live, and holders live longer than what they hold.
        unsafe {
            let mut instance = (*p).instance;
            let mut steps = 0;
            let root = loop {
                if instance.is_null() {
                    break instance;
                }
                if let Some(&known) = self.known.get(&instance) {
                    break known;
                }
                if steps == MOST_DEPTH {
                    return Err(TooMuch);
                }
                steps += 1;
                instance = holder_of(instance);
            };
            // The way is gone once.
            let mut instance = (*p).instance;
            for _ in 0..steps {
                self.known.insert(instance, root);
                instance = holder_of(instance);
            }
            Ok(root)
        }
    }

    /// The same for a process that has been looked at.
    ///
    /// # Safety
    /// The process is live; at home.
    unsafe fn of(&self, p: *mut Process) -> *mut Instance {
        // SAFETY: the process is live.
        let instance = unsafe { (*p).instance };
        self.known.get(&instance).copied().unwrap_or(null_mut())
    }
}

/// Lends components: puts each with its processes into the exchange. Those stay of which a process is away alone, or
/// waits for another team. Gives how many have gone.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control; the candidates were examined since any process ran, and none is
/// within another one.
pub unsafe fn depart(w: *mut Worker, mut candidates: Vec<Candidate>) -> usize {
    // SAFETY: as this demands.
    unsafe {
        // A communication between two of them would be marked once, for both.
        let mut seen = BTreeSet::new();
        candidates.retain(|candidate| {
            let is_alone = candidate.crossings.iter().all(|c| !seen.contains(c));
            seen.extend(candidate.crossings.iter().copied());
            is_alone
        });
        let mut whose = Whose::new(&candidates);
        let Ok(staying) = look_at_all(w, &mut whose) else { return 0 };
        candidates.retain(|candidate| !staying.contains(&candidate.root));
        let forced = (*team(w)).deletions.forced;
        let mut teams: Teams = candidates
            .iter()
            .map(|candidate| (candidate.root, Box::new(Team::lent(candidate.root, forced))))
            .collect();
        take_processes(w, &whose, &mut teams);
        let count = candidates.len();
        for Candidate { root, crossings, around } in candidates {
            let Some(team) = teams.remove(&root) else { continue };
            let lending = &mut (*home(w)).lending;
            for &c in &crossings {
                (*c).word.flags |= APART;
                lending.crossings.insert(c, root);
            }
            // What the home sees of a lent component doesn't change: its rare part is there, if it will be needed.
            rare_of(w, root);
            (*root).holder |= LENT;
            let order = team.order();
            let lent = Lent { crossings, around, visitors: Queue::EMPTY, finished: Vec::new(), order };
            lending.lent.insert(root, lent);
            lending.departures += 1;
            goes(w);
            shared(w).exchange.put(Item::Team(team));
            shared(w).wake_one();
        }
        (*team(w)).is_apart = !(*home(w)).lending.lent.is_empty();
        count
    }
}

/// Teams that are about to go, by the components that hold them.
type Teams = BTreeMap<*mut Instance, Box<Team>>;

/// Looks at each process that is found by itself. Gives the components that stay.
///
/// # Errors
/// There are too many, or one is held too deep.
///
/// # Safety
/// `w` is the home worker.
unsafe fn look_at_all(w: *mut Worker, whose: &mut Whose) -> Result<BTreeSet<*mut Instance>, TooMuch> {
    let mut staying = BTreeSet::new();
    // SAFETY: processes in queues are live, and so are those that are away, or wait for a time or for several things.
    unsafe {
        let (home, own) = (home(w), team(w));
        whose.all((*w).ready_head, &mut |_| {})?;
        whose.all((*home).parallel.candidates.head(), &mut |_| {})?;
        (*own).timers.each(|first| match first {
            First::OfQueue(p) => whose.all(p, &mut |_| {}),
            First::Alone(p) => whose.look(p).map(|_| ()),
        })?;
        (*own).watches.processes().try_for_each(|p| whose.look(p).map(|_| ()))?;
        for &p in &(*home).parallel.travelling {
            staying.insert(whose.look(p)?);
        }
        for lent in (*home).lending.lent.values() {
            whose.all(lent.visitors.head(), &mut |root| _ = staying.insert(root))?;
        }
    }
    Ok(staying)
}

/// Moves the processes of components to their teams, with what the home knows of them.
///
/// # Safety
/// As for [`depart`]; all have been looked at.
unsafe fn take_processes(w: *mut Worker, whose: &Whose, teams: &mut Teams) {
    // SAFETY: processes in queues are live; a process that leaves one queue is put into one other.
    unsafe {
        let mut stays = |p: *mut Process| match teams.get_mut(&whose.of(p)) {
            Some(team) => {
                team.make_ready(p);
                false
            }
            None => true,
        };
        retain_ready(w, &mut stays);
        (*home(w)).parallel.candidates.retain(&mut stays);
        let own = team(w);
        if (*own).timers.is_empty() && (*own).watches.is_empty() {
            return;
        }
        // What stays is gone through once.
        let goes = |p: *mut Process| teams.contains_key(&whose.of(p));
        let (mut timers, mut watches) = ((*own).timers.split(goes), (*own).watches.split(goes));
        for (&root, team) in teams {
            team.timers = timers.split(|p| whose.of(p) == root);
            team.watches = watches.split(|p| whose.of(p) == root);
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
        shared(w).exchange.has_recalled.store(true, SeqCst);
    }
}
