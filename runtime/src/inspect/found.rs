//! The components of a program, as they are found: from its entry on, by who holds them.
//!
//! # Why this is sound
//! See the inspect module.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use drystone_component::{Kind, Owned};

use crate::collection;
use crate::instance::template_of;
use crate::layout::*;
use crate::life::survey::{frames_of, processes_of};

/// A component where it was found.
pub(super) struct Found {
    pub(super) instance: *mut Instance,
    pub(super) path: String,
    pub(super) holder: Option<usize>,
    pub(super) variable: &'static str,
}

/// All components with their paths, each before those that it holds.
pub(super) unsafe fn find(entry: *mut Instance, most: usize, more: &mut usize) -> Vec<Found> {
    let mut found = Vec::new();
    let name = (*template_of(entry)).name.get();
    let mut waiting = Vec::from([Found { instance: entry, path: name.into(), holder: None, variable: name }]);
    while let Some(next) = waiting.pop() {
        let (first, holder) = (waiting.len(), Some(found.len()));
        held_by(next.instance, |variable, keys, instance| {
            if found.len() + waiting.len() < most {
                let path = format!("{}.{variable}{keys}", next.path);
                waiting.push(Found { instance, path, holder, variable });
            } else {
                *more += 1;
            }
        });
        waiting[first..].reverse();
        found.push(next);
    }
    found
}

/// Calls `each` for what a component and its processes hold: the variable, `[keys]` if it is a collection, and what it
/// holds.
unsafe fn held_by(instance: *mut Instance, mut each: impl FnMut(&'static str, &str, *mut Instance)) {
    named(instance.cast(), (*template_of(instance)).owned.get(), &mut each);
    let mut processes = Vec::new();
    processes_of(instance, |p| processes.push(p));
    for p in processes {
        frames_of(p, |base, owned| named(base, owned, &mut each));
    }
}

/// Calls `each` for the components that a frame or instance holds.
unsafe fn named(
    base: *mut u8,
    owned: &'static [Owned],
    each: &mut dyn FnMut(&'static str, &str, *mut Instance),
) {
    let mut alive = |name, keys: &str, child: *mut Instance| {
        if !unsafe { is_empty(child) } {
            each(name, keys, child);
        }
    };
    for owned in owned {
        let cell = base.add(owned.offset as usize);
        let name = owned.name.get();
        match owned.kind {
            Kind::Component => alive(name, "", *cell.cast()),
            Kind::Collection if (*owned.collection).element == Kind::Component => {
                let description = &*owned.collection;
                let _ = collection::visit::<()>(cell.cast(), description, &mut |keys, element| {
                    let keys = collection::shown(description, keys);
                    alive(name, &format!("[{keys}]"), *element.cast());
                    ControlFlow::Continue(())
                });
            }
            _ => {}
        }
    }
}
