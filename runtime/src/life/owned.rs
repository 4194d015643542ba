//! What a frame, process or instance owns, by its description.
//!
//! # Why this is sound
//! A description fits the block that it is used with: the compiler says which is whose.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::vec::Vec;
use core::ptr::null_mut;
use core::slice;

use drystone_component::{Collection, Kind, Owned};

use crate::collection;
use crate::layout::{Instance, Worker};
use crate::text;
use crate::worker::{heap_of, slice_is_over};

/// A container.
pub type Cell = *mut *mut Instance;

/// Neighbouring containers: the first, and how many.
pub type Range = (Cell, usize);

/// What a process deletes with all that is in it.
#[derive(Clone, Copy)]
pub enum Storage {
    /// A collection variable.
    Collection(*mut *mut u8, &'static Collection),
    /// What a frame owns.
    Frame(*mut u8, &'static [Owned]),
}

impl Storage {
    /// Its containers, in order, neighbours together. Some may be empty.
    pub unsafe fn containers(self) -> Vec<Range> {
        let mut ranges = Vec::new();
        match self {
            Storage::Collection(cell, description) => {
                containers_in(cell, description, |range| ranges.push(range));
            }
            Storage::Frame(base, owned) => containers_of(base, owned, |range| ranges.push(range)),
        }
        ranges
    }

    /// Frees it, no longer than the time slice lasts; whether all is done. It holds no components any more.
    pub unsafe fn free_in_slice(self, w: *mut Worker) -> bool {
        match self {
            Storage::Collection(cell, description) => {
                collection::free_until(&mut *heap_of(w), cell, description, &mut || slice_is_over(w))
            }
            Storage::Frame(base, owned) => drop_in_slice(w, base, owned),
        }
    }
}

/// Calls `each` for all containers among what a frame, process or instance owns, in order, neighbours together. Some
/// may be empty.
pub unsafe fn containers_of(base: *mut u8, owned: &[Owned], mut each: impl FnMut(Range)) {
    for owned in owned {
        let cell = base.add(owned.offset as usize);
        match owned.kind {
            Kind::Component if !(*cell.cast::<*mut Instance>()).is_null() => each((cell.cast(), 1)),
            Kind::Collection => containers_in(cell.cast(), &*owned.collection, &mut each),
            _ => {}
        }
    }
}

/// The containers of a collection, if its elements are such, likewise.
unsafe fn containers_in(cell: *mut *mut u8, description: &Collection, mut each: impl FnMut(Range)) {
    if description.element == Kind::Component {
        collection::containers(cell, description, &mut |first, count| each((first, count)));
    }
}

/// Calls `each` for every container with a component, dead or not, among what a frame, process or instance owns.
pub unsafe fn components_of(base: *mut u8, owned: &[Owned], mut each: impl FnMut(Cell)) {
    containers_of(base, owned, |(first, count)| {
        (0..count).map(|index| first.add(index)).filter(|&cell| !(*cell).is_null()).for_each(&mut each);
    });
}

/// Whether there is no such container.
pub unsafe fn holds_no_component(base: *mut u8, owned: &[Owned]) -> bool {
    let mut holds = false;
    containers_of(base, owned, |range| holds = holds || !is_empty(range));
    !holds
}

/// Whether all of these containers are empty.
pub unsafe fn is_empty((first, count): Range) -> bool {
    slice::from_raw_parts(first, count).iter().all(|instance| instance.is_null())
}

/// Drops the texts and frees the collections of a frame, process or instance that holds no components any more.
pub unsafe fn drop_owned(w: *mut Worker, base: *mut u8, owned: &[Owned]) {
    drop_until(w, base, owned, &mut || false);
}

/// The same, but no longer than the time slice lasts; whether all is done. What is left is owned as before.
pub unsafe fn drop_in_slice(w: *mut Worker, base: *mut u8, owned: &[Owned]) -> bool {
    drop_until(w, base, owned, &mut || slice_is_over(w))
}

unsafe fn drop_until(
    w: *mut Worker,
    base: *mut u8,
    owned: &[Owned],
    is_enough: &mut dyn FnMut() -> bool,
) -> bool {
    for owned in owned {
        let cell = base.add(owned.offset as usize).cast::<*mut u8>();
        if (*cell).is_null() {
            continue;
        }
        match owned.kind {
            Kind::Text => {
                text::drop(&mut *heap_of(w), (*cell).cast());
                *cell = null_mut();
            }
            Kind::Collection
                if !collection::free_until(&mut *heap_of(w), cell, &*owned.collection, is_enough) =>
            {
                return false;
            }
            _ => {}
        }
    }
    true
}
