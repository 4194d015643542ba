//! What is known of a deletion that may have to wait: a record for each component that is being deleted now. But of one
//! that waits for a component that it holds, and holds few others, nothing is kept, for a chain of components may be
//! millions of them long: what its record says is found out again when it goes on ([`descend`], [`again`]).
//!
//! # Why this is sound
//! The live instance leads to its record, or a waiting process does. An instance without one has no processes, so only
//! the end of what it holds makes anybody look for it.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::vec::Vec;
use core::ptr::{null, null_mut};

use drystone_component::Template;

use super::children::Children;
use super::late::Late;
use super::owned::{Range, Storage, containers_of};
use crate::instance::{self, free_rare, holder_of, set_deletion, template_of};
use crate::layout::{DELETING, Instance, Process, Worker};
use crate::worker::heap_of;

/// A deletion under way: of a component, or of what a process or collection holds.
#[repr(C)]
pub struct Deletion {
    /// What the instance is: see [`Instance::kind`].
    template: *const Template,
    /// What is deleted; null: only what `children` says.
    pub instance: *mut Instance,
    /// The record of the deletion that this one is part of, or null.
    pub parent: *mut Deletion,
    /// Whom it tells when all is done.
    pub customer: Customer,
    /// How far it is.
    pub stage: Stage,
    /// A place in the tables of its slots: up to there its connections are undone.
    pub undone: usize,
    /// What it holds, as soon as that is deleted.
    pub children: Children,
    /// What is freed after that, if there is no instance.
    pub storage: Option<Storage>,
    /// The process that runs FINALLY.
    pub finalizer: *mut Process,
    /// What it has passed over.
    pub late: Late,
    /// Whose turn it is, although it is late: this one, or one within it; or null.
    pub turn: *mut Instance,
    /// It waits for its next turn.
    pub is_suspended: bool,
}

/// Who wants a deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Customer {
    /// The deletion that it is part of.
    Parent,
    /// A process, that waits if the last word is true, and the location where it says so.
    Process(*mut Process, u32, bool),
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
pub unsafe fn begin(
    w: *mut Worker,
    instance: *mut Instance,
    parent: *mut Deletion,
    customer: Customer,
) -> *mut Deletion {
    let d = (*heap_of(w)).keep(Deletion {
        template: template_of(instance),
        instance,
        parent,
        customer,
        stage: Stage::Main,
        children: Children::new(Vec::new()),
        storage: None,
        finalizer: null_mut(),
        undone: 0,
        late: Late::default(),
        turn: null_mut(),
        is_suspended: false,
    });
    (*instance).live |= DELETING;
    set_deletion(instance, d.cast());
    d
}

/// A record is needed no more; its instance doesn't lead to it.
pub unsafe fn end_record(w: *mut Worker, d: *mut Deletion) -> Deletion {
    (*heap_of(w)).take_back(d)
}

/// The record of a component that is deleted as a part of `d`, or goes on being; the record of `d` goes if it can be
/// made again.
pub unsafe fn descend(w: *mut Worker, d: *mut Deletion, child: *mut Instance) -> *mut Deletion {
    let turn = take_turn(d);
    let parent = if can_be_made_again(d) {
        free_rare(w, (*d).instance);
        end_record(w, d);
        null_mut()
    } else {
        d
    };
    let is_new = (*child).live & DELETING == 0;
    let d = if is_new { begin(w, child, parent, Customer::Parent) } else { again(w, child) };
    (*d).parent = parent;
    (*d).turn = turn;
    (*d).is_suspended = false;
    d
}

unsafe fn take_turn(d: *mut Deletion) -> *mut Instance {
    core::mem::replace(&mut (*d).turn, null_mut())
}

/// The record of the deletion that a component's is a part of, where this component is the current one.
pub unsafe fn outer(w: *mut Worker, instance: *mut Instance, parent: *mut Deletion) -> *mut Deletion {
    if !parent.is_null() {
        return parent;
    }
    let parent = again(w, holder_of(instance));
    (*parent).children.find(instance);
    parent
}

/// Whether all that a record says is known without it.
unsafe fn can_be_made_again(d: *mut Deletion) -> bool {
    (*d).customer == Customer::Parent
        && is_of_component((*d).parent)
        && (*d).children.are_few()
        && (*d).late.is_new()
}

/// Whether the deletion that a component's is part of is a component's too; there may be no record of it.
pub unsafe fn is_of_component(parent: *mut Deletion) -> bool {
    parent.is_null() || !(*parent).instance.is_null()
}

/// The record of a component that is being deleted: the one that it has; or one made again, where it waits for what it
/// holds.
pub unsafe fn again(w: *mut Worker, instance: *mut Instance) -> *mut Deletion {
    let d = deletion_of(instance);
    if !d.is_null() {
        return d;
    }
    let d = begin(w, instance, deletion_of(holder_of(instance)), Customer::Parent);
    begin_children(d);
    d
}

/// The deletion of what a component holds begins.
pub unsafe fn begin_children(d: *mut Deletion) {
    let instance = (*d).instance;
    let mut ranges = Vec::new();
    containers_of(instance.cast(), (*template_of(instance)).owned.get(), |range| ranges.push(range));
    (*d).children = Children::new(ranges);
    (*d).stage = Stage::Children;
    (*d).turn = null_mut();
}

/// A new record for what a process deletes, with components in these containers.
pub unsafe fn begin_several(
    w: *mut Worker,
    p: *mut Process,
    location: u32,
    storage: Storage,
    ranges: Vec<Range>,
) -> *mut Deletion {
    (*heap_of(w)).keep(Deletion {
        template: null(),
        instance: null_mut(),
        parent: null_mut(),
        customer: Customer::Process(p, location, false),
        stage: Stage::Children,
        children: Children::new(ranges),
        storage: Some(storage),
        finalizer: null_mut(),
        undone: 0,
        late: Late::default(),
        turn: null_mut(),
        is_suspended: false,
    })
}

/// The record of a deletion that a process waits for already, from where services end.
pub unsafe fn begin_for(w: *mut Worker, instance: *mut Instance, p: *mut Process) -> *mut Deletion {
    let d = begin(w, instance, null_mut(), Customer::Process(p, u32::MAX, true));
    (*d).stage = Stage::Services;
    d
}

/// Whether nothing is awaited any more, for a component to be deleted, but the ends of the communications that are
/// under way.
pub unsafe fn waits_for_services(instance: *mut Instance) -> bool {
    let d = deletion_of(instance);
    (*instance).live & DELETING != 0 && !d.is_null() && (*d).stage == Stage::Services
}

/// The record of an instance's deletion, or null.
pub unsafe fn deletion_of(instance: *mut Instance) -> *mut Deletion {
    instance::deletion_in(instance).cast()
}
