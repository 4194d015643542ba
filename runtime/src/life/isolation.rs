//! The end of a component by force, with all that it holds, after a run-time error (language reference, section 10).
//!
//! Nothing runs and nothing waits meanwhile: the scheduler has control and all processes are at home. First everyone
//! who belongs to the component is found and marked, then taken out of every queue, then the communications are
//! closed from both ends, and at last everything is freed but the component's own block, which stays in its
//! container and counts as empty.
//!
//! # Why this is sound
//! A block is freed only after everything that may point to it has been told: the queues that live processes share
//! (ready, timers, failures), the slots and communications of live neighbours, and the deletions under way.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::vec::Vec;
use core::ptr::{null_mut, with_exposed_provenance_mut};

use drystone_component::{Interface, Template, Type};

use super::dismantle::free_dead;
use super::owned::drop_owned;
use super::record::{Deletion, deletion_of, end_record};
use super::survey::*;
use super::{deletion, leaving};
use crate::communication::connection::*;
use crate::communication::{self, detach, interface_of, lose_client, make_gone, payload};
use crate::home::home;
use crate::instance::slots::{interfaces_of, required_slots};
use crate::instance::*;
use crate::layout::*;
use crate::process;
use crate::queue::{Queue, ready, retain_ready};
use crate::worker::{ground, heap_of};

unsafe fn is_dead(instance: *mut Instance) -> bool {
    (*instance).live & DEAD != 0
}

/// What is to be ended.
struct Condemned {
    /// The component itself.
    root: *mut Instance,
    /// The first and the last of the others: each leads to the next one where its holder stood, for they may be
    /// millions.
    first: *mut Instance,
    last: *mut Instance,
    processes: Vec<*mut Process>,
    /// Blocks of components that were dead before.
    remains: Vec<*mut Instance>,
}

impl Condemned {
    unsafe fn add(&mut self, w: *mut Worker, instance: *mut Instance) {
        if instance.is_null() {
            return;
        }
        // Nothing is found twice, for containers are emptied.
        if is_dead(instance) {
            return self.remains.push(instance);
        }
        if !leaving(instance).is_null() {
            leaving::record_of(w, instance);
        }
        (*instance).live |= DEAD;
        (*instance).holder = 0;
        if self.last.is_null() {
            self.first = instance;
        } else {
            (*self.last).holder = instance.expose_provenance();
        }
        self.last = instance;
    }

    /// The component after this one, or null.
    unsafe fn after(&self, instance: *mut Instance) -> *mut Instance {
        if instance == self.root { self.first } else { with_exposed_provenance_mut((*instance).holder) }
    }

    /// Calls `each` for all components, the one itself first. It may free the others.
    unsafe fn each(&self, mut each: impl FnMut(*mut Instance)) {
        let mut instance = self.root;
        while !instance.is_null() {
            let next = self.after(instance);
            each(instance);
            instance = next;
        }
    }

    /// Finds everyone.
    unsafe fn find(w: *mut Worker, root: *mut Instance) -> Condemned {
        let (processes, remains) = (Vec::new(), Vec::new());
        let mut all = Condemned { root, first: null_mut(), last: null_mut(), processes, remains };
        (*root).live |= DEAD;
        let mut instance = root;
        while !instance.is_null() {
            let first = all.processes.len();
            processes_of(instance, |p| all.processes.push(p));
            children_of(instance, |cell| all.add(w, core::mem::replace(&mut *cell, null_mut())));
            for index in first..all.processes.len() {
                let p = all.processes[index];
                children_of_process(p, |cell| all.add(w, core::mem::replace(&mut *cell, null_mut())));
                if is_service(p) {
                    all.add_message(w, p.cast());
                }
            }
            instance = all.after(instance);
        }
        all
    }

    /// What a service hasn't received goes with it.
    unsafe fn add_message(&mut self, w: *mut Worker, c: *mut Communication) {
        let tag = (*c).word.tag as usize;
        if tag == 0 || (*c).word.flags & FOR_CLIENT != 0 {
            return;
        }
        let parameters = interface_of(c).messages.get()[tag - 1].parameters.get();
        let components =
            parameters.iter().enumerate().filter(|(_, parameter)| parameter.ty == Type::Component);
        for (index, _) in components {
            let word = payload(c).add(index);
            self.add(w, core::mem::replace(&mut *word, 0) as *mut Instance);
        }
    }
}

