//! Who is there: walks over the processes and sub-components of components, for messages and for ending them by force.
//!
//! Only what is rare needs this, so nothing is kept for it: processes are found where they are held.
//!
//! # Why this is sound
//! Everything found is live, and stays so while the walk lasts, which changes nothing by itself.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use drystone_component::{Kind, Offered, Owned};

use super::owned::components_of;
use super::record::deletion_of;
use crate::collection;
use crate::communication::connection::{first_client, leaves_through};
use crate::instance::{Holder, body_of, holder, leaving, main_process, rare_if_any, slot_at, template_of};
use crate::layout::*;
use crate::process::frames;

/// Calls `each` for the processes of an instance that are alive.
pub unsafe fn processes_of(instance: *mut Instance, mut each: impl FnMut(*mut Process)) {
    let main = main_process(instance);
    if !main.is_null() && !(*main).is_null() {
        each(*main);
    }
    let leaving = leaving(instance);
    if !leaving.is_null() {
        each(leaving.cast());
    }
    let deletion = deletion_of(instance);
    if !deletion.is_null() && !(*deletion).finalizer.is_null() {
        each((*deletion).finalizer);
    }
    let rare = rare_if_any(instance);
    if !rare.is_null() {
        for orphan in (*rare).orphans.iter() {
            each(core::ptr::with_exposed_provenance_mut(orphan));
        }
    }
    let mut found = |c: *mut Communication| {
        if !c.is_null() && (*c).process.instance == instance && (*c).word.flags & SERVICE_ENDED == 0 {
            each(c.cast());
        }
    };
    for offered in (*template_of(instance)).offered.get().iter().filter(|o| o.body != Offered::INWARD) {
        let slot = slot_at::<OfferedSlot>(instance, offered.offset);
        found((*slot).holder);
        let mut client = first_client(instance, offered);
        while !client.is_null() {
            leaves_through(client, |leaf| found(*leaf.cell));
            client = (*client).next;
        }
    }
}

/// Calls `each` for all frames of a process: where each begins and what it owns.
pub unsafe fn frames_of(p: *mut Process, mut each: impl FnMut(*mut u8, &'static [Owned])) {
    each(p.cast(), body_of(p).owned.get());
    let mut frame = frames(p);
    while !frame.is_null() {
        each(frame.cast(), (*(*frame).frame).owned.get());
        frame = (*frame).caller;
    }
}

/// Calls `each` for the containers with a component, dead or not, in the instance's own variables.
pub unsafe fn children_of(instance: *mut Instance, each: impl FnMut(*mut *mut Instance)) {
    components_of(instance.cast(), (*template_of(instance)).owned.get(), each);
}

/// The same for what a process holds.
pub unsafe fn children_of_process(p: *mut Process, mut each: impl FnMut(*mut *mut Instance)) {
    frames_of(p, |base, owned| components_of(base, owned, &mut each));
}

/// Longest path that is written whole.
const LONGEST_PATH: usize = 32;

/// The path of a component, such as `City.house[17]`.
pub unsafe fn path(mut instance: *mut Instance) -> String {
    let mut names = Vec::new();
    loop {
        if names.len() == LONGEST_PATH {
            names.push(String::from("..."));
            break;
        }
        let mut name = None;
        let holder = holder(instance);
        let next = match holder {
            Holder::Nobody => {
                names.push(String::from((*template_of(instance)).name.get()));
                break;
            }
            Holder::Instance(holder) => {
                name = name_in(holder.cast(), (*template_of(holder)).owned.get(), instance);
                holder
            }
            Holder::Process(p) => {
                frames_of(p, |base, owned| name = name.take().or_else(|| name_in(base, owned, instance)));
                (*p).instance
            }
        };
        names.push(name.unwrap_or_else(|| String::from((*template_of(instance)).name.get())));
        instance = next;
    }
    names.reverse();
    names.join(".")
}

/// What an instance is called by one who may hold it.
unsafe fn name_in(base: *mut u8, owned: &[Owned], instance: *mut Instance) -> Option<String> {
    owned.iter().find_map(|owned| {
        let cell = base.add(owned.offset as usize);
        match owned.kind {
            Kind::Component => {
                (*cell.cast::<*mut Instance>() == instance).then(|| String::from(owned.name.get()))
            }
            Kind::Collection if (*owned.collection).element == Kind::Component => {
                let description = &*owned.collection;
                let found = collection::visit(cell.cast(), description, &mut |keys, element| {
                    if *element.cast::<*mut Instance>() == instance {
                        let keys = collection::shown(description, keys);
                        ControlFlow::Break(format!("{}[{keys}]", owned.name.get()))
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                found.break_value()
            }
            _ => None,
        }
    })
}
