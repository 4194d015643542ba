//! What lies beyond this program, and what BY puts before it. Names of schemes other than `local:` are the platform's;
//! its factories, which put something into the path, are called here, the one nearest to the server first.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use drystone_component::{Interface, Name, Template};

use super::{Binder, Endpoint, Hints};
use crate::communication::connection::{lead, link, resolve};
use crate::far::{Door, Handled, Reach, door};
use crate::home::AtHome;
use crate::layout::{Instance, RequiredSlot, Worker};
use crate::near::{listen, proxy, proxy_of, stands_before};

/// Binds a slot that is unconnected to a name.
///
/// # Errors
/// What the platform says.
///
/// # Safety
/// As the binding module says.
pub unsafe fn bind(
    w: *mut Worker,
    slot: *mut RequiredSlot,
    interface: &'static Interface,
    name: Name<'_>,
    hints: &Hints<'_>,
) -> Result<(), String> {
    // SAFETY: at home; the slot is linked, and a new proxy leads nowhere else.
    unsafe {
        let at = AtHome::new(w);
        lead(w, slot, find(at, interface, name, hints)?.target(at, interface)?);
    }
    Ok(())
}

/// What reaches a name, while nothing is connected to it.
pub struct Found {
    reach: Box<dyn Reach>,
    name: String,
}

/// Finds what reaches a name.
///
/// # Errors
/// What the platform says.
pub fn find(
    at: AtHome,
    interface: &'static Interface,
    name: Name<'_>,
    hints: &Hints<'_>,
) -> Result<Found, String> {
    // SAFETY: the platform is used for this call.
    let reach = unsafe { binder(at, name) }?.bind(Endpoint { interface, name, hints })?;
    Ok(Found { reach, name: shown(&name, hints) })
}

impl Found {
    /// What a slot is to be connected to; it has to be connected at once.
    ///
    /// # Errors
    /// There is no memory.
    pub fn target(self, at: AtHome, interface: &'static Interface) -> Result<usize, String> {
        Ok(proxy(at, interface, self.reach, &self.name).ok_or("out of memory")?)
    }
}

/// Exports what `target` leads to by a name.
///
/// # Errors
/// What the platform says.
///
/// # Safety
/// As the binding module says.
pub unsafe fn export(
    w: *mut Worker,
    target: usize,
    interface: &'static Interface,
    name: Name<'_>,
    hints: &Hints<'_>,
) -> Result<(), String> {
    // SAFETY: the target is linked, as is a new listener's slot; the platform is used for one call.
    unsafe {
        let at = AtHome::new(w);
        let mut exported = binder(at, name)?.export(Endpoint { interface, name, hints })?;
        if let Some(handled) = handled(target) {
            exported.handled(handled);
        }
        link(listen(at, interface, exported, &shown(&name, hints)).ok_or("out of memory")?, target);
    }
    Ok(())
}

/// What `target` leads to as a handler, if its implementation is marked so.
///
/// # Safety
/// The target is linked as long as the result is used.
unsafe fn handled<'a>(target: usize) -> Option<Handled<'a>> {
    // SAFETY: the instance that serves a linked target is there.
    unsafe {
        let (instance, offered) = resolve(target)?;
        Handled::of(instance, offered)
    }
}

/// The platform, for a name of its.
///
/// # Errors
/// It knows no names.
///
/// # Safety
/// Only one is used at a time.
pub unsafe fn binder<'a>(at: AtHome, name: Name<'_>) -> Result<&'a mut dyn Binder, String> {
    let none = || format!("no such naming context: {name}");
    // SAFETY: the platform outlives the program.
    unsafe { (*(*at.data()).platform).binder() }.ok_or_else(none)
}

/// Makes a component in another domain; the container is empty.
///
/// # Errors
/// What the platform says.
///
/// # Safety
/// As the binding module says.
pub unsafe fn new_at(
    w: *mut Worker,
    container: *mut *mut Instance,
    template: &'static Template,
    holder: usize,
    name: Name<'_>,
    hints: &Hints<'_>,
) -> Result<(), String> {
    // SAFETY: container and holder are as for `ds_new`; the platform is used for one call.
    unsafe {
        let domain = binder(AtHome::new(w), name)?.create(template, name, hints)?;
        *container = proxy_of(w, template, holder, domain, &shown(&name, hints)).ok_or("out of memory")?;
    }
    Ok(())
}

/// How many messages a door of a binding within the program keeps, where BY doesn't say.
pub const CAPACITY: u32 = 16;

/// What BY puts between a slot and what it is connected to.
pub struct Way {
    /// What the slot is to be connected to.
    target: usize,
    /// What is to be connected in its place.
    behind: *mut RequiredSlot,
}

/// Makes what BY asks for; nothing without a BY. The way has to be [used](through) at once.
///
/// # Errors
/// A factory refuses.
pub fn way(at: AtHome, interface: &'static Interface, hints: &Hints<'_>) -> Result<Option<Way>, String> {
    compose(at, interface, hints)?.map(|composed| composed.way(at, interface)).transpose()
}

/// What BY asks for, while it stands between nothing.
pub struct Composed {
    entrance: Box<dyn Reach>,
    door: Door,
    name: String,
}

/// The same without a way, for later.
///
/// # Errors
/// A factory refuses.
pub fn compose(
    at: AtHome,
    interface: &'static Interface,
    hints: &Hints<'_>,
) -> Result<Option<Composed>, String> {
    if hints.factories.is_empty() {
        return Ok(None);
    }
    let (entrance, door) = door(hints.capacity()?.unwrap_or(CAPACITY) as usize);
    // SAFETY: the platform is used for one call.
    let platform =
        unsafe { (*(*at.data()).platform).binder() }.ok_or("there are no binding factories here")?;
    let entrance = platform.compose(Box::new(entrance), interface, hints)?;
    Ok(Some(Composed { entrance, door, name: shown(&"local", hints) }))
}

impl Composed {
    /// Makes the way. It has to be [used](through) at once.
    ///
    /// # Errors
    /// There is no memory.
    pub fn way(self, at: AtHome, interface: &'static Interface) -> Result<Way, String> {
        let behind = listen(at, interface, Box::new(self.door), &self.name).ok_or("out of memory")?;
        let target = proxy(at, interface, self.entrance, &self.name).ok_or("out of memory")?;
        // SAFETY: the target is a new proxy.
        unsafe { stands_before(target, behind) };
        Ok(Way { target, behind })
    }
}

/// Connects a slot that is unconnected to the way, if there is one; gives the slot that is to be connected in its
/// place.
///
/// # Safety
/// As the binding module says.
pub unsafe fn through(w: *mut Worker, slot: *mut RequiredSlot, way: Option<Way>) -> *mut RequiredSlot {
    let Some(Way { target, behind }) = way else { return slot };
    // SAFETY: the slot is linked, and the way new.
    unsafe { lead(w, slot, target) };
    behind
}

/// A binding as a program says it, without its options.
fn shown(name: &dyn fmt::Display, hints: &Hints<'_>) -> String {
    let factories = hints.factories.iter().map(|factory| factory.name).collect::<Vec<_>>();
    let by = if factories.is_empty() { String::new() } else { format!(" BY {}", factories.join(", ")) };
    format!("{name}{by}")
}
