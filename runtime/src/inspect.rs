//! A running program, as people want to see it: its components with their interfaces, connections and processes, and
//! its bindings. Nothing is kept for it: it is found where it is, so it takes as long as the program is large.
//!
//! # Why this is sound
//! Everything found is alive, and stays so while the walk lasts, which changes nothing.
#![allow(unsafe_op_in_unsafe_fn)]

mod joints;
mod slot;
mod whom;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::ptr::null_mut;

use drystone_component::{Interface, Kind, Offered, Owned};

use crate::collection;
use crate::communication::connection::{Target, clients_of, decode, owner, resolve};
use crate::far::standing::{self, Binding};
use crate::fault;
use crate::home::home;
use crate::instance::slots::slots_of;
use crate::instance::{body_of, main_process, slot_at, template_of};
use crate::layout::*;
use crate::life::survey::{frames_of, processes_of};
use crate::worker::ground;

use joints::{bindings, is_way};

pub use slot::Unknown;
pub(crate) use slot::{slot, talk};

/// What a program consists of at some moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// From the entry on, each before those that it holds.
    pub components: Vec<Component>,
    /// How many more there are.
    pub more: usize,
    /// All of them.
    pub bindings: Vec<BindingView>,
}

/// A component.
#[derive(Debug)]
pub struct Component {
    /// Such as `City.house[17]`.
    pub path: String,
    /// Who holds it: which of the components that were found. `None`: nobody.
    pub holder: Option<usize>,
    /// The variable that holds it, or in whose collection it is.
    pub variable: &'static str,
    /// Of which template.
    pub template: &'static str,
    /// In which domain it was made, if not in its holder's: `process:store`.
    pub place: Option<String>,
    /// How that has ended, if it has and the component was not deleted.
    pub ended: Option<String>,
    /// The interfaces that it offers, with the number of connections.
    pub offers: Vec<(&'static str, usize)>,
    /// Its connections.
    pub requires: Vec<Connection>,
    /// Its processes.
    pub processes: Vec<Activity>,
}

/// A required interface.
#[derive(Debug)]
pub struct Connection {
    /// Which.
    pub interface: &'static str,
    /// Its slot from 1, if it has a cardinality.
    pub slot: Option<usize>,
    /// The path of the component that serves it, or the name of a binding; empty: it is unconnected.
    pub to: String,
    /// What BY has put before a component: ` BY Monitored`; names of bindings have it themselves.
    pub by: String,
    /// The component at which it arrives first, though that passes it on.
    pub next: Next,
    /// It is an interface that the component offers, and passes on to one of its own.
    pub is_inward: bool,
    /// Whether a communication has begun, and isn't lost.
    pub is_open: bool,
    /// The communication is lost: why, if that is known.
    pub lost: Option<String>,
}

/// Where a connection arrives first.
#[derive(Debug)]
pub enum Next {
    /// At no component of the program's.
    Nothing,
    /// At what the component of this path offers.
    Offered(String),
    /// At what it requires.
    Required(String),
}

/// A process.
#[derive(Debug)]
pub struct Activity {
    /// What it runs: an interface's name, or `BEGIN`.
    pub what: &'static str,
    /// What it waits for; empty: it is ready, or runs.
    pub waits_for: &'static str,
    /// For whom, as [`Connection::to`]; empty: for nobody else, or it isn't known.
    pub whom: String,
    /// Where, such as ` at city.dry:12:3`; empty if it isn't known.
    pub at: String,
}

/// A binding with what went through it.
#[derive(Debug)]
pub struct BindingView {
    /// As the program says it.
    pub name: String,
    /// The interface.
    pub interface: &'static str,
    /// It brings clients from elsewhere.
    pub is_export: bool,
    /// The component whose interface is exported, that was made in the domain of this name, or else the client; empty:
    /// it isn't known.
    pub component: String,
    /// Communications that have begun, are open, were lost.
    pub communications: [u64; 3],
    /// Messages to the far side, and bytes of their values.
    pub sent: (u64, u64),
    /// Messages from there, likewise.
    pub received: (u64, u64),
    /// Why the last one was lost; empty: none was.
    pub why: String,
}

/// A component where it was found.
struct Found {
    instance: *mut Instance,
    path: String,
    holder: Option<usize>,
    variable: &'static str,
}

/// What is known of all components while the program is looked at.
struct Known<'a> {
    paths: BTreeMap<*mut Instance, &'a str>,
    /// For whom processes wait.
    whom: BTreeMap<*mut Process, String>,
}

