//! The end of a component by force, with all that it holds, after a run-time error (language reference, section 10).
//!
//! Nothing else runs meanwhile: the scheduler has control and all processes are at home. First, the processes and
//! components that belong to the component are found and marked. Then they are taken out of every queue, and their
//! communications are closed from both ends. At last everything is freed but the component's own block, which stays in
//! its container and counts as empty.
//!
//! # Why this is sound
//! A block is freed only after everything that may point to it has been told: the queues that live processes share
//! (ready, timers, failures), the slots and communications of live neighbours, and the deletions under way.
//!
//! # Safety of this module
//! *By force*: `w` is the home worker, whose scheduler has control, with all processes at home; `instance` is
//! condemned, and nothing that is condemned has been freed yet.

use alloc::vec::Vec;
use core::ptr::{null_mut, with_exposed_provenance_mut};

use drystone_component::{Interface, Template, Type};

use super::dismantle::free_dead;
use super::owned::{Container, Owner};
use super::record::{Deletion, deletion_of, end_record};
use super::survey::*;
use super::{faults, leaving, occasions};
use crate::communication::connection::*;
use crate::communication::{self, detach, interface_of, lose_client, make_gone, more, payload, watching};
use crate::home::{home, team};
use crate::instance::slots::{interfaces_of, required_slots};
use crate::instance::*;
use crate::layout::*;
use crate::process;
use crate::queue::{Queue, ready, retain_ready};
use crate::worker::{ground, heap_of};

/// What is to be ended.
struct Condemned {
    /// The component itself.
    root: *mut Instance,
    /// The first and the last of the others. `Instance::holder` of each leads to the next, for they may be millions.
    first: *mut Instance,
    last: *mut Instance,
    processes: Vec<*mut Process>,
    /// Blocks of components that were dead before.
    remains: Vec<*mut Instance>,
}

impl Condemned {
    /// Adds a component that was in a container or a message; null: there was none.
    ///
    /// # Safety
    /// *By force*, but for the instance, which has a block.
    unsafe fn add(&mut self, w: *mut Worker, instance: *mut Instance) {
        if instance.is_null() {
            return;
        }
        // SAFETY: *by force*, but for the instance, which has a block. Nothing is found twice, for containers are
        // emptied.
        unsafe {
            if (*instance).is_dead() {
                return self.remains.push(instance);
            }
            if !(*instance).left_through().is_null() {
                leaving::record_of(w, instance);
            }
            (*instance).live |= DEAD;
            (*instance).holder = 0;
            if self.last.is_null() {
                self.first = instance;
            } else {
                (*self.last).holder = instance.expose_provenance();
            }
        }
        self.last = instance;
    }

    /// The component after this one, or null.
    ///
    /// # Safety
    /// `instance` is one of them, and has not been freed.
    unsafe fn after(&self, instance: *mut Instance) -> *mut Instance {
        if instance == self.root {
            return self.first;
        }
        // SAFETY: `instance` is one of them, and has not been freed.
        with_exposed_provenance_mut(unsafe { (*instance).holder })
    }

    /// Calls `each` for all components, the one itself first. It may free the others.
    ///
    /// # Safety
    /// None of them has been freed.
    unsafe fn each(&self, mut each: impl FnMut(*mut Instance)) {
        let mut instance = self.root;
        while !instance.is_null() {
            // SAFETY: the instance is freed after this, if at all.
            let next = unsafe { self.after(instance) };
            each(instance);
            instance = next;
        }
    }

    /// Finds all.
    ///
    /// # Safety
    /// *By force*, and `root` is live.
    unsafe fn find(w: *mut Worker, root: *mut Instance) -> Condemned {
        let (processes, remains) = (Vec::new(), Vec::new());
        let mut all = Condemned { root, first: null_mut(), last: null_mut(), processes, remains };
        // SAFETY: *by force*, so that all stands still but for containers that are emptied.
        unsafe {
            (*root).live |= DEAD;
            let mut instance = root;
            while !instance.is_null() {
                let first = all.processes.len();
                processes_of(instance, |p| all.processes.push(p));
                children_of(instance, |container: Container| all.add(w, container.take()));
                for index in first..all.processes.len() {
                    let p = all.processes[index];
                    children_of_process(p, |container| all.add(w, container.take()));
                    if is_service(p) {
                        all.add_message(w, p.cast());
                    }
                }
                instance = all.after(instance);
            }
        }
        all
    }

