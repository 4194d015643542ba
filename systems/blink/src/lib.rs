//! Two threads that take turns: about the smallest kernel with threads. `Blink.dry` puts it together.
//!
//! # Soundness
//!
//! `main` writes each thread and its stack once, before any thread runs; afterwards only the scheduler uses them. There
//! is one processor, and interrupts are off: threads switch only where they raise the interrupt themselves.

#![no_std]
#![cfg(target_arch = "x86_64")]

use core::arch::asm;
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ops::Deref;

use drystone_machine::{Main, end};
use kortex_hal::exception::{Context, Register, Trap};
use kortex_hal::serial::Line;
use kortex_resource::ResourceManager;
use kortex_thread::{Thread, Threads};

/// How often each thread says something.
const ROUNDS: u64 = 3;
/// What the threads say.
const SAID: [&str; 2] = ["on\n", "off\n"];

/// The interrupt vectors by which a thread yields, ends, and, as the idle thread, lets others run.
const GIVE_WAY: usize = 0x2c;
const END: usize = 0x2d;
const REST: usize = 0x2f;

#[repr(C, align(16))]
struct Stack([u8; 4096]);

/// See the head of this file.
pub struct Blinker<T, S, L> {
    trap: T,
    threads: S,
    line: L,
    /// Threads that haven't ended.
    live: Cell<usize>,
    /// The threads, the idle thread last.
    places: [UnsafeCell<MaybeUninit<Thread<()>>>; SAID.len() + 1],
    stacks: [UnsafeCell<Stack>; SAID.len()],
}

// SAFETY: see the head of this file.
unsafe impl<T, S, L> Sync for Blinker<T, S, L> {}

impl<T, S, L> Blinker<T, S, L> {
    /// A kernel without threads yet.
    pub const fn new(trap: T, threads: S, line: L) -> Blinker<T, S, L> {
        Blinker {
            trap,
            threads,
            line,
            live: Cell::new(0),
            places: [const { UnsafeCell::new(MaybeUninit::uninit()) }; SAID.len() + 1],
            stacks: [const { UnsafeCell::new(Stack([0; 4096])) }; SAID.len()],
        }
    }
}

impl<T, S, L> Blinker<T, S, L>
where
    T: Deref<Target: Trap> + 'static,
    S: Deref<Target: Threads<Local = ()>> + 'static,
    L: Deref<Target: Line> + 'static,
{
    /// Registers the handlers by which threads yield and end.
    ///
    /// # Safety
    /// Called once, by the system.
    pub unsafe fn begin(&'static self) {
        let this = self as *const Self as *const ();
        // SAFETY: the handlers are fit for that, and this stays.
        unsafe {
            self.threads.give_way_by(GIVE_WAY);
            self.trap.register(END, Self::ended, this);
            self.trap.register(REST, Self::rested, this);
        }
    }

    fn thread(&'static self, number: usize, context: Context) -> &'static Thread<()> {
        // SAFETY: see the head of this file: each place is written once.
        let place = unsafe { &mut *self.places[number].get() };
        let Ok(thread) = self.threads.create((place, context, ()));
        thread
    }

    /// The body of each thread.
    extern "C" fn run(&'static self, number: u64) -> ! {
        for _ in 0..ROUNDS {
            self.line.send(SAID[number as usize].as_bytes());
            interrupt::<GIVE_WAY>();
        }
        interrupt::<END>();
        unreachable!("a thread that has ended isn't resumed")
    }

    extern "C" fn ended(_: &mut Context, of: *const ()) {
        // SAFETY: registered so, in a handler of a thread that the scheduler knows.
        unsafe {
            let this = &*of.cast::<Self>();
            this.live.set(this.live.get() - 1);
            this.threads.end();
        }
    }

    extern "C" fn rested(_: &mut Context, of: *const ()) {
        // SAFETY: registered so, in a handler.
        unsafe { (*of.cast::<Self>()).threads.tick() };
    }
}

impl<T, S, L> Main for Blinker<T, S, L>
where
    T: Deref<Target: Trap> + 'static,
    S: Deref<Target: Threads<Local = ()>> + 'static,
    L: Deref<Target: Line> + 'static,
{
    fn main(&'static self) -> ! {
        let idle = self.thread(SAID.len(), Context::new(0, 0, false, 2));
        // SAFETY: this is what runs now.
        unsafe { self.threads.take_over(idle) };
        for number in 0..SAID.len() {
            // A call has left the place to return to.
            let stack = self.stacks[number].get() as u64 + size_of::<Stack>() as u64 - 8;
            let mut context = Context::new(Self::run as *const () as u64, stack, false, 2);
            *context.register(Register::Rdi) = self as *const Self as u64;
            *context.register(Register::Rsi) = number as u64;
            let thread = self.thread(number, context);
            // SAFETY: it was just made.
            let Ok(_) = unsafe { self.threads.bind(&thread, 0) };
            self.live.set(self.live.get() + 1);
        }
        while self.live.get() > 0 {
            interrupt::<REST>();
        }
        end(0)
    }
}

/// Raises an interrupt.
fn interrupt<const VECTOR: usize>() {
    // SAFETY: its handler keeps all registers.
    unsafe { asm!("int {}", const VECTOR) };
}
