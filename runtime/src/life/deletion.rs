//! Deletion: how components end, in the order of the language reference, section 4.
//!
//! What may have to wait is kept in a [`Deletion`], one for each component that is being deleted now, each pointing at
//! the one that it is part of. [`drive`] goes on with one of them as far as it gets, down into the components that
//! are held and up again, in a loop: neither depth nor number of components costs stack. It is called whenever a
//! process of a component that is being deleted has ended.
//!
//! # Why this is sound
//! A deletion is in `Rare::deletion` of its live instance, or belongs to a waiting process. The containers that it
//! remembers stay where they are, because nobody else can change what a component or a frame that ends holds.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ptr::{null, null_mut};

use drystone_component::{Collection, Interface, Kind, Offered, Owned, Table, Template};

use super::{close_holders_end, isolation, leaving, unfinished_with_holder};
use crate::collection;
use crate::communication;
use crate::communication::connection::*;
use crate::failure::{self, ds_fail, violation};
use crate::home::home;
use crate::instance::*;
use crate::layout::*;
use crate::process;
use crate::queue::ready;
use crate::worker::{Failure, heap_of};

/// A deletion under way: of a component, or of what a process or collection holds.
pub struct Deletion {
    /// What is deleted; null: only what `children` says.
    pub instance: *mut Instance,
    /// The deletion that this one is part of, or null.
    pub parent: *mut Deletion,
    /// Whom it tells when all is done.
    pub customer: Customer,
    stage: Stage,
    children: Children,
    /// The process that runs FINALLY.
    pub finalizer: *mut Process,
}

/// Who wants a deletion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Customer {
    /// The deletion that it is part of.
    Parent,
    /// A process, that waits if the last word is true, and the place where it says so.
    Process(*mut Process, u32, bool),
    /// A process that was ended by force while it waited, and is buried then.
    Burial(*mut Process),
    /// Nobody: the component was in a message that was dropped.
    Nobody,
    /// The program's end.
    Program,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Waits for the end of BEGIN and ACTIVITY.
    Main,
    /// Waits for the ends of all services.
    Services,
    /// Waits for the end of FINALLY.
    Finally,
    /// Deletes what it holds.
    Children,
}

enum Step {
    Wait,
    Child(*mut Deletion),
    Done,
}

/// Siblings that are to be deleted: again and again the first that no remaining one is a client of, or just the
/// first.
#[derive(Default)]
pub struct Children {
    cells: Vec<*mut *mut Instance>,
    /// The first that may remain.
    first: usize,
    /// The one that is being deleted now.
    current: usize,
    /// Empty if none is a client of another.
    joints: Joints,
}

/// Which siblings are clients of which.
#[derive(Default)]
struct Joints {
    /// For each of the siblings: how many connections lead to it from others that remain.
    clients: Vec<u32>,
    /// Addresses and indices, sorted.
    indices: Vec<(usize, u32)>,
    /// Siblings without clients.
    free: BinaryHeap<Reverse<u32>>,
}

impl Children {
    unsafe fn new(cells: Vec<*mut *mut Instance>) -> Children {
        let joined = cells.iter().any(|&cell| {
            let mut joined = false;
            required_slots(*cell, |slot| joined |= !direct_server(slot).is_null());
            joined
        });
        let joints = if joined && cells.len() > 1 { Joints::new(&cells) } else { Joints::default() };
        Children { cells, first: 0, current: 0, joints }
    }

    /// The next to be deleted, which is then the current one.
    unsafe fn next(&mut self) -> Option<*mut *mut Instance> {
        while let Some(Reverse(index)) = self.joints.free.pop() {
            let cell = self.cells[index as usize];
            if !(*cell).is_null() {
                self.current = index as usize;
                return Some(cell);
            }
        }
        while let Some(&cell) = self.cells.get(self.first) {
            if !(*cell).is_null() {
                self.current = self.first;
                return Some(cell);
            }
            self.first += 1;
        }
        None
    }
}