/// Ends a component by force. All processes are at home.
pub unsafe fn end(w: *mut Worker, root: *mut Instance) {
    let deletion = leaving::record_of(w, root);
    (*home(w)).deletions.forced += 1;
    let condemned = Condemned::find(w, root);
    leave_queues(w, &condemned);
    for &p in &condemned.processes {
        if !body_of(p).native.is_null() {
            natives::end_native(w, p);
        }
        free_frames(w, p);
    }
    condemned.each(|instance| forget_names(w, instance));
    condemned.each(|instance| close_as_client(w, instance));
    condemned.each(|instance| close_as_server(w, instance, root));
    for &p in &condemned.processes {
        (*home(w)).census.live -= 1;
        // A client that lives on keeps the block until it lets go.
        if !(*p).instance.is_null() {
            if is_service(p) {
                communication::drop_buffered(w, p.cast(), interface_of(p.cast()));
            }
            (*heap_of(w)).free(p.cast(), body_of(p).size as usize);
        }
    }
    condemned.each(|instance| {
        let deletion = deletion_of(instance);
        free_rare(w, instance);
        if instance != root && !deletion.is_null() {
            forget(w, deletion);
        }
        end_native(w, instance);
        drop_owned(w, instance.cast(), (*template_of(instance)).owned.get());
        (*instance).live = DEAD;
    });
    condemned.each(|instance| {
        if instance != root {
            free_dead(w, instance);
        }
    });
    condemned.remains.iter().for_each(|&instance| free_dead(w, instance));
    (*root).lock = 0;
    let main = main_process(root);
    if !main.is_null() {
        *main = null_mut();
    }
    // Only now others may go on with what they wanted: a deletion that waited for what is gone.
    if !deletion.is_null() {
        deletion::overtaken(w, deletion);
    }
}

/// Nobody waits for anything any more, except at communications.
unsafe fn leave_queues(w: *mut Worker, condemned: &Condemned) {
    let lives = |p: *mut Process| !is_dead((*p).instance);
    condemned.each(|instance| {
        if !rare_if_any(instance).is_null() {
            (*rare_if_any(instance)).connecting = Queue::EMPTY;
        }
    });
    let mut sleeps = false;
    for &p in &condemned.processes {
        sleeps |= (*p).status == SLEEPS;
        if (*p).status == PLATFORM {
            (*(*home(w)).platform).forget(p);
        }
    }
    if sleeps {
        (*home(w)).timers.retain(lives);
    } else {
        (*home(w)).timers.retain_alarms(lives);
    }
    retain_ready(w, lives);
    (*home(w)).parallel.candidates().retain(lives);
    (*home(w)).outgoing.writers.retain(lives);
    (*ground(w)).failures.retain(|failure| !is_dead(failure.instance));
    deletion::forget_paused(w);
}

/// The communications of a condemned component with servers that live on: these lose their client.
unsafe fn close_as_client(w: *mut Worker, instance: *mut Instance) {
    required_slots(instance, |slot: *mut RequiredSlot| {
        let c = (*slot).communication;
        if c.is_null() {
            return;
        }
        if (*c).word.flags & LEAVES != 0 {
            communication::stay(w, c);
        }
        let server = (*c).process.instance;
        if server.is_null() {
            (*slot).communication = null_mut();
            communication::drop_buffered(w, c, interface_of(c));
            communication::free(w, c);
        } else if !is_dead(server) {
            (*slot).communication = null_mut();
            lose_client(w, c);
        }
    });
}

/// The communications of a condemned component's services, and its connections.
unsafe fn close_as_server(w: *mut Worker, instance: *mut Instance, root: *mut Instance) {
    for offered in (*template_of(instance)).offered.get() {
        let slot = slot_at::<OfferedSlot>(instance, offered.offset);
        let holder = &raw mut (*slot).holder;
        let c = *holder;
        if instance == root && !c.is_null() && serves_elsewhere(c) {
            *holder = part(w, c);
        } else {
            close_cell(w, Leaf { cell: holder, slot: null_mut(), client: instance }, instance == root);
        }
        loop {
            let client = first_client(instance, offered);
            if client.is_null() {
                break;
            }
            lose_server(w, client, &*offered.interface);
        }
    }
    interfaces_of(instance, |slot, interface| {
        while !(*slot).clients.is_null() {
            lose_server(w, (*slot).clients, &*interface);
        }
        unlink(w, slot);
    });
}

