//! Where the connections of components lead, among those components that were found.
//!
//! # Why this is sound
//! See the inspect module.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::ptr::null_mut;

use drystone_component::Interface;

use super::views::{Connection, Next};
use crate::communication::connection::{Target, decode, owner, resolve};
use crate::far::standing::{self, Binding};
use crate::instance::template_of;
use crate::layout::*;

/// What is known of all components while the program is looked at.
pub(super) struct Known<'a> {
    pub(super) paths: BTreeMap<*mut Instance, &'a str>,
    /// The other side of the communication at which a process waits.
    pub(super) whom: BTreeMap<*mut Process, String>,
}

impl Known<'_> {
    /// # Safety
    /// *Standing still*; `slot` is of a live instance.
    pub(super) unsafe fn connection(
        &self,
        slot: *mut RequiredSlot,
        interface: &Interface,
        number: Option<usize>,
        is_inward: bool,
    ) -> Connection {
        // SAFETY: *standing still*; `slot` is of a live instance; a communication to which a slot leads is live.
        unsafe {
            let (to, by) = self.server(slot);
            let c = if is_inward { null_mut() } else { (*slot).communication };
            let is_lost = !c.is_null() && (*c).word.flags & GONE != 0;
            let lost = is_lost.then(|| why_lost(c));
            let is_open = !c.is_null() && !is_lost;
            let next = self.next((*slot).target);
            Connection {
                interface: interface.name.get(),
                slot: number,
                to,
                by,
                next,
                is_inward,
                is_open,
                lost,
            }
        }
    }

    /// # Safety
    /// *Standing still*; `target` is that of a live instance's slot.
    unsafe fn next(&self, target: usize) -> Next {
        let path = |instance| self.paths.get(&instance).map(|path| String::from(*path));
        // SAFETY: *standing still*; `target` is that of a live instance's slot; targets are slots of live instances.
        unsafe {
            match decode(target) {
                Target::Nothing => Next::Nothing,
                Target::PassedOn(slot) => path((*slot).instance).map_or(Next::Nothing, Next::Required),
                Target::Offered(slot) => {
                    let instance = owner(slot);
                    let way = standing::behind(instance);
                    match way.is_null() {
                        true => path(instance).map_or(Next::Nothing, Next::Offered),
                        false => self.next((*way).target),
                    }
                }
            }
        }
    }

    /// What serves a slot, in the end or as far as the way leads; and what BY has put before it.
    ///
    /// # Safety
    /// *Standing still*; `slot` is of a live instance.
    pub(super) unsafe fn server(&self, slot: *mut RequiredSlot) -> (String, String) {
        // SAFETY: *standing still*; `slot` is of a live instance; targets are slots of live instances.
        unsafe {
            let target = (*slot).target;
            let instance = match (resolve(target), decode(target)) {
                (Some((instance, _)), _) => instance,
                (None, Target::Offered(slot)) => owner(slot),
                (None, Target::PassedOn(slot)) => (*slot).instance,
                (None, Target::Nothing) => return Default::default(),
            };
            if let Some(path) = self.paths.get(&instance) {
                return ((*path).into(), String::new());
            }
            let Some(Binding::Proxy(name, _)) = standing::binding(instance) else {
                return ((*template_of(instance)).name.get().into(), String::new());
            };
            let way = standing::behind(instance);
            if way.is_null() {
                return (name.into(), String::new());
            }
            let (to, by) = self.server(way);
            (to, format!("{}{by}", name.trim_start_matches("local")))
        }
    }
}

/// Why a communication was lost; empty: that isn't known.
///
/// # Safety
/// *Standing still*; `c` is live.
unsafe fn why_lost(c: *mut Communication) -> String {
    // SAFETY: *standing still*; `c` is live.
    unsafe {
        let instance = (*c).process.instance;
        if instance.is_null() {
            return String::new();
        }
        standing::why_lost(instance, (*c).process.body as usize).unwrap_or_default()
    }
}