impl Joints {
    unsafe fn new(cells: &[*mut *mut Instance]) -> Joints {
        let mut indices: Vec<_> =
            cells.iter().enumerate().map(|(i, &cell)| ((*cell).addr(), i as u32)).collect();
        indices.sort_unstable();
        let mut joints = Joints { clients: alloc::vec![0; cells.len()], indices, free: BinaryHeap::new() };
        for &cell in cells {
            required_slots(*cell, |slot| {
                if let Some(server) = joints.server(slot) {
                    joints.clients[server] += 1;
                }
            });
        }
        let free = |(index, &clients): (usize, &u32)| (clients == 0).then_some(Reverse(index as u32));
        joints.free = joints.clients.iter().enumerate().filter_map(free).collect();
        joints
    }

    /// The sibling that a slot of another one is connected to.
    unsafe fn server(&self, slot: *mut RequiredSlot) -> Option<usize> {
        let server = direct_server(slot);
        if server.is_null() || server == (*slot).instance {
            return None;
        }
        let place = self.indices.binary_search_by_key(&server.addr(), |&(address, _)| address).ok()?;
        Some(self.indices[place].1 as usize)
    }

    /// A sibling is about to lose its connections.
    unsafe fn leave(&mut self, instance: *mut Instance) {
        if self.clients.is_empty() {
            return;
        }
        required_slots(instance, |slot| {
            if let Some(server) = self.server(slot) {
                let clients = &mut self.clients[server];
                *clients = clients.saturating_sub(1);
                if *clients == 0 {
                    self.free.push(Reverse(server as u32));
                }
            }
        });
    }
}

/// Calls `each` for every container with a component, dead or not, among what a frame, process or instance owns.
pub unsafe fn components_of(base: *mut u8, owned: &[Owned], mut each: impl FnMut(*mut *mut Instance)) {
    for owned in owned {
        let cell = base.add(owned.offset as usize);
        match owned.kind {
            Kind::Component => {
                let cell = cell.cast::<*mut Instance>();
                if !(*cell).is_null() {
                    each(cell);
                }
            }
            Kind::Collection if (*owned.collection).element == Kind::Component => {
                elements_of(cell.cast(), &*owned.collection, &mut each);
            }
            _ => {}
        }
    }
}

/// The containers of a collection with a component, dead or not, in the order of their keys.
unsafe fn elements_of(
    cell: *mut *mut u8,
    description: &Collection,
    each: &mut dyn FnMut(*mut *mut Instance),
) {
    collection::components(cell, description, &mut |cell| {
        if !(*cell).is_null() {
            each(cell);
        }
    });
}

/// Drops the texts and frees the collections of a frame, process or instance that holds no components any more.
pub unsafe fn drop_owned(w: *mut Worker, base: *mut u8, owned: &[Owned]) {
    for owned in owned {
        let cell = base.add(owned.offset as usize).cast::<*mut u8>();
        if (*cell).is_null() {
            continue;
        }
        match owned.kind {
            Kind::Text => {
                crate::text::drop(&mut *heap_of(w), (*cell).cast());
                *cell = null_mut();
            }
            Kind::Collection => collection::free(&mut *heap_of(w), cell, &*owned.collection),
            _ => {}
        }
    }
}

unsafe fn begin(instance: *mut Instance, parent: *mut Deletion, customer: Customer) -> *mut Deletion {
    let (stage, children, finalizer) = (Stage::Main, Children::default(), null_mut());
    let d = Box::into_raw(Box::new(Deletion { instance, parent, customer, stage, children, finalizer }));
    (*instance).live |= DELETING;
    (*rare_of(instance)).deletion = d.cast();
    d
}

/// The record of a deletion that a process waits for already, from where services end.
pub unsafe fn begin_for(instance: *mut Instance, p: *mut Process) -> *mut Deletion {
    let d = begin(instance, null_mut(), Customer::Process(p, u32::MAX, true));
    (*d).stage = Stage::Services;
    (*p).next = d.cast();
    d
}

/// The program's end is the deletion of its entry, which begins at once and waits for all there is to do.
pub unsafe fn delete_entry(w: *mut Worker, instance: *mut Instance) {
    let d = begin(instance, null_mut(), Customer::Program);
    drive(w, d);
}

