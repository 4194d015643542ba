//! Clients reach what serves them: their communications begin.

use core::ptr::null_mut;

use drystone_component::Interface;

use super::apart::{leads_away, leads_away_held};
use super::waiting::wait;
use super::ways::{Server, resolve, resolve_held};
use crate::communication::{ds_input, make_gone};
use crate::failure::ds_fail;
use crate::home::is_home;
use crate::instance::{body, template_of};
use crate::layout::*;
use crate::process::start_service;
use crate::visiting::must_be_home;

/// The communication of a required interface, when it is connected; null: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker; `slot` is of its component or of one that is passed on, and has this
/// interface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_reach(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    _interface: &Interface,
    location: u32,
) -> *mut Communication {
    // SAFETY: the slot is linked.
    unsafe {
        if !(*slot).communication.is_null() {
            return (*slot).communication;
        }
        if leads_away(w, p, slot, (*slot).target) {
            return null_mut();
        }
        let c = reach(w, p, resolve((*slot).target), location);
        (*slot).communication = c;
        c
    }
}

/// Begins a communication with a server; null: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker, and leaves if this is null; the server is linked.
unsafe fn reach(
    w: *mut Worker,
    p: *mut Process,
    server: Option<Server>,
    location: u32,
) -> *mut Communication {
    // SAFETY: a linked server's block is there, and the server is alive unless it is closed.
    unsafe {
        match server {
            Some((instance, offered)) if (*instance).live & CLOSED == 0 => {
                let is_native = || !body(&*template_of(instance), offered.body as usize).native.is_null();
                if !is_home(w) && is_native() && must_be_home(w, p) {
                    return null_mut();
                }
                let c = start_service(w, instance, offered.body);
                if c.is_null() {
                    ds_fail(w, p, Fault::OutOfMemory as u32, location);
                }
                c
            }
            _ => {
                wait(w, p);
                null_mut()
            }
        }
    }
}

/// The holder's communication with a component, when it is connected; null: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker and belongs to the holder of `instance`, dead or alive, whose offered slot for
/// this interface `slot` is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_reach_held(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    slot: *mut OfferedSlot,
    interface: &Interface,
    location: u32,
) -> *mut Communication {
    // SAFETY: the slot is part of the instance, whose block is there as long as it is held.
    unsafe {
        if !(*slot).holder.is_null() {
            return (*slot).holder;
        }
        if (*instance).live & DEAD != 0 {
            let gone = make_gone(w, interface);
            if gone.is_null() {
                ds_fail(w, p, Fault::OutOfMemory as u32, location);
            }
            (*slot).holder = gone;
            return gone;
        }
        if leads_away_held(w, p, instance, slot) {
            return null_mut();
        }
        let c = reach(w, p, resolve_held(instance, slot), location);
        (*slot).holder = c;
        c
    }
}

/// `INPUT` at a required interface.
///
/// # Safety
/// As for [`ds_reach`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_input_slot(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    interface: &Interface,
    pattern: i32,
    location: u32,
) -> u32 {
    // SAFETY: the slot is linked, and the communication that it reaches is live.
    unsafe {
        if (*slot).communication.is_null() {
            if leads_away(w, p, slot, (*slot).target) {
                return 2;
            }
            if !is_open(resolve((*slot).target)) {
                return 0;
            }
        }
        let c = ds_reach(w, p, slot, interface, location);
        if c.is_null() { 2 } else { ds_input(w, p, c, interface, 0, pattern) }
    }
}

/// `INPUT` at a component that is held.
///
/// # Safety
/// As for [`ds_reach_held`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_input_held(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    slot: *mut OfferedSlot,
    interface: &Interface,
    pattern: i32,
    location: u32,
) -> u32 {
    // SAFETY: the slot is part of the instance, whose block is there; what it reaches is live.
    unsafe {
        let is_dead = (*instance).live & DEAD != 0;
        if (*slot).holder.is_null() && !is_dead {
            if leads_away_held(w, p, instance, slot) {
                return 2;
            }
            if !is_open(resolve_held(instance, slot)) {
                return 0;
            }
        }
        let c = ds_reach_held(w, p, instance, slot, interface, location);
        if c.is_null() { 2 } else { ds_input(w, p, c, interface, 0, pattern) }
    }
}

/// Whether a communication could begin at once.
///
/// # Safety
/// The server is linked.
pub unsafe fn is_open(server: Option<Server>) -> bool {
    // SAFETY: a linked server's block is there.
    server.is_some_and(|(instance, _)| unsafe { (*instance).live } & CLOSED == 0)
}