/// Looks at the program; at most so many components.
///
/// # Safety
/// `w` is the home worker, on whose thread this is called while the scheduler has control, as in
/// [`crate::platform::Platform::wait`].
pub unsafe fn inspect(w: *mut Worker, most: usize) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let entry = (*home(w)).entry;
    if entry.is_null() {
        return snapshot;
    }
    let found = find(entry, most, &mut snapshot.more);
    let paths = found.iter().map(|found| (found.instance, found.path.as_str())).collect();
    let mut known = Known { paths, whom: BTreeMap::new() };
    let kept = &(*ground(w)).kept;
    for each in &found {
        let holder = each.holder.map_or("", |holder| &found[holder].path);
        known.ask_whom(each.instance, holder);
    }
    kept.iter().for_each(|&instance| known.ask_whom(instance, ""));
    snapshot.components = found.iter().map(|found| view(w, found, &known)).collect();
    let made = found.iter().filter(|found| found.holder.is_some()).map(|found| found.instance);
    let ways: BTreeSet<_> = kept.iter().map(|&instance| standing::behind(instance)).collect();
    // What a BY before a component is made of has two ends, of which one is enough.
    let kept = kept.iter().copied().filter(|&instance| !is_way(instance, &ways));
    snapshot.bindings = made.chain(kept).flat_map(|instance| bindings(instance, &known)).collect();
    snapshot
}

/// All components with their paths, each before those that it holds.
unsafe fn find(entry: *mut Instance, most: usize, more: &mut usize) -> Vec<Found> {
    let mut found = Vec::new();
    let name = (*template_of(entry)).name.get();
    let mut waiting = Vec::from([Found { instance: entry, path: name.into(), holder: None, variable: name }]);
    while let Some(next) = waiting.pop() {
        let (first, holder) = (waiting.len(), Some(found.len()));
        held_by(next.instance, |variable, keys, instance| {
            if found.len() + waiting.len() < most {
                let path = format!("{}.{variable}{keys}", next.path);
                waiting.push(Found { instance, path, holder, variable });
            } else {
                *more += 1;
            }
        });
        waiting[first..].reverse();
        found.push(next);
    }
    found
}