    /// Adds components in the messages that a service hasn't received.
    ///
    /// # Safety
    /// *By force*; `c` is that of a condemned service.
    unsafe fn add_message(&mut self, w: *mut Worker, c: *mut Communication) {
        // SAFETY: a component's word in the buffer is its address.
        unsafe {
            if (*c).word.flags & FOR_CLIENT != 0 {
                return;
            }
            let interface = interface_of(c);
            more::each(c, interface, |message, words| {
                let parameters = interface.messages.get()[message as usize].parameters.get();
                let components =
                    parameters.iter().enumerate().filter(|(_, parameter)| parameter.ty == Type::Component);
                for (index, _) in components {
                    self.add(w, core::mem::take(&mut *words.add(index)) as *mut Instance);
                }
            });
        }
    }
}

/// Ends a component by force. Its holder learns of the error, if there was one.
///
/// # Safety
/// `w` is the home worker, whose scheduler has control; all processes are at home, and `root` is live.
pub unsafe fn end(w: *mut Worker, root: *mut Instance, fault: Option<faults::Account>) {
    // SAFETY: *by force*; each is freed when nothing leads to it any more, the components last.
    unsafe {
        let deletion = leaving::record_of(w, root);
        let holder = holder_of(root);
        (*team(w)).deletions.forced += 1;
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
            (*team(w)).census.live -= 1;
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
            Owner::of_instance(instance).drop(w);
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
        if let Some(account) = fault {
            faults::keep(w, root, account);
        }
        if !holder.is_null() {
            monitor::changed(w, holder);
        }
        // Only now a deletion may go on that has waited for what is gone.
        if !deletion.is_null() {
            occasions::overtaken(w, deletion);
        }
    }
}

/// Takes all condemned processes out of what they wait in, except for communications.
///
/// # Safety
/// *By force*, for all that are condemned.
unsafe fn leave_queues(w: *mut Worker, condemned: &Condemned) {
    // SAFETY: a process in a queue has a block.
    let lives = |p: *mut Process| unsafe { !(*(*p).instance).is_dead() };
    // SAFETY: *by force*.
    unsafe {
        condemned.each(|instance| {
            if !rare_if_any(instance).is_null() {
                (*rare_if_any(instance)).connecting = Queue::EMPTY;
            }
        });
        let mut sleeps = false;
        for &p in &condemned.processes {
            sleeps |= (*p).status == SLEEPS;
            watching::forget(w, p);
            if (*p).status == PLATFORM {
                (*(*home(w)).platform).forget(p);
            }
        }
        if sleeps {
            (*team(w)).timers.retain(lives);
        } else {
            (*team(w)).timers.retain_alarms(lives);
        }
        retain_ready(w, lives);
        (*home(w)).parallel.candidates().retain(lives);
        (*home(w)).outgoing.writers.retain(lives);
        (*ground(w)).failures.retain(|failure| !(*failure.instance).is_dead());
        occasions::forget_paused(w);
    }
}

/// Closes the communications of a condemned component with servers that live on: these lose their client.
///
/// # Safety
/// *By force.*
unsafe fn close_as_client(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: *by force*; the communication of a slot has a block, and so has its instance, if it has one.
    unsafe {
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
            } else if !(*server).is_dead() {
                (*slot).communication = null_mut();
                lose_client(w, c);
            }
        });
    }
}