/// The scheduler has control.
pub unsafe fn delete_dropped(w: *mut Worker) {
    while let Some(instance) = (*home(w)).dropped.pop() {
        if (*instance).live & DEAD != 0 {
            free_dead(w, instance);
            continue;
        }
        for offered in (*template_of(instance)).offered.get() {
            close_leaf(w, &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder);
        }
        (*home(w)).detached += 1;
        let d = begin(instance, null_mut(), Customer::Nobody);
        drive(w, d);
    }
}

/// `DELETE`
///
/// # Safety
/// `p` runs on `w`, the home worker and belongs to the holder of `instance`, which is null, dead or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    place: u32,
) -> Status {
    if instance.is_null() || (*instance).live & (DELETING | DEAD) == DELETING {
        ds_fail(w, p, Fault::EmptyContainer as u32, place);
        return Status::Leave;
    }
    if (*instance).live & DEAD != 0 || delete_at_once(w, instance, None) {
        free_dead(w, instance);
        return Status::Done;
    }
    if leaving::leave(w, p, instance) {
        return Status::Leave;
    }
    let d = begin(instance, null_mut(), Customer::Process(p, place, false));
    if drive(w, d) {
        free_dead(w, instance);
        return Status::Done;
    }
    wait(d, p, place)
}

/// The process waits for a deletion, unless it has failed by it.
unsafe fn wait(d: *mut Deletion, p: *mut Process, place: u32) -> Status {
    if (*p).status != FAILED {
        (*d).customer = Customer::Process(p, place, true);
        (*p).status = DELETION;
        (*p).next = d.cast();
    }
    Status::Leave
}

/// What a frame holds is deleted, its texts and collections are dropped.
///
/// # Safety
/// `p` runs on `w`, the home worker; `base` is its block or its innermost frame, and owns what `owned` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete_held(
    w: *mut Worker,
    p: *mut Process,
    base: *mut u8,
    owned: &Table<Owned>,
    place: u32,
) -> Status {
    let mut cells = Vec::new();
    components_of(base, owned.get(), |cell| cells.push(cell));
    let status = delete_cells(w, p, cells, place);
    if status == Status::Done {
        drop_owned(w, base, owned.get());
    }
    status
}

/// `DELETE` of a whole collection.
///
/// # Safety
/// `p` runs on `w`, the home worker; `cell` is a collection variable of its own or of its component that
/// `description` describes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete_collection(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    description: &Collection,
    place: u32,
) -> Status {
    let mut cells = Vec::new();
    if description.element == Kind::Component {
        elements_of(cell, description, &mut |cell| cells.push(cell));
    }
    let status = delete_cells(w, p, cells, place);
    if status == Status::Done && !(*cell).is_null() {
        collection::free(&mut *heap_of(w), cell, description);
    }
    status
}

unsafe fn delete_cells(
    w: *mut Worker,
    p: *mut Process,
    cells: Vec<*mut *mut Instance>,
    place: u32,
) -> Status {
    match cells[..] {
        [] => return Status::Done,
        [cell] if leaving::leave(w, p, *cell) => return Status::Leave,
        _ => {}
    }
    let d = Box::into_raw(Box::new(Deletion {
        instance: null_mut(),
        parent: null_mut(),
        customer: Customer::Process(p, place, false),
        stage: Stage::Children,
        children: Children::new(cells),
        finalizer: null_mut(),
    }));
    if drive(w, d) { Status::Done } else { wait(d, p, place) }
}

/// The deletion of an instance that is under way, or null.
pub unsafe fn deletion_of(instance: *mut Instance) -> *mut Deletion {
    let rare = rare_if_any(instance);
    if rare.is_null() { null_mut() } else { (*rare).deletion.cast() }
}

/// A process of an instance has ended, whose deletion may wait for that.
#[inline]
pub unsafe fn go_on(w: *mut Worker, instance: *mut Instance) {
    if (*instance).live & DELETING != 0 {
        let d = deletion_of(instance);
        if !d.is_null() {
            drive(w, d);
        }
    }
}

