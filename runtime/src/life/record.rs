//! What is known of a deletion that may have to wait: a record, one for each component that is being deleted now, each
//! pointing at the one that it is part of.
//!
//! # Why this is sound
//! A record is in `Rare::deletion` of its live instance, or belongs to a waiting process.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::null_mut;

use super::children::Children;
use super::owned::{Range, Storage};
use crate::instance::{rare_if_any, rare_of};
use crate::layout::{DELETING, Instance, Process};

/// A deletion under way: of a component, or of what a process or collection holds.
pub struct Deletion {
    /// What is deleted; null: only what `children` says.
    pub instance: *mut Instance,
    /// The deletion that this one is part of, or null.
    pub parent: *mut Deletion,
    /// Whom it tells when all is done.
    pub customer: Customer,
    /// How far it is.
    pub stage: Stage,
    /// What it holds, as soon as that is deleted.
    pub children: Children,
    /// What is freed after that, if there is no instance.
    pub storage: Option<Storage>,
    /// The process that runs FINALLY.
    pub finalizer: *mut Process,
}

/// Who wants a deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Customer {
    /// The deletion that it is part of.
    Parent,
    /// A process, that waits if the last word is true, and the location where it says so.
    Process(*mut Process, u32, bool),
    /// A process that was ended by force while it waited, and is buried then.
    Burial(*mut Process),
    /// Nobody: the component was in a message that was dropped.
    Nobody,
    /// The program's end.
    Program,
}

/// How far a deletion is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Waits for the end of BEGIN and ACTIVITY.
    Main,
    /// Waits for the ends of all services.
    Services,
    /// Waits for the end of FINALLY.
    Finally,
    /// Deletes what it holds.
    Children,
}

/// A new record for a component.
pub unsafe fn begin(instance: *mut Instance, parent: *mut Deletion, customer: Customer) -> *mut Deletion {
    let d = Box::into_raw(Box::new(Deletion {
        instance,
        parent,
        customer,
        stage: Stage::Main,
        children: Children::new(Vec::new()),
        storage: None,
        finalizer: null_mut(),
    }));
    (*instance).live |= DELETING;
    (*rare_of(instance)).deletion = d.cast();
    d
}

/// A new record for what a process deletes, with components in these containers.
pub fn begin_several(p: *mut Process, location: u32, storage: Storage, ranges: Vec<Range>) -> *mut Deletion {
    Box::into_raw(Box::new(Deletion {
        instance: null_mut(),
        parent: null_mut(),
        customer: Customer::Process(p, location, false),
        stage: Stage::Children,
        children: Children::new(ranges),
        storage: Some(storage),
        finalizer: null_mut(),
    }))
}

/// The record of a deletion that a process waits for already, from where services end.
pub unsafe fn begin_for(instance: *mut Instance, p: *mut Process) -> *mut Deletion {
    let d = begin(instance, null_mut(), Customer::Process(p, u32::MAX, true));
    (*d).stage = Stage::Services;
    (*p).next = d.cast();
    d
}

/// The deletion of an instance that is under way, or null.
pub unsafe fn deletion_of(instance: *mut Instance) -> *mut Deletion {
    let rare = rare_if_any(instance);
    if rare.is_null() { null_mut() } else { (*rare).deletion.cast() }
}
