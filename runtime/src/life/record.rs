//! Records of deletions that may have to wait: one for each component that is being deleted. A component that waits for
//! one that it holds, and holds few more, needs none: what its record would say is found out again when its deletion
//! goes on ([`descend`], [`again`]). So a chain of millions of components is deleted with few records.
//!
//! # Why this is sound
//! The live instance leads to its record, or a waiting process does. An instance without one has no processes, so it is
//! only looked for when something that it holds has ended.
//!
//! # Safety of this module
//! *Under way*: see the deletion module.

use alloc::vec::Vec;
use core::ptr::{null, null_mut};

use drystone_component::Template;

use super::children::Children;
use super::late::Late;
use super::owned::{Container, Owner, Range, Storage};
use crate::instance::{deletion_in, free_rare, holder_of, set_deletion, template_of};
use crate::layout::{DELETING, Instance, Process, Worker};
use crate::worker::heap_of;

/// A deletion under way: of a component, or of what a process or collection holds.
#[repr(C)]
pub struct Deletion {
    /// What the instance is: see [`Instance::kind`].
    template: *const Template,
    /// What is deleted; null: only what `children` says.
    pub instance: *mut Instance,
    /// The record of the deletion that this one is part of, which lasts longer than this one; or null.
    pub parent: *mut Deletion,
    /// What wants it, and is told when all is done.
    pub customer: Customer,
    /// How far it is.
    pub stage: Stage,
    /// A place in the tables of its slots: up to there its connections are undone.
    pub undone: usize,
    /// The components that it holds, as soon as these are deleted.
    pub children: Children,
    /// What is freed after that, if there is no instance.
    pub storage: Option<Storage>,
    /// The process that runs FINALLY.
    pub finalizer: *mut Process,
    /// Exported components that it has passed over.
    pub late: Late,
    /// The late component whose turn it is: this one, or one within it; or null.
    pub turn: *mut Instance,
    /// It waits for its next turn.
    pub is_suspended: bool,
}

/// What wants a deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Customer {
    /// The deletion that it is part of.
    Parent,
    /// A process, the location where it deletes, and whether it waits.
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

impl Deletion {
    fn new(
        template: *const Template,
        instance: *mut Instance,
        parent: *mut Deletion,
        customer: Customer,
    ) -> Deletion {
        Deletion {
            template,
            instance,
            parent,
            customer,
            stage: Stage::Main,
            undone: 0,
            children: Children::new(Vec::new()),
            storage: None,
            finalizer: null_mut(),
            late: Late::default(),
            turn: null_mut(),
            is_suspended: false,
        }
    }

    /// The container of the component that it deletes now.
    pub fn current(&self) -> Container {
        self.children.current.expect("it deletes one")
    }

    /// The deletion that it is part of, if there is a record of that.
    fn outer(&self) -> Option<&Deletion> {
        // SAFETY: a record lasts longer than those of the deletions that are part of it.
        unsafe { self.parent.as_ref() }
    }

    /// What wants it, or the deletion that it is part of.
    pub fn outermost_customer(&self) -> Customer {
        self.outer().map_or(self.customer, |outer| outer.customer)
    }

    /// Whether it is part of a component's deletion, of which there may be no record.
    pub fn is_within_component(&self) -> bool {
        self.customer == Customer::Parent && self.outer().is_none_or(|outer| !outer.instance.is_null())
    }

    /// Whether all that it says is known without it.
    fn can_be_made_again(&self) -> bool {
        self.is_within_component() && self.children.are_few() && self.late.is_new()
    }

    fn take_turn(&mut self) -> *mut Instance {
        core::mem::replace(&mut self.turn, null_mut())
    }
}

/// A new record for a component.
///
/// # Safety
/// `w` is the home worker; `instance` is live and has no record; `parent` is null or *under way*.
pub unsafe fn begin(
    w: *mut Worker,
    instance: *mut Instance,
    parent: *mut Deletion,
    customer: Customer,
) -> *mut Deletion {
    // SAFETY: `w` is the home worker; `instance` is live and has no record; `parent` is null or *under way*; the
    // record begins with the template.
    unsafe {
        let d = (*heap_of(w)).keep(Deletion::new(template_of(instance), instance, parent, customer));
        (*instance).live |= DELETING;
        set_deletion(instance, d.cast());
        d
    }
}

/// Ends a record, and answers what it said.
///
/// # Safety
/// `w` is the home worker; nothing leads to the record any more.
pub unsafe fn end_record(w: *mut Worker, d: *mut Deletion) -> Deletion {
    // SAFETY: all records are made by `keep`.
    unsafe { (*heap_of(w)).take_back(d) }
}

