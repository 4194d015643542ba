//! What instances own that stand in this program for something elsewhere, and what can be asked about them. How they
//! come, and what they do, is the near module's.
//!
//! # Safety of this module: *words*
//! An instance has one word at its end, behind its slots. It is null or owns, by its template's role: a [`Served`]
//! (`Proxy`, `Remote`), a [`Listener`], or a client of the communication module (`Client`). All of it is used at home
//! only (see [`crate::home`]); what is borrowed from a word lasts until its instance's FINALLY or main process ends.

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
    /// The component and its required interface that far clients use, if it is for a component's own clients.
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
///
/// # Safety
/// The instance's block is there, and its template's role is one that has this word.
pub unsafe fn own<T>(instance: *mut Instance) -> *mut *mut T {
    // SAFETY: the template's size includes the word.
    unsafe { instance.byte_add((*template_of(instance)).size as usize - size_of::<usize>()).cast() }
}

/// Takes what a word or a cell owns.
///
/// # Safety
/// It is null or owns a box, which nobody else uses.
pub unsafe fn take<T>(cell: *mut *mut T) -> Option<Box<T>> {
    // SAFETY: the caller promises that the cell is null or owns a box.
    unsafe {
        let value = core::mem::replace(&mut *cell, ptr::null_mut());
        if value.is_null() { None } else { Some(Box::from_raw(value)) }
    }
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
/// At home; it is alive, as long as the result is used.
pub unsafe fn binding<'a>(instance: *mut Instance) -> Option<Binding<'a>> {
    // SAFETY: the instance's role tells what its word owns.
    unsafe {
        match (*template_of(instance)).role {
            Role::Own | Role::Client => None,
            Role::Proxy => {
                let Served { name, joints, .. } = served(instance)?;
                Some(Binding::Proxy(name, &joints[0].traffic))
            }
            Role::Remote => {
                let Served { name, joints, .. } = served(instance)?;
                Some(Binding::Made(name, joints))
            }
            Role::Listener => {
                let Listener { name, traffic, required, .. } = (*own::<Listener>(instance)).as_ref()?;
                Some(match required {
                    None => Binding::Listener(name, traffic),
                    Some((of, _)) => Binding::Requiring(name, traffic, *of),
                })
            }
        }
    }
}

/// What reaches what a server stands for; `None`: it stands for nothing elsewhere.
///
/// # Safety
/// As for [`binding`].
pub unsafe fn reach_of<'a>(instance: *mut Instance, interface: usize) -> Option<&'a dyn Reach> {
    // SAFETY: the instance is alive; only proxies of both roles own this.
    unsafe {
        match (*template_of(instance)).role {
            Role::Proxy | Role::Remote => Some(&*served(instance)?.joints.get(interface)?.reach),
            Role::Own | Role::Client | Role::Listener => None,
        }
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
    // SAFETY: the instance is alive.
    let (name, why) = match unsafe { binding(instance) }? {
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
/// At home; the instance's block is there.
pub unsafe fn behind(instance: *mut Instance) -> *mut RequiredSlot {
    // SAFETY: a proxy's word is null or owns the proxy's data.
    unsafe {
        let served = if is_proxy(instance) { served(instance) } else { None };
        served.map_or(ptr::null_mut(), |served| served.behind)
    }
}

/// Whether an instance is a proxy that a name has been bound by.
///
/// # Safety
/// The instance's block is there.
pub unsafe fn is_proxy(instance: *mut Instance) -> bool {
    // SAFETY: the block is there, and templates live for ever.
    unsafe { (*template_of(instance)).role == Role::Proxy }
}

/// How the domain of a component has come to an end, if it has before that was deleted.
///
/// # Safety
/// At home; the instance is alive, and its role `Remote`.
pub unsafe fn ended(instance: *mut Instance) -> Option<String> {
    // SAFETY: the word of such an instance is null or owns its data.
    unsafe { served(instance) }?.remote.as_ref()?.domain.ended()
}

/// What a proxy has, if it has that still.
///
/// # Safety
/// At home; the instance's block is there as long as the result is used, and its role is `Proxy` or `Remote`.
unsafe fn served<'a>(instance: *mut Instance) -> Option<&'a Served> {
    // SAFETY: the word of such an instance is null or owns this.
    unsafe { (*own::<Served>(instance)).as_ref() }
}
