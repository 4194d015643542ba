//! Arrays of calls: a process says which calls it wants to make by one, and that is a number in its table then, as any call.

use core::cell::Cell;
use core::ptr::NonNull;

use kortex_binding::array::{Allowed, Array, Command, MOST, WORDS};
use kortex_binding::{Call, REFUSED, domain, memory};
use kortex_hal::mmu::{Access, PAGE};
use kortex_resource::ResourceManager;

use microkernel::methods::of;
use microkernel::{AddressSpace, Process};

use crate::{Host, frames};

/// Where the pages are that arrays share with their process: the first array's, and so on.
pub const AT: usize = domain::USERS + (96 << 30);
pub const END: usize = AT + COUNT * PAGE;

/// The first number that may be an array's, and how many there are.
pub const FIRST: usize = 24;
const COUNT: usize = domain::CALLS - FIRST;

/// What arrays may call: what doesn't take long, so that the kernel isn't without interrupts for long. To do nothing (2), the server (5: there
/// the thread can be interrupted), when it was told (10), frames (11 to 13), and to
/// end the handler of a signal (15).
const ALLOWED: Allowed = Allowed(1 << 2 | 1 << 5 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 15);

const _: () = assert!(size_of::<Array>() <= PAGE);

/// What an array may call by which page faults are handled: nothing by which the thread goes elsewhere.
const ALLOWED_IN_FAULTS: Allowed = Allowed(1 << 2 | 1 << 11 | 1 << 12 | 1 << 13);

/// Of a process.
pub struct Arrays {
    /// Where each of its arrays is kept.
    kept: [Cell<Option<NonNull<u8>>>; COUNT],
    /// The one by which its page faults are handled, and the word that is the page then.
    handler: Cell<Option<(Call, NonNull<u64>)>>,
}

impl Arrays {
    pub const fn new() -> Arrays {
        Arrays { kept: [const { Cell::new(None) }; COUNT], handler: Cell::new(None) }
    }

    /// Gives back what only the kernel has; the pages that are shared are in the address space.
    ///
    /// # Safety
    /// Nobody calls them any more.
    pub unsafe fn release_all<K: Host>(&self, space: &AddressSpace<K>) {
        // SAFETY: as the caller promises.
        self.kept.iter().filter_map(Cell::take).for_each(|place| unsafe { space.release(place) });
    }
}

/// Keeps an array under a number, out of so many commands. It answers where the page is that both have; or -1 - k, where the command k is wrong.
/// With `handles` = 1 + w, page faults at frames' addresses are handled by it from now on, and the word w is the page then.
pub unsafe extern "C" fn keep<K: Host>(
    this: *const (),
    number: u64,
    from: u64,
    count: u64,
    handles: u64,
) -> i64 {
    // SAFETY: bound so.
    let process = unsafe { of::<K>(this) };
    let which = (number as usize).wrapping_sub(FIRST);
    let Some(kept) = process.part.arrays.kept.get(which).filter(|kept| kept.get().is_none()) else {
        return REFUSED;
    };
    let mut words = [0_u64; MOST];
    let Some(words) = words.get_mut(..count as usize) else { return -1 - MOST as i64 };
    // SAFETY: bytes of words.
    let bytes = unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), 8 * words.len()) };
    if memory::read(from, bytes).is_err() {
        return REFUSED;
    }
    let mut commands = [Command::default(); MOST];
    for (command, word) in commands.iter_mut().zip(&*words) {
        *command = Command { number: *word as u32, answer: (*word >> 32) as u32 };
    }
    let commands = &commands[..words.len()];
    if handles > WORDS as u64 {
        return REFUSED;
    }
    let allowed = if handles == 0 { ALLOWED } else { ALLOWED_IN_FAULTS };
    if let Some(wrong) = allowed.wrong(commands) {
        return -1 - wrong as i64;
    }
    let space = process.space.borrow();
    let Some(space) = space.as_ref() else { return REFUSED };
    let Ok(place) = space.create(()) else { return REFUSED };
    let (at, page) = (AT + which * PAGE, space.create(()).ok());
    // SAFETY: nobody has these pages; of what users can write in the second nothing is believed, and it stays until the process is gone, because
    // nothing else can be at such addresses.
    unsafe {
        let Some(page) = page.filter(|page| space.bind(page, (at, Access::WRITE)).is_ok()) else {
            page.into_iter().chain([place]).for_each(|page| space.release(page));
            return REFUSED;
        };
        // None of what is allowed is an array, because their numbers begin behind, or ends the thread.
        let call = Array::keep(&process.domain, commands, place.cast(), page.cast());
        process.domain.bind(number as usize, call);
        if let Some(word) = handles.checked_sub(1) {
            process.part.arrays.handler.set(Some((call, page.cast().add(word as usize))));
        }
    }
    kept.set(Some(place));
    at as i64
}

/// A page fault of a process: whether its array has made all of its calls, and what it touched is there now.
///
/// # Safety
/// In a handler, of code of that process.
pub unsafe fn handle<K: Host>(process: &Process<K>, address: u64) -> bool {
    match process.part.arrays.handler.get() {
        Some((Call { method, this }, word)) if (frames::AT..frames::END).contains(&(address as usize)) => {
            // SAFETY: a word of its page; what it calls leaves the thread where it is.
            unsafe {
                word.write_volatile(address & !(PAGE as u64 - 1));
                method(this, 0, 0, 0, 0) == 0
            }
        }
        _ => false,
    }
}