/// The record of a component that is deleted as a part of `d`, or goes on being; the record of `d` ends if it can be
/// made again.
///
/// # Safety
/// *Under way*; `child` is live, and in a container of what `d` deletes.
pub unsafe fn descend(w: *mut Worker, d: *mut Deletion, child: *mut Instance) -> *mut Deletion {
    // SAFETY: *under way*; only its instance leads to a record that can be made again.
    unsafe {
        let turn = (*d).take_turn();
        let parent = if (*d).can_be_made_again() {
            free_rare(w, (*d).instance);
            end_record(w, d);
            null_mut()
        } else {
            d
        };
        let is_new = !(*child).is_leaving();
        let d = if is_new { begin(w, child, parent, Customer::Parent) } else { again(w, child) };
        (*d).parent = parent;
        (*d).turn = turn;
        (*d).is_suspended = false;
        d
    }
}

/// The record of the deletion that a component's is a part of, where this component is the current one.
///
/// # Safety
/// `w` is the home worker; `instance` has a holder and a block; `parent` is the record that is asked for, or null if it
/// has to be made again.
pub unsafe fn outer(w: *mut Worker, instance: *mut Instance, parent: *mut Deletion) -> *mut Deletion {
    if !parent.is_null() {
        return parent;
    }
    // SAFETY: a holder is live until the component that it holds is freed.
    unsafe {
        let parent = again(w, holder_of(instance));
        (*parent).children.find(instance);
        parent
    }
}

/// The record of a component that is being deleted: the one that it has; or one made again, where it waits for what it
/// holds.
///
/// # Safety
/// `w` is the home worker; `instance` is live and being deleted.
pub unsafe fn again(w: *mut Worker, instance: *mut Instance) -> *mut Deletion {
    // SAFETY: `w` is the home worker; `instance` is live and being deleted; a component without a record is deleted as
    // part of its holder.
    unsafe {
        let d = deletion_of(instance);
        if !d.is_null() {
            return d;
        }
        let d = begin(w, instance, deletion_of(holder_of(instance)), Customer::Parent);
        begin_children(d);
        d
    }
}

/// Begins to delete what a component holds.
///
/// # Safety
/// `d` is the record of a live component without processes; on the home worker's thread.
pub unsafe fn begin_children(d: *mut Deletion) {
    // SAFETY: `d` is the record of a live component without processes; on the home worker's thread; nothing is added
    // to what a component without processes holds.
    unsafe {
        let mut ranges = Vec::new();
        Owner::of_instance((*d).instance).containers(|range| ranges.push(range));
        (*d).children = Children::new(ranges);
        (*d).stage = Stage::Children;
        (*d).turn = null_mut();
    }
}

/// A new record for what a process deletes, with components in these containers.
///
/// # Safety
/// `w` is the home worker; `p` is live, and `ranges` are the containers of `storage`, which it or its component owns.
pub unsafe fn begin_several(
    w: *mut Worker,
    p: *mut Process,
    location: u32,
    storage: Storage,
    ranges: Vec<Range>,
) -> *mut Deletion {
    let customer = Customer::Process(p, location, false);
    let d = Deletion {
        stage: Stage::Children,
        children: Children::new(ranges),
        storage: Some(storage),
        ..Deletion::new(null(), null_mut(), null_mut(), customer)
    };
    // SAFETY: `w` is the home worker.
    unsafe { (*heap_of(w)).keep(d) }
}

/// The record of a deletion that a process waits for already, from where services end.
///
/// # Safety
/// As for [`begin`]; `p` is live.
pub unsafe fn begin_for(w: *mut Worker, instance: *mut Instance, p: *mut Process) -> *mut Deletion {
    // SAFETY: as for `begin`; `p` is live.
    unsafe {
        let d = begin(w, instance, null_mut(), Customer::Process(p, u32::MAX, true));
        (*d).stage = Stage::Services;
        d
    }
}

/// Whether the deletion of a component waits for nothing but the ends of the communications that are under way.
///
/// # Safety
/// `instance` is live; on the home worker's thread.
pub unsafe fn waits_for_services(instance: *mut Instance) -> bool {
    // SAFETY: `instance` is live; on the home worker's thread.
    unsafe {
        let d = deletion_of(instance);
        (*instance).is_leaving() && !d.is_null() && (*d).stage == Stage::Services
    }
}

/// The record of an instance's deletion, or null.
///
/// # Safety
/// `instance` has a block; on the home worker's thread.
pub unsafe fn deletion_of(instance: *mut Instance) -> *mut Deletion {
    // SAFETY: `instance` has a block; on the home worker's thread.
    unsafe { deletion_in(instance).cast() }
}
