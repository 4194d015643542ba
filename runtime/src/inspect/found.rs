//! The components of a program, as they are found: from its entry on, along what holds them.
//!
//! # Why this is sound
//! See the inspect module.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::instance::template_of;
use crate::layout::*;
use crate::life::owned::Owner;
use crate::life::survey::{frames_of, held_by, processes_of};

/// A component where it was found.
pub(super) struct Found {
    pub(super) instance: *mut Instance,
    pub(super) path: String,
    /// The number of the component that holds it.
    pub(super) holder: Option<usize>,
    /// The variable that holds it, or in whose collection it is.
    pub(super) variable: &'static str,
}

/// The components of a program with their paths, each before those that it holds: `most` at most. Adds to `more` how
/// many there are besides.
///
/// # Safety
/// *Standing still*; `entry` is live.
pub(super) unsafe fn find(entry: *mut Instance, most: usize, more: &mut usize) -> Vec<Found> {
    let mut found = Vec::new();
    // SAFETY: `entry` is live.
    let name = unsafe { (*template_of(entry)).name.get() };
    let mut waiting = Vec::from([Found { instance: entry, path: name.into(), holder: None, variable: name }]);
    while let Some(next) = waiting.pop() {
        let (first, holder) = (waiting.len(), Some(found.len()));
        let show = &mut |variable, keys: &dyn Fn() -> String, instance| {
            // SAFETY: a held component has a block.
            if unsafe { is_empty(instance) } {
                return ControlFlow::<()>::Continue(());
            }
            if found.len() + waiting.len() < most {
                let path = format!("{}.{variable}{}", next.path, keys());
                waiting.push(Found { instance, path, holder, variable });
            } else {
                *more += 1;
            }
            ControlFlow::Continue(())
        };
        // SAFETY: *standing still*; a component that was found is live, since `is_empty` leaves out the dead.
        unsafe {
            let _ = held_by(Owner::of_instance(next.instance), show);
            processes_of(next.instance, |p| {
                frames_of(p, |frame| _ = held_by(frame, show));
            });
        }
        waiting[first..].reverse();
        found.push(next);
    }
    found
}