/// Closes the communications of a condemned component's services, and its connections.
///
/// # Safety
/// *By force.*
unsafe fn close_as_server(w: *mut Worker, instance: *mut Instance, root: *mut Instance) {
    // SAFETY: *by force*; links between slots lead to slots of instances that have blocks.
    unsafe {
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
}

/// Closes the communications of a client with a condemned component, or through it, and of the clients to which it
/// passes that on.
///
/// # Safety
/// *By force*; `client` is a slot that is connected to something of a condemned component's.
unsafe fn lose_server(w: *mut Worker, client: *mut RequiredSlot, interface: &Interface) {
    // SAFETY: *by force*; leaves are of instances that have blocks.
    unsafe {
        leaves_through(client, |leaf| {
            let lives = !(*leaf.client).is_dead();
            if !(*leaf.cell).is_null() {
                close_cell(w, leaf, lives);
            } else if lives && !leaf.slot.is_null() {
                // It has not used its connection yet: it finds it closed.
                *leaf.cell = make_gone(w, interface);
                tell_main(w, leaf.client);
            }
        });
        unlink(w, client);
        if !(*(*client).instance).is_dead() {
            tell_disconnected(w, client);
        }
    }
}

/// Whether a communication's server lives on.
///
/// # Safety
/// `c` has a block, and so has its instance.
unsafe fn serves_elsewhere(c: *mut Communication) -> bool {
    // SAFETY: `c` has a block, and so has its instance.
    unsafe {
        let server = (*c).process.instance;
        !server.is_null() && !(*server).is_dead()
    }
}

/// Closes a client's communication with, or through, a condemned component. `lives`: the client lives on.
///
/// # Safety
/// *By force*; `leaf` is of an instance that has a block.
unsafe fn close_cell(w: *mut Worker, leaf: Leaf, lives: bool) {
    // SAFETY: *by force*; the communication in a cell has a block, and so have its instance, if it has one, and each
    // process that waits there.
    unsafe {
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
        if !waiter.is_null() && !(*(*waiter).instance).is_dead() {
            ready(w, waiter);
        }
        watching::tell(w, c);
        detach(w, c, leaf.slot);
    }
}

/// Parts the two ends of a communication through what is condemned, both of which live on: each has lost the other. The
/// client's end is the result from now on; null: no memory.
///
/// # Safety
/// *By force*; `c` and its service are live.
unsafe fn part(w: *mut Worker, c: *mut Communication) -> *mut Communication {
    // SAFETY: *by force*; both communications are of one interface, so their buffers are of one size.
    unsafe {
        if (*c).waiter != c.cast() {
            communication::wake(w, c);
        }
        watching::tell(w, c);
        let interface = interface_of(c);
        let gone = make_gone(w, interface);
        if !gone.is_null() && (*c).word.flags & FOR_CLIENT != 0 {
            payload(gone).copy_from_nonoverlapping(payload(c), interface.buffer());
            let flags = (*gone).word.flags | FOR_CLIENT | (*c).word.flags & MORE;
            (*gone).word = CommunicationWord { flags, ..(*c).word };
            more::forget(c, interface);
        }
        lose_client(w, c);
        gone
    }
}

/// Frees a process's procedure frames, and what all its frames own but components.
///
/// # Safety
/// *By force*; `p` is condemned, and holds no components any more.
unsafe fn free_frames(w: *mut Worker, p: *mut Process) {
    // SAFETY: *by force*; `p` is condemned, and holds no components any more.
    unsafe {
        frames_of(p, |frame| frame.drop(w));
        while !process::frames(p).is_null() {
            process::ds_frame_end(w, p, process::innermost_frame(p));
        }
    }
}

/// Has a native component give back what it owns.
///
/// # Safety
/// *By force.*
unsafe fn end_native(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: *by force*; the process for FINALLY is made for this call.
    unsafe {
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
}

/// Ends the record of a dead instance, which doesn't lead to it any more.
///
/// # Safety
/// *By force*; `deletion` was the record of a condemned instance.
unsafe fn forget(w: *mut Worker, deletion: *mut Deletion) {
    // SAFETY: *by force*; `deletion` was the record of a condemned instance.
    unsafe {
        let Deletion { parent, is_suspended, .. } = end_record(w, deletion);
        // What a dead process wanted to have deleted has no instance of its own; one of those within it has its turn.
        if !is_suspended && !parent.is_null() && (*parent).instance.is_null() {
            end_record(w, parent);
        }
    }
}