/// Goes on with a deletion, and with those that it is part of, as far as possible; whether all is done.
pub unsafe fn drive(w: *mut Worker, mut d: *mut Deletion) -> bool {
    loop {
        match advance(w, d) {
            Step::Wait => return false,
            Step::Child(child) => d = child,
            Step::Done => {
                d = conclude(w, d);
                if d.is_null() {
                    return true;
                }
            }
        }
    }
}

unsafe fn advance(w: *mut Worker, d: *mut Deletion) -> Step {
    let instance = (*d).instance;
    if instance.is_null() {
        return next_child(w, d).map_or(Step::Done, Step::Child);
    }
    if (*d).stage == Stage::Main {
        let main = main_process(instance);
        if !main.is_null() && !(*main).is_null() {
            return Step::Wait;
        }
        let interface = unfinished_with_holder(instance);
        if !interface.is_null() {
            return refuse_holder(w, d, interface);
        }
        close_holders_end(w, instance);
        (*d).stage = Stage::Services;
    }
    if (*d).stage == Stage::Services {
        if live(instance) != 0 {
            return Step::Wait;
        }
        (*instance).live |= CLOSED;
        (*d).stage = Stage::Finally;
        let finally = (*template_of(instance)).finally;
        if finally != Template::NO_BODY {
            (*d).finalizer = process::start(w, instance, finally);
            if (*d).finalizer.is_null() {
                return fail(w, instance, Fault::OutOfMemory, null());
            }
        }
    }
    if (*d).stage == Stage::Finally {
        if live(instance) != 0 {
            return Step::Wait;
        }
        (*d).finalizer = null_mut();
        (*d).stage = Stage::Children;
        let mut cells = Vec::new();
        components_of(instance.cast(), (*template_of(instance)).owned.get(), |cell| cells.push(cell));
        (*d).children = Children::new(cells);
    }
    if let Some(child) = next_child(w, d) {
        return Step::Child(child);
    }
    let interface = unfinished(instance);
    if !interface.is_null() {
        return fail(w, instance, Fault::ProtocolViolation, interface);
    }
    let parent = (*d).parent;
    dismantle(w, instance, if parent.is_null() { None } else { Some(&mut (*parent).children) });
    Step::Done
}

/// The next held component that cannot be deleted at once.
unsafe fn next_child(w: *mut Worker, d: *mut Deletion) -> Option<*mut Deletion> {
    while let Some(cell) = (*d).children.next() {
        let child = *cell;
        if (*child).live & DEAD != 0 || delete_at_once(w, child, Some(&mut (*d).children)) {
            *cell = null_mut();
            free_dead(w, child);
        } else {
            return Some(begin(child, d, Customer::Parent));
        }
    }
    None
}

/// A deletion is done: tells whoever wants to know, and answers the deletion that it is part of.
unsafe fn conclude(w: *mut Worker, d: *mut Deletion) -> *mut Deletion {
    let Deletion { instance, parent, customer, .. } = *Box::from_raw(d);
    match customer {
        Customer::Parent => {
            let children = &mut (*parent).children;
            *children.cells[children.current] = null_mut();
            free_dead(w, instance);
        }
        Customer::Process(p, _, waits) => {
            // The instance stays in its container, dead, until the process has seen that.
            if waits {
                ready(w, p);
            }
        }
        Customer::Burial(p) => {
            let instance = (*p).instance;
            isolation::bury(w, p.cast());
            go_on(w, instance);
        }
        Customer::Nobody => {
            (*home(w)).detached -= 1;
            free_dead(w, instance);
        }
        Customer::Program => {
            (*home(w)).entry = null_mut();
            free_dead(w, instance);
        }
    }
    parent
}

/// The instance of a deletion has been ended by force, which is as good.
pub unsafe fn overtaken(w: *mut Worker, d: *mut Deletion) {
    let parent = conclude(w, d);
    if !parent.is_null() {
        drive(w, parent);
    }
}

