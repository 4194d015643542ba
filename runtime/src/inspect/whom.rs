//! Which component a process waits for: the other side of the communication whose waiter it is.
//!
//! # Why this is sound
//! See the inspect module.

use alloc::format;
use alloc::string::String;

use super::known::Known;
use crate::communication::connection::{Target, decode};
use crate::far::standing::{self, Binding};
use crate::instance::slots::required_slots;
use crate::instance::{slot_at, template_of};
use crate::layout::*;

impl Known<'_> {
    /// Notes the waiters of the communications that a component has begun, or its holder with it, with the other sides.
    ///
    /// # Safety
    /// *Standing still*; `instance` is live.
    pub(super) unsafe fn ask_whom(&mut self, instance: *mut Instance, holder: &str) {
        // SAFETY: *standing still*; `instance` is live.
        unsafe {
            let client = self.client(instance);
            required_slots(instance, |slot| {
                let (server, _) = self.server(slot);
                self.note((*slot).communication, &client, server);
            });
            for offered in (*template_of(instance)).offered.get() {
                let slot = slot_at::<OfferedSlot>(instance, offered.offset);
                self.note((*slot).holder, holder, client.clone());
            }
        }
    }

    /// What stands for a client.
    ///
    /// # Safety
    /// *Standing still*; `instance` is live.
    unsafe fn client(&self, instance: *mut Instance) -> String {
        if let Some(path) = self.paths.get(&instance) {
            return (*path).into();
        }
        // SAFETY: *standing still*; `instance` is live.
        let name = unsafe { far_name(instance).unwrap_or_default() };
        if name.is_empty() { name } else { format!("a client by {name}") }
    }

    /// # Safety
    /// *Standing still*; `c` is live, or null.
    unsafe fn note(&mut self, c: *mut Communication, client: &str, server: String) {
        if c.is_null() {
            return;
        }
        // SAFETY: *standing still*; `c` is live, or null.
        let waiter = unsafe { (*c).waiter };
        if !waiter.is_null() {
            let whom = if waiter == c.cast() { client.into() } else { server };
            self.whom.insert(waiter, whom);
        }
    }
}

/// The name by which a far client has come.
///
/// # Safety
/// *Standing still*; `instance` is live.
unsafe fn far_name(instance: *mut Instance) -> Option<String> {
    // SAFETY: *standing still*; `instance` is live; targets are slots of live instances.
    unsafe {
        let required = (*template_of(instance)).required.get().first()?;
        let target = (*slot_at::<RequiredSlot>(instance, required.offset)).target;
        let Target::PassedOn(slot) = decode(target) else { return None };
        match standing::binding((*slot).instance)? {
            Binding::Listener(name, _) | Binding::Requiring(name, ..) => Some(name.into()),
            _ => None,
        }
    }
}
