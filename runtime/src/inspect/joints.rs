//! The bindings of a program: components that stand for something elsewhere, bring clients from there, or were made
//! there.
//!
//! # Why this is sound
//! See the inspect module.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::Interface;

use super::known::Known;
use super::views::BindingView;
use crate::communication::connection::first_client;
use crate::far::Traffic;
use crate::far::standing::{self, Binding};
use crate::instance::{slot_at, template_of};
use crate::layout::*;

/// Whether a listener is the end of something that stands before a component.
///
/// # Safety
/// *Standing still*; `instance` is live.
pub(super) unsafe fn is_way(instance: *mut Instance, ways: &BTreeSet<*mut RequiredSlot>) -> bool {
    // SAFETY: *standing still*; `instance` is live.
    unsafe {
        let required = (*template_of(instance)).required.get().first();
        required.is_some_and(|required| ways.contains(&slot_at(instance, required.offset)))
    }
}

/// The bindings that an instance stands for.
///
/// # Safety
/// *Standing still*; `instance` is live.
pub(super) unsafe fn bindings(instance: *mut Instance, known: &Known<'_>) -> Vec<BindingView> {
    // SAFETY: *standing still*; `instance` is live; interfaces are there as long as the program, and a client's slot
    // is of a live instance.
    unsafe {
        let template = &*template_of(instance);
        let (offered, required) = (template.offered.get(), template.required.get());
        match standing::binding(instance) {
            Some(Binding::Proxy(name, traffic)) => {
                let client = first_client(instance, &offered[0]).as_ref();
                let path = client.and_then(|slot| known.paths.get(&slot.instance));
                let component = path.map_or(String::new(), |path| (*path).into());
                Vec::from([binding(name, traffic, &*offered[0].interface, false, component)])
            }
            Some(Binding::Listener(name, traffic)) => {
                let (component, _) = known.server(slot_at(instance, required[0].offset));
                Vec::from([binding(name, traffic, &*required[0].interface, true, component)])
            }
            Some(Binding::Requiring(name, traffic, of)) => {
                let path = known.paths.get(&of).copied().unwrap_or_default();
                Vec::from([binding(name, traffic, &*required[0].interface, true, path.to_owned())])
            }
            Some(Binding::Made(name, joints)) => {
                let path = known.paths.get(&instance).copied().unwrap_or_default();
                let joined = offered.iter().zip(joints);
                joined
                    .map(|(offered, joint)| {
                        binding(name, &joint.traffic, &*offered.interface, false, path.to_owned())
                    })
                    .collect()
            }
            None => Vec::new(),
        }
    }
}

fn binding(
    name: &str,
    traffic: &Traffic,
    interface: &Interface,
    is_export: bool,
    component: String,
) -> BindingView {
    BindingView {
        name: name.into(),
        interface: interface.name.get(),
        is_export,
        component,
        communications: [traffic.begun.get(), traffic.open.get(), traffic.lost.get()],
        sent: traffic.sent.get(),
        received: traffic.received.get(),
        why: traffic.why.borrow().clone(),
    }
}
