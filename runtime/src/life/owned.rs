//! What an instance, a process or a procedure's frame owns: components in containers, texts, collections.
//!
//! # Why this is sound
//! An [`Owner`] is made of a block and the compiler's description of it, and only used as long as the block is there;
//! the same for a [`Container`], which only an owner makes. Neither says that a component in a container
//! is alive: it may be dead, but then its block is still there.

use alloc::vec::Vec;
use core::ptr::{NonNull, null_mut};

use drystone_component::{Collection, Kind, Owned};

use crate::collection;
use crate::instance::template_of;
use crate::layout::{Instance, Worker};
use crate::text;
use crate::worker::{heap_of, slice_is_over};

/// A container.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Container(NonNull<*mut Instance>);

impl Container {
    /// The component in it, dead or alive; null: it is empty.
    #[inline]
    pub fn get(self) -> *mut Instance {
        // SAFETY: the container is there.
        unsafe { self.0.read() }
    }

    /// Empties it.
    #[inline]
    pub fn take(self) -> *mut Instance {
        // SAFETY: the container is there.
        unsafe { self.0.replace(null_mut()) }
    }
}

/// Neighbouring containers.
#[derive(Clone, Copy)]
pub struct Range {
    first: *mut *mut Instance,
    count: usize,
}

impl Range {
    /// No containers.
    pub const EMPTY: Range = Range { first: null_mut(), count: 0 };

    /// How many there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// The container of an index, if there are that many.
    #[inline]
    pub fn get(self, index: usize) -> Option<Container> {
        // SAFETY: `count` containers follow each other.
        (index < self.count).then(|| Container(unsafe { NonNull::new_unchecked(self.first.add(index)) }))
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = Container> {
        (0..self.count).filter_map(move |index| self.get(index))
    }

    /// Whether all are empty.
    pub fn are_empty(self) -> bool {
        self.iter().all(|container| container.get().is_null())
    }
}

/// A block with the description of what it owns.
#[derive(Clone, Copy)]
pub struct Owner {
    base: *mut u8,
    owned: &'static [Owned],
}

impl Owner {
    /// # Safety
    /// As long as the owner is used, the block at `base` is there, `owned` describes it, this is the home worker's
    /// thread, and while its components are shown, no collection in it changes. As long as a [`Range`] or [`Container`]
    /// that it gave is used, block and collections stay as they are, except for the contents of containers.
    #[inline]
    pub unsafe fn new(base: *mut u8, owned: &'static [Owned]) -> Owner {
        Owner { base, owned }
    }

    /// An instance with its variables.
    ///
    /// # Safety
    /// As for [`Owner::new`]: the instance's block is there.
    #[inline]
    pub unsafe fn of_instance(instance: *mut Instance) -> Owner {
        // SAFETY: the instance's template describes what it owns.
        unsafe { Owner::new(instance.cast(), (*template_of(instance)).owned.get()) }
    }

    /// What it owns, and where that is.
    #[inline]
    pub fn variables(self) -> impl Iterator<Item = (&'static Owned, *mut u8)> {
        // SAFETY: the owned values lie within the block.
        self.owned.iter().map(move |owned| (owned, unsafe { self.base.add(owned.offset as usize) }))
    }

    /// Calls `each` for all its containers, in order, neighbours together. Some may be empty.
    #[inline]
    pub fn containers(self, mut each: impl FnMut(Range)) {
        for (owned, cell) in self.variables() {
            // SAFETY: the value that lies there is of this kind.
            unsafe {
                match owned.kind {
                    Kind::Component if !(*cell.cast::<*mut Instance>()).is_null() => {
                        each(Range { first: cell.cast(), count: 1 });
                    }
                    Kind::Collection => containers_in(cell.cast(), &*owned.collection, &mut each),
                    _ => {}
                }
            }
        }
    }

    /// Calls `each` for every container with a component, dead or alive.
    pub fn components(self, mut each: impl FnMut(Container)) {
        self.containers(|range| {
            range.iter().filter(|container| !container.get().is_null()).for_each(&mut each);
        });
    }

    /// Whether there is no such container.
    pub fn holds_no_component(self) -> bool {
        let mut holds = false;
        self.containers(|range| holds = holds || !range.are_empty());
        !holds
    }

    /// Drops its texts and frees its collections.
    ///
    /// # Safety
    /// `w` is the home worker; it holds no components any more.
    pub unsafe fn drop(self, w: *mut Worker) {
        // SAFETY: `w` is the home worker; it holds no components any more.
        unsafe { self.drop_until(w, &mut || false) };
    }

    /// Drops its texts and frees its collections, no longer than the time slice lasts; whether all is done. What is
    /// left is owned as before.
    ///
    /// # Safety
    /// As for [`Owner::drop`].
    pub unsafe fn drop_in_slice(self, w: *mut Worker) -> bool {
        // SAFETY: as for `Owner::drop`.
        unsafe { self.drop_until(w, &mut || slice_is_over(w)) }
    }

    /// # Safety
    /// As for [`Owner::drop`].
    unsafe fn drop_until(self, w: *mut Worker, is_enough: &mut dyn FnMut() -> bool) -> bool {
        for (owned, cell) in self.variables() {
            let cell = cell.cast::<*mut u8>();
            // SAFETY: the word that lies there is null, or leads to a value of this kind, which it owns.
            unsafe {
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
        }
        true
    }
}

/// Calls `each` for the containers of a collection, if its elements are such.
///
/// # Safety
/// `description` describes `cell`, which doesn't change meanwhile.
unsafe fn containers_in(cell: *mut *mut u8, description: &Collection, mut each: impl FnMut(Range)) {
    if description.element == Kind::Component {
        // SAFETY: `description` describes `cell`, which doesn't change meanwhile.
        unsafe {
            collection::containers(cell, description, &mut |first, count| each(Range { first, count }))
        };
    }
}

/// What a process deletes with all that is in it.
#[derive(Clone, Copy)]
pub enum Storage {
    /// A collection variable.
    Collection(*mut *mut u8, &'static Collection),
    /// What a frame owns.
    Frame(Owner),
}

impl Storage {
    /// Its containers, in order, neighbours together. Some may be empty.
    ///
    /// # Safety
    /// A collection variable is there, as described; this is the home worker's thread. As long as a [`Range`] or a
    /// [`Container`] in it is used, the collections stay as they are, except for the contents of containers.
    pub unsafe fn containers(self) -> Vec<Range> {
        let mut ranges = Vec::new();
        match self {
            // SAFETY: a collection variable is there, as described; this is the home worker's thread.
            Storage::Collection(cell, description) => unsafe {
                containers_in(cell, description, |range| ranges.push(range));
            },
            Storage::Frame(owner) => owner.containers(|range| ranges.push(range)),
        }
        ranges
    }

    /// Frees it, no longer than the time slice lasts; whether all is done.
    ///
    /// # Safety
    /// As for [`Storage::containers`]; `w` is the home worker, and it holds no components any more.
    pub unsafe fn free_in_slice(self, w: *mut Worker) -> bool {
        // SAFETY: as for `Storage::containers`; `w` is the home worker, and it holds no components any more.
        unsafe {
            match self {
                Storage::Collection(cell, description) => {
                    collection::free_until(&mut *heap_of(w), cell, description, &mut || slice_is_over(w))
                }
                Storage::Frame(owner) => owner.drop_in_slice(w),
            }
        }
    }
}
