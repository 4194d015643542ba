//! A running program, as people want to see it: its components with their interfaces, connections and processes, and
//! its bindings. Nothing is kept for it: it is found where it is, so it takes as long as the program is large.
//!
//! # Why this is sound
//! Everything found is alive, and stays so while the walk lasts, which changes nothing.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use drystone_component::{Interface, Kind, Offered, Owned};

use crate::collection;
use crate::communication::connection::{Target, clients_of, decode, indexed_slot, owner, resolve, slots_of};
use crate::far::{self, Binding};
use crate::fault;
use crate::home::home;
use crate::instance::{body_of, main_process, slot_at, template_of};
use crate::layout::*;
use crate::life::survey::{frames_of, processes_of};

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
    /// Of which template.
    pub template: &'static str,
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
    /// Whether a communication has begun.
    pub is_open: bool,
}

/// A process.
#[derive(Debug)]
pub struct Activity {
    /// What it runs: an interface's name, or `BEGIN`.
    pub what: &'static str,
    /// What it waits for; empty: it is ready, or runs.
    pub waits_for: &'static str,
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
    /// Communications that have begun, are open, were lost.
    pub communications: [u64; 3],
    /// Messages to the far side, and bytes of their values.
    pub sent: (u64, u64),
    /// Messages from there, likewise.
    pub received: (u64, u64),
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
    let paths: BTreeMap<_, _> = found.iter().map(|(instance, path)| (*instance, path.as_str())).collect();
    snapshot.components = found.iter().map(|(instance, path)| view(w, *instance, path, &paths)).collect();
    snapshot.bindings = (*home(w)).kept.iter().filter_map(|&instance| binding(instance)).collect();
    snapshot
}

/// The k-th slot, from 1, of an interface that the component of a path requires, with that.
pub(crate) unsafe fn slot(
    w: *mut Worker,
    path: &str,
    interface: &str,
    k: usize,
) -> Option<(*mut RequiredSlot, &'static Interface)> {
    let entry = (*home(w)).entry;
    if entry.is_null() {
        return None;
    }
    let found = find(entry, usize::MAX, &mut 0);
    let (instance, _) = found.into_iter().find(|(_, found)| found == path)?;
    let required = (*template_of(instance)).required.get();
    let required = required.iter().find(|required| (*required.interface).name.get() == interface)?;
    let interface = &*required.interface;
    match (required.slots, k) {
        (0, 1) => Some((slot_at(instance, required.offset), interface)),
        (most, k) if (1..=most as usize).contains(&k) => {
            Some((indexed_slot(w, instance, required, k - 1)?, interface))
        }
        _ => None,
    }
}

/// All components with their paths, each before those that it holds.
unsafe fn find(entry: *mut Instance, most: usize, more: &mut usize) -> Vec<(*mut Instance, String)> {
    let mut found = Vec::new();
    let mut waiting = Vec::from([(entry, String::from((*template_of(entry)).name.get()))]);
    while let Some((instance, path)) = waiting.pop() {
        let first = waiting.len();
        held_by(instance, |name, child| {
            if found.len() + waiting.len() < most {
                waiting.push((child, format!("{path}.{name}")));
            } else {
                *more += 1;
            }
        });
        waiting[first..].reverse();
        found.push((instance, path));
    }
    found
}

/// Calls `each` for what a component and its processes hold.
unsafe fn held_by(instance: *mut Instance, mut each: impl FnMut(String, *mut Instance)) {
    named(instance.cast(), (*template_of(instance)).owned.get(), &mut each);
    let mut processes = Vec::new();
    processes_of(instance, |p| processes.push(p));
    for p in processes {
        frames_of(p, |base, owned| named(base, owned, &mut each));
    }
}

/// Calls `each` for the components that a frame or instance holds, by their names.
unsafe fn named(base: *mut u8, owned: &[Owned], each: &mut dyn FnMut(String, *mut Instance)) {
    let mut alive = |name: String, child: *mut Instance| {
        if !unsafe { is_empty(child) } {
            each(name, child);
        }
    };
    for owned in owned {
        let cell = base.add(owned.offset as usize);
        let name = owned.name.get();
        match owned.kind {
            Kind::Component => alive(name.into(), *cell.cast()),
            Kind::Collection if (*owned.collection).element == Kind::Component => {
                let description = &*owned.collection;
                let _ = collection::visit::<()>(cell.cast(), description, &mut |keys, element| {
                    let keys = collection::shown(description, keys);
                    alive(format!("{name}[{keys}]"), *element.cast());
                    ControlFlow::Continue(())
                });
            }
            _ => {}
        }
    }
}

unsafe fn view(
    w: *mut Worker,
    instance: *mut Instance,
    path: &str,
    paths: &BTreeMap<*mut Instance, &str>,
) -> Component {
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
            requires.push(Connection {
                interface: (*required.interface).name.get(),
                slot: (required.slots != 0).then_some(number),
                to: server(slot, paths),
                is_open: !(*slot).communication.is_null(),
            });
        });
    }
    for offered in template.offered.get().iter().filter(|offered| offered.body == Offered::INWARD) {
        let slot: *mut RequiredSlot = slot_at(instance, offered.inward);
        let interface = (*offered.interface).name.get();
        requires.push(Connection { interface, slot: None, to: server(slot, paths), is_open: false });
    }
    let mut processes = Vec::new();
    processes_of(instance, |p| processes.push(activity(w, p)));
    Component {
        path: path.into(),
        template: template.name.get(),
        offers: offers.collect(),
        requires,
        processes,
    }
}

/// What serves a slot: in the end, or as far as the way leads.
unsafe fn server(slot: *mut RequiredSlot, paths: &BTreeMap<*mut Instance, &str>) -> String {
    let target = (*slot).target;
    let instance = match (resolve(target), decode(target)) {
        (Some((instance, _)), _) => instance,
        (None, Target::Offered(slot)) => owner(slot),
        (None, Target::PassedOn(slot)) => (*slot).instance,
        (None, Target::Nothing) => return String::new(),
    };
    match paths.get(&instance) {
        Some(path) => (*path).into(),
        None => match binding(instance) {
            Some(binding) => binding.name,
            None => (*template_of(instance)).name.get().into(),
        },
    }
}

unsafe fn activity(w: *mut Worker, p: *mut Process) -> Activity {
    let body = body_of(p);
    let main = main_process((*p).instance);
    let what = match body.interface.as_ref() {
        Some(interface) => interface.name.get(),
        None if !main.is_null() && *main == p => "BEGIN",
        None => "FINALLY",
    };
    Activity { what, waits_for: fault::waits_for(p), at: fault::waiting_location(w, p) }
}

/// An instance as a binding. `None`: it is none.
unsafe fn binding(instance: *mut Instance) -> Option<BindingView> {
    let template = &*template_of(instance);
    let (name, traffic, interface) = match far::binding(instance)? {
        Binding::Proxy(name, traffic) => (name, traffic, template.offered.get().first()?.interface),
        Binding::Listener(name, traffic) => (name, traffic, template.required.get().first()?.interface),
    };
    Some(BindingView {
        name: name.into(),
        interface: (*interface).name.get(),
        is_export: template.offered.length == 0,
        communications: [traffic.begun.get(), traffic.open.get(), traffic.lost.get()],
        sent: traffic.sent.get(),
        received: traffic.received.get(),
    })
}
