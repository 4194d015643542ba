//! Arrays of calls. A process registers a list of calls under a number of its table, and then makes them all by one
//! call of that number, until it gives the number back. The memory is kept for the next array under the same number.

use core::cell::Cell;
use core::ops::Range;
use core::ptr::NonNull;

use kortex_binding::array::{Allowed, Array, Command, MOST, WORDS};
use kortex_binding::{Call, REFUSED, domain, memory};
use kortex_hal::mmu::{Access, PAGE};
use kortex_resource::ResourceManager;

use microkernel::methods::of;
use microkernel::{AddressSpace, Process};

use crate::frames;
use crate::host::{Host, part};

/// The address of the pages that arrays share with their process: one page for each array.
pub const AT: usize = domain::USERS + (96 << 30);
pub const END: usize = AT + COUNT * PAGE;

/// The first number for arrays, and how many there are.
pub const FIRST: usize = 24;
const COUNT: usize = 8;

const _: () = assert!(FIRST + COUNT <= domain::CALLS);

/// The numbers for arrays.
pub const NUMBERS: Range<u64> = FIRST as u64..(FIRST + COUNT) as u64;

/// The calls that arrays may make: short ones, so that the kernel isn't without interrupts for long. The empty call
/// (2), the server (5: there the thread can be interrupted), reading a signal (10), frames (11 to 13), and ending a
/// signal handler (15).
const ALLOWED: Allowed = Allowed(1 << 2 | 1 << 5 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 15);

const _: () = assert!(size_of::<Array>() <= PAGE);

/// The calls of an array that handles page faults: none that take the thread elsewhere.
const ALLOWED_IN_FAULTS: Allowed = Allowed(1 << 2 | 1 << 11 | 1 << 12 | 1 << 13);

/// The arrays of a process.
pub struct Arrays {
    /// Each of its arrays.
    kept: [Cell<Kept>; COUNT],
    /// The array that handles its page faults, and the word that receives the page's address.
    handler: Cell<Option<(Call, NonNull<u64>)>>,
}

/// The state of an array's number.
#[derive(Clone, Copy)]
enum Kept {
    Nothing,
    /// Memory of the kernel's own, and the page that is shared with the process.
    Memory(NonNull<u8>, NonNull<u8>),
    /// The same, holding an array.
    Array(NonNull<u8>, NonNull<u8>),
}

impl Arrays {
    pub const fn new() -> Arrays {
        Arrays { kept: [const { Cell::new(Kept::Nothing) }; COUNT], handler: Cell::new(None) }
    }

    /// Frees the kernel's own memory; the shared pages belong to the address space.
    ///
    /// # Safety
    /// The process doesn't use its arrays any more.
    pub unsafe fn release_all<K: Host<Arrays>>(&self, space: &AddressSpace<K>) {
        for kept in &self.kept {
            if let Kept::Memory(place, _) | Kept::Array(place, _) = kept.replace(Kept::Nothing) {
                // SAFETY: as the caller promises.
                unsafe { space.release(place) };
            }
        }
    }

    /// The array's state by its number, if that may be an array's.
    fn of(&self, number: u64) -> Option<(usize, &Cell<Kept>)> {
        let which = (number as usize).wrapping_sub(FIRST);
        Some((which, self.kept.get(which)?))
    }
}

/// Memory for an array: the kernel's own, and the page that the process has at `at`.
fn memory<K: Host<Arrays>>(process: &Process<K>, at: usize) -> Option<(NonNull<u8>, NonNull<u8>)> {
    let space = process.space.borrow();
    let space = space.as_ref()?;
    let (place, page) = (space.create(()).ok()?, space.create(()).ok());
    // SAFETY: nobody has these pages; of what users can write in the second nothing is believed, and it stays until the
    // process is gone, because nothing else can be at such addresses.
    unsafe {
        match page.filter(|page| space.bind(page, (at, Access::WRITE)).is_ok()) {
            Some(page) => Some((place, page)),
            None => {
                page.into_iter().chain([place]).for_each(|page| space.release(page));
                None
            }
        }
    }
}

/// Registers an array of `count` commands under a number. Returns the shared page's address, or -1 - k if command k is
/// wrong. With `handles` = 1 + w, the array handles page faults in the address range of frames from now on, and its
/// word w receives the page's address.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn keep<K: Host<Arrays>>(
    this: *const (),
    number: u64,
    from: u64,
    count: u64,
    handles: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    let process = unsafe { of::<K>(this) };
    let Some((which, kept)) = part::<Arrays, K>(process).of(number) else { return REFUSED };
    if let Kept::Array(..) = kept.get() {
        return REFUSED;
    }
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
    let at = AT + which * PAGE;
    let there = match kept.get() {
        Kept::Memory(place, page) => Some((place, page)),
        _ => memory(process, at),
    };
    let Some((place, page)) = there else { return REFUSED };
    // SAFETY: the memory is for this number's arrays until the process is gone. None of what is allowed is an array or
    // ends the thread.
    unsafe {
        let call = Array::keep(&process.domain, commands, place.cast(), page.cast());
        process.domain.bind(number as usize, call);
        if let Some(word) = handles.checked_sub(1) {
            part::<Arrays, K>(process).handler.set(Some((call, page.cast().add(word as usize))));
        }
    }
    kept.set(Kept::Array(place, page));
    at as i64
}

/// Gives an array's number back: the array can't be called any more, and handles no faults.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn give_back<K: Host<Arrays>>(
    this: *const (),
    number: u64,
    _: u64,
    _: u64,
    _: u64,
) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    let process = unsafe { of::<K>(this) };
    let arrays = part::<Arrays, K>(process);
    let Some((_, kept)) = arrays.of(number) else { return REFUSED };
    let Kept::Array(place, page) = kept.get() else { return REFUSED };
    process.domain.unbind(number as usize);
    let other = |(call, _): &(Call, _)| call.this != place.as_ptr().cast_const().cast();
    arrays.handler.set(arrays.handler.get().filter(other));
    kept.set(Kept::Memory(place, page));
    0
}

/// Handles a page fault by the process's array. Returns whether the array made all of its calls, so that the page is
/// there now.
///
/// # Safety
/// In a handler, of code of that process; so it is called.
pub unsafe fn handler<K: Host<Arrays>>(
    process: &'static Process<K>,
    address: u64,
) -> Option<impl FnOnce() -> bool + use<K>> {
    if !(frames::AT..frames::END).contains(&(address as usize)) {
        return None;
    }
    let (Call { method, this }, word) = part::<Arrays, K>(process).handler.get()?;
    Some(move || {
        // SAFETY: a word of its page; what it calls leaves the thread where it is.
        unsafe {
            word.write_volatile(address & !(PAGE as u64 - 1));
            method(this, 0, 0, 0, 0) == 0
        }
    })
}