/// A client that is connected to a condemned component, or through it, with those to whom it passes that on.
unsafe fn lose_server(w: *mut Worker, client: *mut RequiredSlot, interface: &Interface) {
    leaves_through(client, |leaf| {
        let lives = !is_dead(leaf.client);
        if !(*leaf.cell).is_null() {
            close_cell(w, leaf, lives);
        } else if lives && !leaf.slot.is_null() {
            // It has not used its connection yet: it finds it closed.
            *leaf.cell = make_gone(w, interface);
            tell_main(w, leaf.client);
        }
    });
    cut(w, client);
}

/// What a slot was connected to is no more.
unsafe fn cut(w: *mut Worker, slot: *mut RequiredSlot) {
    unlink(w, slot);
    if !is_dead((*slot).instance) {
        tell_disconnected(w, slot);
    }
}

/// Whether a communication's server lives on.
unsafe fn serves_elsewhere(c: *mut Communication) -> bool {
    let server = (*c).process.instance;
    !server.is_null() && !is_dead(server)
}

/// A client's communication with, or through, a condemned component. `lives`: the client lives on.
unsafe fn close_cell(w: *mut Worker, leaf: Leaf, lives: bool) {
    let c = *leaf.cell;
    if c.is_null() || (lives && (*c).process.instance.is_null()) {
        return;
    }
    if !lives {
        *leaf.cell = null_mut();
    }
    if serves_elsewhere(c) {
        if !lives {
            return lose_client(w, c);
        }
        *leaf.cell = part(w, c);
        if !(*leaf.cell).is_null() {
            (**leaf.cell).process.next = leaf.slot.cast();
        }
        return;
    }
    if !lives || (*c).word.flags & FOR_CLIENT == 0 {
        communication::drop_buffered(w, c, interface_of(c));
    }
    if !lives {
        if (*c).word.flags & SERVICE_ENDED != 0 {
            communication::free(w, c);
        }
        return;
    }
    let waiter = core::mem::replace(&mut (*c).waiter, null_mut());
    (*c).word.flags |= GONE | SERVICE_ENDED;
    // Not the service itself, nor another of the dead.
    if !waiter.is_null() && !is_dead((*waiter).instance) {
        ready(w, waiter);
    }
    detach(w, c, leaf.slot);
}

/// A communication through what is condemned, both ends of which live on: each has lost the other. The client's end is
/// this one from now on; null: no memory.
unsafe fn part(w: *mut Worker, c: *mut Communication) -> *mut Communication {
    if (*c).waiter != c.cast() {
        communication::wake(w, c);
    }
    let interface = interface_of(c);
    let gone = make_gone(w, interface);
    if !gone.is_null() && (*c).word.flags & FOR_CLIENT != 0 {
        payload(gone).copy_from_nonoverlapping(payload(c), interface.payload_words);
        let flags = (*gone).word.flags | FOR_CLIENT;
        (*gone).word = CommunicationWord { flags, ..(*c).word };
        (*c).word.empty();
    }
    lose_client(w, c);
    gone
}

/// Frees a process's procedure frames, and what all its frames own but components.
unsafe fn free_frames(w: *mut Worker, p: *mut Process) {
    frames_of(p, |base, owned| drop_owned(w, base, owned));
    while !process::frames(p).is_null() {
        process::ds_frame_end(w, p, process::innermost_frame(p));
    }
}

/// A native component closes what it has open.
unsafe fn end_native(w: *mut Worker, instance: *mut Instance) {
    let template = &*template_of(instance);
    if template.finally == Template::NO_BODY {
        return;
    }
    let body = &template.bodies.get()[template.finally as usize];
    if body.native.is_null() {
        return;
    }
    let p = (*heap_of(w)).allocate_zeroed(body.size as usize) as *mut Process;
    if !p.is_null() {
        (*p).instance = instance;
        (*p).body = template.finally as u16;
        natives::end_native(w, p);
        (*heap_of(w)).free(p.cast(), body.size as usize);
    }
}

/// Frees the record of a dead instance, which doesn't lead to it any more.
unsafe fn forget(w: *mut Worker, deletion: *mut Deletion) {
    let Deletion { parent, is_suspended, .. } = end_record(w, deletion);
    // What a dead process wanted to have deleted has no instance of its own; one of those within it has its turn.
    if !is_suspended && !parent.is_null() && (*parent).instance.is_null() {
        end_record(w, parent);
    }
}