/// Calls `each` for what a component and its processes hold: the variable, `[keys]` if it is a collection, and what it
/// holds.
unsafe fn held_by(instance: *mut Instance, mut each: impl FnMut(&'static str, &str, *mut Instance)) {
    named(instance.cast(), (*template_of(instance)).owned.get(), &mut each);
    let mut processes = Vec::new();
    processes_of(instance, |p| processes.push(p));
    for p in processes {
        frames_of(p, |base, owned| named(base, owned, &mut each));
    }
}

/// Calls `each` for the components that a frame or instance holds.
unsafe fn named(
    base: *mut u8,
    owned: &'static [Owned],
    each: &mut dyn FnMut(&'static str, &str, *mut Instance),
) {
    let mut alive = |name, keys: &str, child: *mut Instance| {
        if !unsafe { is_empty(child) } {
            each(name, keys, child);
        }
    };
    for owned in owned {
        let cell = base.add(owned.offset as usize);
        let name = owned.name.get();
        match owned.kind {
            Kind::Component => alive(name, "", *cell.cast()),
            Kind::Collection if (*owned.collection).element == Kind::Component => {
                let description = &*owned.collection;
                let _ = collection::visit::<()>(cell.cast(), description, &mut |keys, element| {
                    let keys = collection::shown(description, keys);
                    alive(name, &format!("[{keys}]"), *element.cast());
                    ControlFlow::Continue(())
                });
            }
            _ => {}
        }
    }
}

unsafe fn view(w: *mut Worker, found: &Found, known: &Known<'_>) -> Component {
    let &Found { instance, ref path, holder, variable } = found;
    let template = &*template_of(instance);
    let offers = template
        .offered
        .get()
        .iter()
        .map(|offered| ((*offered.interface).name.get(), unsafe { clients_of(instance, offered) }));
    let mut requires = Vec::new();
    for required in template.required.get() {
        let mut number = 0;
        slots_of(instance, required, &mut |slot| {
            number += 1;
            let of_several = (required.slots != 0).then_some(number);
            requires.push(known.connection(slot, &*required.interface, of_several, false));
        });
    }
    for offered in template.offered.get().iter().filter(|offered| offered.body == Offered::INWARD) {
        requires.push(known.connection(slot_at(instance, offered.inward), &*offered.interface, None, true));
    }
    let mut processes = Vec::new();
    processes_of(instance, |p| processes.push(activity(w, p, known)));
    let place = match standing::binding(instance) {
        Some(Binding::Made(name, _)) => Some(name.into()),
        _ => None,
    };
    let ended = place.as_ref().and_then(|_| standing::ended(instance));
    Component {
        path: path.clone(),
        holder,
        variable,
        template: template.name.get(),
        place,
        ended,
        offers: offers.collect(),
        requires,
        processes,
    }
}

impl Known<'_> {
    unsafe fn connection(
        &self,
        slot: *mut RequiredSlot,
        interface: &Interface,
        number: Option<usize>,
        is_inward: bool,
    ) -> Connection {
        let (to, by) = self.server(slot);
        let c = if is_inward { null_mut() } else { (*slot).communication };
        let is_lost = !c.is_null() && (*c).word.flags & GONE != 0;
        let lost = is_lost.then(|| why_lost(c));
        let is_open = !c.is_null() && !is_lost;
        let next = self.next((*slot).target);
        Connection { interface: interface.name.get(), slot: number, to, by, next, is_inward, is_open, lost }
    }

    unsafe fn next(&self, target: usize) -> Next {
        let path = |instance| self.paths.get(&instance).map(|path| String::from(*path));
        match decode(target) {
            Target::Nothing => Next::Nothing,
            Target::PassedOn(slot) => path((*slot).instance).map_or(Next::Nothing, Next::Required),
            Target::Offered(slot) => {
                let instance = owner(slot);
                let way = standing::behind(instance);
                match way.is_null() {
                    true => path(instance).map_or(Next::Nothing, Next::Offered),
                    false => self.next((*way).target),
                }
            }
        }
    }

    /// What serves a slot, in the end or as far as the way leads; and what BY has put before it.
    unsafe fn server(&self, slot: *mut RequiredSlot) -> (String, String) {
        let target = (*slot).target;
        let instance = match (resolve(target), decode(target)) {
            (Some((instance, _)), _) => instance,
            (None, Target::Offered(slot)) => owner(slot),
            (None, Target::PassedOn(slot)) => (*slot).instance,
            (None, Target::Nothing) => return Default::default(),
        };
        if let Some(path) = self.paths.get(&instance) {
            return ((*path).into(), String::new());
        }
        let (Some(Binding::Proxy(name, _)), way) = (standing::binding(instance), standing::behind(instance))
        else {
            return ((*template_of(instance)).name.get().into(), String::new());
        };
        match way.is_null() {
            true => (name.into(), String::new()),
            false => {
                let (to, by) = self.server(way);
                (to, format!("{}{by}", name.trim_start_matches("local")))
            }
        }
    }
}

/// Why a communication was lost; empty: that isn't known.
unsafe fn why_lost(c: *mut Communication) -> String {
    let instance = (*c).process.instance;
    if instance.is_null() {
        return String::new();
    }
    standing::why_lost(instance, (*c).process.body as usize).unwrap_or_default()
}

unsafe fn activity(w: *mut Worker, p: *mut Process, known: &Known<'_>) -> Activity {
    let body = body_of(p);
    let main = main_process((*p).instance);
    let what = match body.interface.as_ref() {
        Some(interface) => interface.name.get(),
        None if !main.is_null() && *main == p => "BEGIN",
        None => "FINALLY",
    };
    let whom = known.whom.get(&p).cloned().unwrap_or_default();
    Activity { what, waits_for: fault::waits_for(p), whom, at: fault::waiting_location(w, p) }
}