/// A communication of its holder with what is deleted may not end now: the error of who deletes it.
unsafe fn refuse_holder(w: *mut Worker, d: *mut Deletion, interface: *const Interface) -> Step {
    let parent = (*d).parent;
    if !parent.is_null() && !(*parent).instance.is_null() {
        return fail(w, (*parent).instance, Fault::ProtocolViolation, interface);
    }
    let customer = if parent.is_null() { (*d).customer } else { (*parent).customer };
    let Customer::Process(p, place, _) = customer else {
        return fail(w, (*d).instance, Fault::ProtocolViolation, interface);
    };
    violation(w, p, interface, place);
    Step::Wait
}

/// The end of a component fails.
unsafe fn fail(w: *mut Worker, instance: *mut Instance, fault: Fault, interface: *const Interface) -> Step {
    let place = (*template_of(instance)).place;
    let failure = Failure { process: null_mut(), instance, fault, place, interface, key: String::new() };
    failure::record(w, failure);
    Step::Wait
}

/// Deletes a component that has nothing to wait for; the block is left, dead. `false`: nothing is done.
unsafe fn delete_at_once(w: *mut Worker, instance: *mut Instance, siblings: Option<&mut Children>) -> bool {
    if live(instance) != 0
        || (*instance).live & DELETING != 0
        || !needs_nothing_more(instance)
        || !unfinished_with_holder(instance).is_null()
    {
        return false;
    }
    close_holders_end(w, instance);
    dismantle(w, instance, siblings);
    true
}

/// Whether a component without processes has no FINALLY, no sub-components, and may let go of its servers.
#[inline]
pub unsafe fn needs_nothing_more(instance: *mut Instance) -> bool {
    let template = &*template_of(instance);
    only_serves(template) || holds_nothing(instance, template)
}

unsafe fn holds_nothing(instance: *mut Instance, template: &Template) -> bool {
    if template.finally != Template::NO_BODY {
        return false;
    }
    let mut holds = false;
    components_of(instance.cast(), template.owned.get(), |_| holds = true);
    !holds && unfinished(instance).is_null()
}

/// Whether components of a template have nothing but services for their holders: no variables to see to, no connections,
/// no FINALLY.
#[inline]
fn only_serves(template: &Template) -> bool {
    template.required.length == 0
        && template.owned.length == 0
        && template.finally == Template::NO_BODY
        && template
            .offered
            .get()
            .iter()
            .all(|offered| !offered.connectable && offered.body != Offered::INWARD)
}

/// Undoes all connections of a component without processes and sub-components, and frees all but its block.
pub unsafe fn dismantle(w: *mut Worker, instance: *mut Instance, siblings: Option<&mut Children>) {
    let template = &*template_of(instance);
    if !only_serves(template) {
        if let Some(siblings) = siblings {
            siblings.joints.leave(instance);
        }
        required_slots(instance, |slot| undo(w, slot));
        inward_slots(instance, |slot| undo(w, slot));
        drop_owned(w, instance.cast(), template.owned.get());
    }
    for offered in template.offered.get() {
        let slot = slot_at::<OfferedSlot>(instance, offered.offset);
        close_leaf(w, &raw mut (*slot).holder);
        if offered.connectable {
            release_clients(w, instance, offered);
        }
    }
    free_rare(instance);
    (*instance).live = DEAD;
}

/// A required slot goes: closes what goes through it, and those to whom it was passed on become unconnected.
unsafe fn undo(w: *mut Worker, slot: *mut RequiredSlot) {
    close_all_through(w, slot);
    while !(*slot).clients.is_null() {
        unlink(w, (*slot).clients);
    }
    unlink(w, slot);
}

/// Frees the block of a dead instance.
#[inline]
pub unsafe fn free_dead(w: *mut Worker, instance: *mut Instance) {
    let template = &*template_of(instance);
    for offered in template.offered.get() {
        // Made when the dead was used.
        let holder = (*slot_at::<OfferedSlot>(instance, offered.offset)).holder;
        if !holder.is_null() {
            communication::free(w, holder);
        }
    }
    if template.required.length != 0 {
        free_tables(w, instance);
    }
    (*heap_of(w)).free(instance.cast(), template.size as usize);
}
