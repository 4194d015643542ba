//! One connection of a program: finds it by the path of its component and its interface, or says why it isn't there;
//! and describes the communication over it in a sentence.
//!
//! # Why this is sound
//! See the inspect module.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::{Interface, Required, Template};

use super::found::{Found, find};
use super::known::Known;
use crate::communication::connection::resolve;
use crate::communication::interface_of;
use crate::far::standing::{self, Binding};
use crate::fault;
use crate::home::home;
use crate::instance::slots::indexed_slot;
use crate::instance::{slot_at, template_of};
use crate::layout::*;
use crate::life::survey;

/// Why something can't be done, as a sentence that says what is wrong.
#[derive(Clone, Debug, Default)]
pub struct Unknown {
    /// The sentence.
    pub why: String,
    /// The word in it that means nothing, if that is what is wrong.
    pub instead_of: String,
    /// Words that would mean something in its place, or some of them.
    pub known: Vec<String>,
}

impl Unknown {
    /// So many known words are enough.
    pub const MOST: usize = 1000;
}

impl From<String> for Unknown {
    fn from(why: String) -> Unknown {
        Unknown { why, ..Unknown::default() }
    }
}

/// The k-th slot, from 1, of an interface that the component of a path requires, with that interface.
///
/// # Safety
/// `w` is the home worker, and all is *standing still*.
pub(crate) unsafe fn slot(
    w: *mut Worker,
    path: &str,
    interface: &str,
    k: usize,
) -> Result<(*mut RequiredSlot, &'static Interface), Unknown> {
    // SAFETY: *standing still*.
    let (instance, template) = unsafe {
        let entry = (*home(w)).roots.entry;
        if entry.is_null() {
            return Err(String::from("the program has ended").into());
        }
        let found = find(entry, usize::MAX, &mut 0);
        let wanted = found.iter().find(|found| found.path == path);
        let instance = wanted.ok_or_else(|| no_component(&found, path))?.instance;
        (instance, &*template_of(instance))
    };
    // SAFETY: interfaces are there as long as the program.
    let interface_of = |required: &Required| unsafe { &*required.interface };
    let mut required = template.required.get().iter();
    let required = required.find(|required| interface_of(required).name.get() == interface);
    let required = required.ok_or_else(|| no_interface(template, path, interface))?;
    let interface = interface_of(required);
    match (required.slots, k) {
        // SAFETY: `instance` is live, and without a cardinality the slot itself lies there.
        (0, 1) => Ok((unsafe { slot_at(instance, required.offset) }, interface)),
        (most, k) if (1..=most as usize).contains(&k) => {
            // SAFETY: `instance` is live, and `k` within its cardinality.
            let slot = unsafe { indexed_slot(w, instance, required, k - 1) };
            Ok((slot.ok_or(String::from("out of memory"))?, interface))
        }
        (most, _) => {
            let there_are = match most {
                0 | 1 => String::from("it has only slot 1"),
                most => format!("they are numbered from 1 to {most}"),
            };
            let name = interface.name.get();
            Err(format!("there is no slot {k} of {name} in {path}: {there_are}").into())
        }
    }
}

/// There is no component of this path: names those that are where it was looked for.
fn no_component(found: &[Found], path: &str) -> Unknown {
    let is_around = |holder: &str| path.strip_prefix(holder).is_some_and(|rest| rest.starts_with('.'));
    let around = found.iter().enumerate().filter(|(_, found)| is_around(&found.path));
    let Some((number, holder)) = around.max_by_key(|(_, found)| found.path.len()) else {
        let entry = &found[0].path;
        let why = format!("there is no component {path}: {entry} is there, and all others are within it");
        let first = path.split('.').next().unwrap_or(path);
        return Unknown { why, instead_of: first.into(), known: Vec::from([entry.clone()]) };
    };
    let own = holder.path.len() + 1;
    let held = || found.iter().filter(move |found| found.holder == Some(number));
    let names: Vec<_> = held().map(|found| &found.path[own..]).collect();
    let why = format!("there is no component {path}: {} holds {}", holder.path, listed(&names));
    let end = path[own..].find('.').map_or(path.len(), |point| own + point);
    let known = held().map(|found| found.path.clone()).take(Unknown::MOST).collect();
    Unknown { why, instead_of: path[..end].to_owned(), known }
}

/// The component of this path requires no such interface: names those that it requires.
fn no_interface(template: &Template, path: &str, interface: &str) -> Unknown {
    // SAFETY: interfaces are there as long as the program.
    let name = |interface: *const Interface| unsafe { (*interface).name.get() };
    let required: Vec<_> = template.required.get().iter().map(|required| name(required.interface)).collect();
    let why = if template.offered.get().iter().any(|offered| name(offered.interface) == interface) {
        format!(
            "{path} offers {interface}: it is the connections of those who require it that are bound anew"
        )
    } else {
        format!("{path} requires no interface {interface}: it requires {}", listed(&required))
    };
    let known = required.into_iter().map(String::from).collect();
    Unknown { why, instead_of: interface.into(), known }
}

/// Some of the names, for people.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    match names {
        [] => "none".into(),
        names if names.len() <= SHOWN => names.join(", "),
        names => format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
    }
}

/// A sentence that names the client of a communication and its server, and what one of them waits for.
///
/// # Safety
/// `w` is the home worker, and all is *standing still*; `slot` is of a live instance, and has a communication.
pub(crate) unsafe fn talk(w: *mut Worker, slot: *mut RequiredSlot) -> String {
    // SAFETY: `w` is the home worker, and all is *standing still*; the waiter of a live communication is live.
    unsafe {
        let c = (*slot).communication;
        let client = survey::path((*slot).instance);
        let server = server(slot);
        let mut talk = format!("{client} talks to {server} by {}", interface_of(c).name.get());
        let waiter = (*c).waiter;
        if waiter.is_null() || (*waiter).status == PLATFORM {
            return talk;
        }
        let is_client = waiter != c.cast();
        talk += if is_client { ", and " } else { ", which " };
        talk += fault::waits_for((*waiter).status).trim_start_matches(", which ");
        if is_client {
            talk += &fault::waiting_location((*home(w)).program, (*waiter).resume);
        }
        talk
    }
}

/// What serves a slot, without a look at all of the program.
///
/// # Safety
/// *Standing still*; `slot` is of a live instance.
unsafe fn server(slot: *mut RequiredSlot) -> String {
    let mut paths = BTreeMap::new();
    let path;
    // SAFETY: *standing still*; `slot` is of a live instance; targets are slots of live instances.
    unsafe {
        let mut target = (*slot).target;
        while let Some((instance, _)) = resolve(target) {
            let way = standing::behind(instance);
            if way.is_null() {
                if !matches!(standing::binding(instance), Some(Binding::Proxy(..))) {
                    path = survey::path(instance);
                    paths.insert(instance, path.as_str());
                }
                break;
            }
            target = (*way).target;
        }
        Known { paths, whom: BTreeMap::new() }.server(slot).0
    }
}
