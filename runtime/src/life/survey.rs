//! Walks over the processes and sub-components of components, for messages, for people, and for ending them by force.
//! Only what is rare needs this, so nothing is kept for it: processes are found where they are held.
//!
//! # Why this is sound
//! What a live component leads to is live.
//!
//! # Safety of this module
//! *Standing still*: the component or process that is looked at is live, this is the home worker's thread, and nothing
//! of the program runs or changes while the walk lasts, but for what `each` does with what it is shown.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use drystone_component::{Kind, Offered};

use super::owned::{Container, Owner};
use super::record::deletion_of;
use crate::collection;
use crate::communication::connection::{first_client, leaves_through};
use crate::instance::{Holder, body_of, holder, main_process, rare_if_any, slot_at, template_of};
use crate::layout::*;
use crate::process::frames;

/// Calls `each` for the processes of an instance that are alive.
///
/// # Safety
/// *Standing still.*
pub unsafe fn processes_of(instance: *mut Instance, mut each: impl FnMut(*mut Process)) {
    // SAFETY: *standing still*; the communications and processes to which slots and the rare part lead are live.
    unsafe {
        let main = main_process(instance);
        if !main.is_null() && !(*main).is_null() {
            each(*main);
        }
        let leaving = (*instance).left_through();
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
}

/// Calls `each` for all frames of a process.
///
/// # Safety
/// *Standing still.*
pub unsafe fn frames_of(p: *mut Process, mut each: impl FnMut(Owner)) {
    // SAFETY: *standing still*; body and frames are described by the compiler.
    unsafe {
        each(Owner::new(p.cast(), body_of(p).owned.get()));
        let mut frame = frames(p);
        while !frame.is_null() {
            each(Owner::new(frame.cast(), (*(*frame).frame).owned.get()));
            frame = (*frame).caller;
        }
    }
}

/// Calls `each` for the containers with a component, dead or alive, in the instance's own variables.
///
/// # Safety
/// *Standing still.*
pub unsafe fn children_of(instance: *mut Instance, each: impl FnMut(Container)) {
    // SAFETY: *standing still*.
    unsafe { Owner::of_instance(instance).components(each) };
}

/// Calls `each` for the containers with a component, dead or alive, in a process's frames.
///
/// # Safety
/// *Standing still.*
pub unsafe fn children_of_process(p: *mut Process, mut each: impl FnMut(Container)) {
    // SAFETY: *standing still*.
    unsafe { frames_of(p, |frame| frame.components(&mut each)) };
}

/// Shows a component that is held: the variable, what makes the text of the keys (such as `[17]`, empty if it is no
/// collection), and the component, dead or alive, or null.
pub type Show<'a, B> = dyn FnMut(&'static str, &dyn Fn() -> String, *mut Instance) -> ControlFlow<B> + 'a;

/// Shows what an owner holds, until told to stop.
pub fn held_by<B>(owner: Owner, show: &mut Show<'_, B>) -> ControlFlow<B> {
    for (owned, cell) in owner.variables() {
        let name = owned.name.get();
        // SAFETY: an owner says what lies at `cell`; a collection of components has containers as elements.
        unsafe {
            match owned.kind {
                Kind::Component => show(name, &String::new, *cell.cast())?,
                Kind::Collection if (*owned.collection).element == Kind::Component => {
                    let description = &*owned.collection;
                    collection::visit(cell.cast(), description, &mut |keys, element| {
                        let keys = || format!("[{}]", collection::shown(description, keys));
                        show(name, &keys, *element.cast())
                    })?;
                }
                _ => {}
            }
        }
    }
    ControlFlow::Continue(())
}

/// What an instance is called in what may hold it.
fn name_in(owner: Owner, instance: *mut Instance) -> Option<String> {
    let found = held_by(owner, &mut |name, keys, held| {
        if held == instance {
            ControlFlow::Break(format!("{name}{}", keys()))
        } else {
            ControlFlow::Continue(())
        }
    });
    found.break_value()
}

/// Longest path that is written whole.
const LONGEST_PATH: usize = 32;

/// The path of a component, such as `City.house[17]`.
///
/// # Safety
/// *Standing still.*
pub unsafe fn path(mut instance: *mut Instance) -> String {
    let mut names = Vec::new();
    // SAFETY: *standing still*; holders are live.
    unsafe {
        loop {
            if names.len() == LONGEST_PATH {
                names.push(String::from("..."));
                break;
            }
            let mut name = None;
            let next = match holder(instance) {
                Holder::Nobody => {
                    names.push(String::from((*template_of(instance)).name.get()));
                    break;
                }
                Holder::Instance(holder) => {
                    name = name_in(Owner::of_instance(holder), instance);
                    holder
                }
                Holder::Process(p) => {
                    frames_of(p, |frame| name = name.take().or_else(|| name_in(frame, instance)));
                    (*p).instance
                }
            };
            names.push(name.unwrap_or_else(|| String::from((*template_of(instance)).name.get())));
            instance = next;
        }
    }
    names.reverse();
    names.join(".")
}
