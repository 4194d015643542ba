//! Page frames as kernel objects. A process knows its frames by number, never by physical address: it takes one, maps
//! it at an address, and releases it.
//!
//! A released frame stays with its process for reuse. It holds nothing that the process may not see, so it needn't be
//! cleared.

use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

use kortex_binding::{REFUSED, domain};
use kortex_hal::mmu::{Access, PAGE};
use kortex_resource::ResourceManager;

use microkernel::methods::of;
use microkernel::{AddressSpace, Process};

use crate::host::{Host, part};

/// The address range of frames; nothing else is mapped there.
pub const AT: usize = domain::USERS + (256 << 30);
pub const END: usize = AT + (64 << 30);

/// Frames of a process, at most.
const MOST: usize = 256;

/// No frame.
const NONE: usize = usize::MAX;

#[derive(Clone, Copy)]
enum State {
    /// Free; the number of the next free frame follows.
    Free(usize),
    /// Taken, but not mapped.
    Taken,
    /// Mapped at an address.
    Put(usize),
}

/// The frames of a process.
pub struct Frames {
    frames: [Cell<(State, *mut u8)>; MOST],
    /// How many there are.
    count: Cell<usize>,
    /// The first free one.
    free: Cell<usize>,
}

impl Frames {
    pub const fn new() -> Frames {
        let frames = [const { Cell::new((State::Taken, null_mut())) }; MOST];
        Frames { frames, count: Cell::new(0), free: Cell::new(NONE) }
    }

    /// Gets a frame that is new to the process.
    #[cold]
    #[inline(never)]
    fn more<K: Host<Frames>>(&self, process: &Process<K>) -> i64 {
        let (number, space) = (self.count.get(), process.space.borrow());
        let (Some(frame), Some(space)) = (self.frames.get(number), space.as_ref()) else { return REFUSED };
        let Ok(page) = space.create(()) else { return REFUSED };
        frame.set((State::Taken, page.as_ptr()));
        self.count.set(number + 1);
        number as i64
    }

    /// Frees the frames that aren't mapped; the address space frees the rest.
    ///
    /// # Safety
    /// The process doesn't use them any more.
    pub unsafe fn release_all<K: Host<Frames>>(&self, space: &AddressSpace<K>) {
        for (state, page) in self.frames[..self.count.replace(0)].iter().map(Cell::get) {
            if let (State::Free(_) | State::Taken, Some(page)) = (state, NonNull::new(page)) {
                // SAFETY: as the caller promises.
                unsafe { space.release(page) };
            }
        }
    }
}

/// Takes a frame and returns its number.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn take<K: Host<Frames>>(this: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    let process = unsafe { of::<K>(this) };
    let frames = part::<Frames, K>(process);
    let number = frames.free.get();
    let Some(frame) = frames.frames.get(number) else { return frames.more(process) };
    let (state, page) = frame.get();
    frames.free.set(if let State::Free(next) = state { next } else { NONE });
    frame.set((State::Taken, page));
    number as i64
}

/// Maps a frame at an address.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn put<K: Host<Frames>>(this: *const (), number: u64, at: u64, _: u64, _: u64) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    let process = unsafe { of::<K>(this) };
    let at = at as usize;
    let Some(frame) = part::<Frames, K>(process).frames.get(number as usize) else { return REFUSED };
    let (State::Taken, page) = frame.get() else { return REFUSED };
    let Some(page) = NonNull::new(page).filter(|_| (AT..END).contains(&at) && at.is_multiple_of(PAGE)) else {
        return REFUSED;
    };
    let space = process.space.borrow();
    match space.as_ref() {
        Some(space) if space.is_ready(at) => {
            // SAFETY: the kernel doesn't use it.
            if unsafe { space.bind(&page, (at, Access::WRITE)) }.is_err() {
                return REFUSED;
            }
            frame.set((State::Put(at), page.as_ptr()));
            0
        }
        _ => {
            drop(space);
            put_elsewhere(process, number, at)
        }
    }
}

/// As [`put`], away from the last page that was put. Kept apart, so that `put` itself saves no callee-saved registers.
#[cold]
#[inline(never)]
fn put_elsewhere<K: Host<Frames>>(process: &'static Process<K>, number: u64, at: usize) -> i64 {
    if process.space.borrow().as_ref().is_none_or(|space| space.make_ready(at).is_err()) {
        return REFUSED;
    }
    let this = process as *const Process<K> as *const ();
    // SAFETY: it is what the call is bound with.
    unsafe { put::<K>(this, number, at as u64, 0, 0) }
}

/// Releases a frame, mapped or not.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn release<K: Host<Frames>>(
    this: *const (),
    number: u64,
    _: u64,
    _: u64,
    _: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    let process = unsafe { of::<K>(this) };
    let frames = part::<Frames, K>(process);
    let Some(frame) = frames.frames.get(number as usize) else { return REFUSED };
    let (state, page) = frame.get();
    match state {
        State::Taken if !page.is_null() => {}
        State::Put(at) => {
            if let Some(space) = process.space.borrow().as_ref() {
                // SAFETY: it is there: nothing else takes away what is at such addresses.
                unsafe { space.unbind(at) };
            }
        }
        _ => return REFUSED,
    }
    frame.set((State::Free(frames.free.replace(number as usize)), page));
    0
}
