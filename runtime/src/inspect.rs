//! A running program, as people want to see it: its components with their interfaces, connections and processes, and
//! its bindings. Nothing is kept for this: all is found where it is, so the time it takes grows with the program.
//!
//! # Why this is sound
//! Everything found is live, and stays so while the walk lasts, which changes nothing.
//!
//! # Safety of this module
//! *Standing still*: as in `life::survey`.

mod found;
mod joints;
mod known;
mod slot;
mod views;
mod whom;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use drystone_component::{Offered, Program};

use crate::communication::connection::clients_of;
use crate::far::standing::{self, Binding};
use crate::fault;
use crate::home::home;
use crate::instance::slots::slots_of;
use crate::instance::{body_of, main_process, slot_at, template_of};
use crate::layout::*;
use crate::life::survey::processes_of;
use crate::worker::ground;

use found::{Found, find};
use joints::{bindings, is_way};
use known::Known;

pub use slot::Unknown;
pub(crate) use slot::{slot, talk};
pub use views::{Activity, BindingView, Component, Connection, Next, Snapshot};

/// Looks at the program; at most so many components.
///
/// # Safety
/// `w` is the home worker, on whose thread this is called while the scheduler has control, as in
/// [`crate::platform::Platform::wait`].
pub unsafe fn inspect(w: *mut Worker, most: usize) -> Snapshot {
    let mut snapshot = Snapshot::default();
    // SAFETY: the scheduler has control, so all is *standing still*.
    unsafe {
        let program = (*home(w)).program;
        let entry = (*home(w)).roots.entry;
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
        snapshot.components = found.iter().map(|found| view(program, found, &known)).collect();
        let made = found.iter().filter(|found| found.holder.is_some()).map(|found| found.instance);
        let ways: BTreeSet<_> = kept.iter().map(|&instance| standing::behind(instance)).collect();
        // What a BY before a component is made of has two ends, of which one is enough.
        let kept = kept.iter().copied().filter(|&instance| !is_way(instance, &ways));
        snapshot.bindings = made.chain(kept).flat_map(|instance| bindings(instance, &known)).collect();
    }
    snapshot
}

/// # Safety
/// *Standing still*; the component that was found is live.
unsafe fn view(program: &Program, found: &Found, known: &Known<'_>) -> Component {
    let &Found { instance, ref path, holder, variable } = found;
    // SAFETY: *standing still*; interfaces are there as long as the program.
    unsafe {
        let template = &*template_of(instance);
        let offers = template
            .offered
            .get()
            .iter()
            .map(|offered| ((*offered.interface).name.get(), clients_of(instance, offered)));
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
            let slot = slot_at(instance, offered.inward);
            requires.push(known.connection(slot, &*offered.interface, None, true));
        }
        let mut processes = Vec::new();
        processes_of(instance, |p| processes.push(activity(program, p, known)));
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
}

/// # Safety
/// *Standing still*; `p` is live.
unsafe fn activity(program: &Program, p: *mut Process, known: &Known<'_>) -> Activity {
    // SAFETY: *standing still*; `p` is live; interfaces are there as long as the program.
    let (status, resume, interface, is_main) = unsafe {
        let main = main_process((*p).instance);
        ((*p).status, (*p).resume, body_of(p).interface.as_ref(), !main.is_null() && *main == p)
    };
    let what = match interface {
        Some(interface) => interface.name.get(),
        None if is_main => "BEGIN",
        None => "FINALLY",
    };
    let whom = known.whom.get(&p).cloned().unwrap_or_default();
    Activity { what, waits_for: fault::waits_for(status), whom, at: fault::waiting_location(program, resume) }
}
