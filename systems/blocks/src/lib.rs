//! Blocks of calls that a user makes by a single call (*composite calls* (Ballesteros)), as services of the
//! microkernel: `Blocks.dry` adds them to it. [`arrays`] are calls and moves, as fast as possible; [`programs`] also
//! have loops and conditions. [`frames`] are what the paper's blocks allocate, and [`alarm`] signals a user when a call
//! takes long. By a [channel](channels) a user ships blocks to another user.
//!
//! The machine's command line says what users do: `interp` measures blocks, `blocks` tries everything that can be wrong
//! with them; the other words are the microkernel's.

#![no_std]

extern crate alloc;

mod alarm;
mod arrays;
mod channels;
mod frames;
mod heap;
mod host;
mod programs;

use core::cell::Cell;
use core::ops::Deref;

use kortex_binding::lrpc::Lrpc;
use kortex_binding::{Activation, Call, Method, REFUSED, gate, signal};
use kortex_hal::exception::{Context, Trap};
use kortex_hal::mmu::PAGE;
use kortex_hal::time::Rates;
use kortex_memory::Pool;
use kortex_thread::Thread;
use microkernel::{AddressSpace, HONEST, Owner, Process, Services, methods};

/// See the head of this file.
pub struct Blocks<G> {
    pages: G,
    /// Counter ticks for which a program runs in one slice.
    slice: Cell<u64>,
}

// SAFETY: there is one processor, and the kernel isn't interrupted.
unsafe impl<G> Sync for Blocks<G> {}

impl<G> Blocks<G> {
    /// The services, with the kernel's pages.
    pub const fn new(pages: G) -> Blocks<G> {
        Blocks { pages, slice: Cell::new(0) }
    }
}

impl<G: Deref<Target: Pool>> Blocks<G> {
    /// Gives the heap its pages.
    ///
    /// # Safety
    /// Called once, by the system.
    pub unsafe fn begin(&'static self) {
        // SAFETY: as the caller promises.
        unsafe { heap::begin(self.pages.pages()) };
    }
}

/// The part of these services that belongs to a process.
pub struct Part {
    frames: frames::Frames,
    arrays: arrays::Arrays,
    programs: programs::Programs,
    channels: channels::Channels,
    alarm: alarm::Alarm,
}

/// Gives each module its own part.
macro_rules! parts {
    ($($field:ident: $part:ty,)*) => {
        $(impl AsRef<$part> for Part {
            fn as_ref(&self) -> &$part {
                &self.$field
            }
        })*
    };
}

parts! {
    frames: frames::Frames,
    arrays: arrays::Arrays,
    programs: programs::Programs,
    channels: channels::Channels,
    alarm: alarm::Alarm,
}

/// Tasks of a user: measure blocks of calls.
const MEASURES: u64 = 100;
/// Uses its channel and ends: more such clients come than a server has channels for.
const PASSING: u64 = 115;
/// Computes for ever, beside another process.
const ENDLESS: u64 = 103;

impl<G: Deref<Target: Pool> + 'static> Services for Blocks<G> {
    type Part = Part;

    /// To check and run a program of the greatest depth (`deep` in `programs.rs`) takes 80 KiB; the stack has three
    /// times as much.
    const STACK: usize = 6;

    fn part(&self) -> Part {
        Part {
            frames: frames::Frames::new(),
            arrays: arrays::Arrays::new(),
            programs: programs::Programs::new(self.slice.get()),
            channels: channels::Channels::new(),
            alarm: alarm::Alarm::new(),
        }
    }

    fn program(&self) -> &'static [u8] {
        static PROGRAM: &[u8] = include_bytes!(env!("USER"));
        PROGRAM
    }

    fn roles(&self, what: &[u8]) -> &'static [&'static [u64]] {
        match what {
            b"interp" => &[&[MEASURES]],
            b"blocks" => &[
                &[101],
                &[102],
                &[ENDLESS, HONEST],
                &[104],
                &[105],
                &[106],
                &[107],
                &[108, HONEST],
                &[109, 110, HONEST],
                &[111, 112, HONEST],
                &[113],
                &[114, HONEST],
                &[PASSING; 40],
                &[PASSING; 40],
            ],
            _ => &[],
        }
    }

    fn measured(&self, rates: &Rates) {
        /// Slices in a second: each takes a tenth of a millisecond.
        const SLICES: u64 = 10_000;
        self.slice.set(rates.counter / SLICES);
    }

    unsafe fn bind<K: Owner<Services = Self>>(process: &'static Process<K>) {
        let this = process as *const Process<K> as *const ();
        let calls: [(usize, Method); 15] = [
            (11, frames::take::<K>),
            (12, frames::put::<K>),
            (13, frames::release::<K>),
            (14, arrays::keep::<K>),
            (15, go_on::<K>),
            (16, programs::learn::<K>),
            (17, programs::know::<K>),
            (18, programs::run::<K>),
            (19, programs::go_on::<K>),
            (20, programs::cancel::<K>),
            (21, programs::discard::<K>),
            (22, alarm::set::<K>),
            (23, time_left),
            (32, arrays::give_back::<K>),
            (33, channels::set::<K>),
        ];
        // SAFETY: they are fit for whatever a user says.
        unsafe {
            calls.into_iter().for_each(|(number, method)| process.domain.bind(number, Call { method, this }))
        };
    }

    fn bound<K: Owner<Services = Self>>(
        client: &'static Process<K>,
        server: &'static Process<K>,
        binding: &'static Lrpc,
    ) {
        channels::bind(client, server, binding);
    }

    fn keeps(at: u64, pages: u64) -> bool {
        let (start, end) = (at as usize, at.saturating_add(pages * PAGE as u64) as usize);
        let ours = [arrays::AT..arrays::END, frames::AT..frames::END, channels::AT..channels::END];
        ours.into_iter().any(|our| start < our.end && end > our.start)
    }

    unsafe fn tick<K: Owner<Services = Self>>(
        process: &'static Process<K>,
        trap: &(impl Trap + ?Sized),
        thread: &Thread<Activation>,
        context: &mut Context,
    ) {
        // SAFETY: as the caller promises.
        unsafe { alarm::ring(process, trap, thread, context) };
    }

    unsafe fn page_fault<K: Owner<Services = Self>>(
        process: &'static Process<K>,
        address: u64,
    ) -> Option<impl FnOnce() -> bool> {
        // SAFETY: as the caller promises.
        unsafe { arrays::handler(process, address) }
    }

    unsafe fn release<K: Owner<Services = Self>>(process: &Process<K>, space: &AddressSpace<K>) {
        let Part { frames, arrays, programs, channels, .. } = &process.part;
        programs.release_all();
        // SAFETY: as the caller promises.
        unsafe {
            frames.release_all::<K>(space);
            arrays.release_all::<K>(space);
            channels.release_all::<K>(space);
        }
    }
}

/// How many more ticks the present call into this domain may take; the domain itself asks.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn time_left(_: *const (), _: u64, _: u64, _: u64, _: u64) -> i64 {
    gate::time_left() as i64
}

/// Resumes what a signal has interrupted. It is faster than the call that may wait, because it saves nothing of the
/// caller.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
unsafe extern "C" fn go_on<K: Owner>(this: *const (), at: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: it comes from a gate or from an array, and there is nothing of either that must be done yet; from no run.
    unsafe {
        if Activation::running().is_held() {
            return REFUSED;
        }
        let answer = methods::go_on::<K>(this, at, 0, 0, 0);
        if answer == 0 { signal::leave() } else { answer }
    }
}
