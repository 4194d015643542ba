//! What stands in this program for something elsewhere: what such an instance has in the word of its own, and what can
//! be asked about it. How they come, and what they do, is the near module's.
//!
//! # Why this is sound
//! An instance whose template has one of these roles has the word at its end, which owns what is named here, or is
//! null.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ptr;

use drystone_component::{Required, Role};

use super::{Domain, Exported, Reach, Traffic, Waker};
use crate::instance::template_of;
use crate::layout::{Instance, RequiredSlot};

/// What a proxy has.
pub struct Served {
    /// For each interface that it offers.
    pub joints: Vec<Joint>,
    /// Where its component is, if it stands for one.
    pub remote: Option<Remote>,
    /// What is connected in its clients' place, if what they reach is in this program.
    pub behind: *mut RequiredSlot,
    /// What it leads to, for people.
    pub name: String,
}

/// What a proxy has for one interface.
pub struct Joint {
    /// Begins its communications.
    pub reach: Box<dyn Reach>,
    /// What went through them.
    pub traffic: Rc<Traffic>,
}

impl From<Box<dyn Reach>> for Joint {
    fn from(reach: Box<dyn Reach>) -> Joint {
        Joint { reach, traffic: Rc::default() }
    }
}

/// What a proxy has of its domain.
pub struct Remote {
    /// Where it is.
    pub domain: Box<dyn Domain>,
    /// Wakes the process that waits for it.
    pub waker: Waker,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.waker.forget();
    }
}

/// What a listener has.
pub struct Listener {
    /// Brings the clients.
    pub exported: Box<dyn Exported>,
    /// Whose required interface it is that far clients use, if it is a component's own.
    pub required: Option<(*mut Instance, &'static Required)>,
    /// Wakes it.
    pub waker: Waker,
    /// What it is called, for people.
    pub name: String,
    /// What went through it.
    pub traffic: Rc<Traffic>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.waker.forget();
    }
}

/// The word that is an instance's own.
pub unsafe fn own<T>(instance: *mut Instance) -> *mut *mut T {
    instance.byte_add((*template_of(instance)).size as usize - size_of::<usize>()).cast()
}

/// Takes what the word owns.
pub unsafe fn take<T>(cell: *mut *mut T) -> Option<Box<T>> {
    let value = core::mem::replace(&mut *cell, ptr::null_mut());
    if value.is_null() { None } else { Some(Box::from_raw(value)) }
}

/// A binding of a program: its name, and what went through it.
pub enum Binding<'a> {
    /// What stands for something elsewhere.
    Proxy(&'a str, &'a Traffic),
    /// What brings clients from elsewhere.
    Listener(&'a str, &'a Traffic),
    /// What brings what a component requires that was made in another domain.
    Requiring(&'a str, &'a Traffic, *mut Instance),
    /// A component that was made in another domain, with what went to each interface that it offers.
    Made(&'a str, &'a [Joint]),
}

/// What a component is as a binding. `None`: it is none; far clients count for their listeners.
///
/// # Safety
/// On the home worker's thread; it is alive.
pub unsafe fn binding<'a>(instance: *mut Instance) -> Option<Binding<'a>> {
    match (*template_of(instance)).role {
        Role::Own | Role::Client => None,
        Role::Proxy => {
            let (name, joints) = description(instance)?;
            Some(Binding::Proxy(name, &joints[0].traffic))
        }
        Role::Remote => {
            let (name, joints) = description(instance)?;
            Some(Binding::Made(name, joints))
        }
        Role::Listener => {
            let (name, traffic, of) = listener(instance)?;
            Some(match of {
                None => Binding::Listener(name, traffic),
                Some(of) => Binding::Requiring(name, traffic, of),
            })
        }
    }
}

/// What reaches what a server stands for; `None`: it stands for nothing elsewhere.
///
/// # Safety
/// As for [`binding`]; the interface is one of those that it offers, by the number of its body.
pub unsafe fn reach_of<'a>(instance: *mut Instance, interface: usize) -> Option<&'a dyn Reach> {
    match binding(instance)? {
        Binding::Proxy(..) | Binding::Made(..) => {
            let (_, joints) = description(instance)?;
            Some(&*joints.get(interface)?.reach)
        }
        Binding::Listener(..) | Binding::Requiring(..) => None,
    }
}

/// The name alone, of a binding that may have been made BY something.
pub fn bare(name: &str) -> &str {
    name.split(" BY ").next().unwrap_or(name)
}

/// Why the last communication by an interface of a binding was lost, as a sentence that begins with its name; `None`:
/// it isn't known.
///
/// # Safety
/// As for [`binding`]; the interface is the binding's, by its number.
pub unsafe fn why_lost(instance: *mut Instance, interface: usize) -> Option<String> {
    let (name, why) = match binding(instance)? {
        Binding::Proxy(name, traffic) => (name, traffic.why.borrow().clone()),
        Binding::Made(name, joints) => (name, joints[interface].traffic.why.borrow().clone()),
        _ => return None,
    };
    let bare = bare(name);
    match why.as_str() {
        "" => None,
        why if why.starts_with(bare) => Some(why.into()),
        why => Some(format!("{name}: {why}")),
    }
}

/// What is connected in the place of an instance's clients; null if it is no proxy, or not for something in this
/// program.
///
/// # Safety
/// It is alive.
pub unsafe fn behind(instance: *mut Instance) -> *mut RequiredSlot {
    if !is_proxy(instance) {
        return ptr::null_mut();
    }
    let served: *mut Served = *own(instance);
    served.as_ref().map_or(ptr::null_mut(), |served| served.behind)
}

/// Whether an instance is a proxy that a name has been bound by.
///
/// # Safety
/// It is alive.
pub unsafe fn is_proxy(instance: *mut Instance) -> bool {
    (*template_of(instance)).role == Role::Proxy
}

/// The name of a proxy, and what it has for each interface that it offers.
///
/// # Safety
/// It is one, or stands for a component that was made in another domain; and it is alive.
unsafe fn description<'a>(instance: *mut Instance) -> Option<(&'a str, &'a [Joint])> {
    let served: *mut Served = *own(instance);
    served.as_ref().map(|served| (served.name.as_str(), served.joints.as_slice()))
}

/// How the domain of a component has come to an end, if it has before that was deleted.
pub unsafe fn ended(instance: *mut Instance) -> Option<String> {
    let served: *mut Served = *own(instance);
    served.as_ref()?.remote.as_ref()?.domain.ended()
}

/// The name of a listener, what went through it, and whose required interface it is, if it is a component's own.
///
/// # Safety
/// It is one, and alive.
unsafe fn listener<'a>(instance: *mut Instance) -> Option<(&'a str, &'a Traffic, Option<*mut Instance>)> {
    let listener: *mut Listener = *own(instance);
    let listener = listener.as_ref()?;
    Some((listener.name.as_str(), &*listener.traffic, listener.required.map(|(of, _)| of)))
}
