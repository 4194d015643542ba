//! Threads, if there are domains: the *home*, in which the program itself runs with all rights, and one thread for each
//! domain. They take turns. When none is ready, the processor rests.
//!
//! # Soundness
//!
//! There is one processor. All of this runs in handlers, or with interrupts off.

use alloc::boxed::Box;
use core::arch::asm;
use core::mem::MaybeUninit;
use core::ptr::{eq, null};
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;

use kortex_binding::{Activation, Domain, Domains};
use kortex_hal::exception::{Context, INTERRUPTIBLE, Processor, Trap};
use kortex_hal::mmu::AddressSpace;
use kortex_hal::x86_64::instructions::hlt;
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;
use kortex_resource::ResourceManager;
use kortex_thread::{Condition, RoundRobin, Scheduler, Threads};

use crate::clock::{self, Alarm, SECOND};

/// A thread: the home's or a domain's.
pub(crate) type Thread = kortex_thread::Thread<Activation>;

static TRAP: Processor = Processor;
static POLICY: RoundRobin = RoundRobin::new();
static DOMAINS: Domains<&Processor> = Domains::new(&TRAP);
static SCHEDULER: Scheduler<&RoundRobin, &Processor, &Domains<&Processor>> =
    Scheduler::new(&POLICY, &TRAP, &DOMAINS);
/// The idle thread, which runs when no other is ready; null: there are no threads.
static IDLE: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
/// The home waits for this when it has nothing to do.
static NEWS: Condition<Activation> = Condition::new();

/// Nanoseconds of a time slice.
const SLICE: u64 = SECOND / 1000;
/// The priority of all threads.
const PRIORITY: usize = 0;

/// The vector by which the home waits.
const HOME: usize = 0x2d;

/// Bytes of the stack of a thread of the kernel's own, whose calls never use it.
const STACK: usize = 1024;

/// Whether there are threads.
pub(crate) fn are_there() -> bool {
    !IDLE.load(Relaxed).is_null()
}

/// Makes the running code the home's thread, in the kernel's address space.
///
/// # Safety
/// Called once.
pub(crate) unsafe fn begin(space: &AddressSpace) {
    let own: &Domain = Box::leak(Box::default());
    // SAFETY: that is the kernel's own address space, which is active already.
    unsafe {
        own.set_space(space);
        DOMAINS.begin();
    }
    let (idle, home) = (thread(own), thread(own));
    without_interrupts(|| {
        // SAFETY: the program goes on as the idle thread for one instruction, and then becomes the home.
        unsafe {
            idle.local.begin();
            SCHEDULER.take_over(idle);
            let Ok(_) = SCHEDULER.bind(&home, PRIORITY);
            IDLE.store((&raw const *idle).cast_mut(), Relaxed);
            TRAP.register(HOME, become_home, (&raw const *home).cast());
            wait_by_exception();
            TRAP.register(HOME, rest_home, null());
        }
        clock::on(Alarm::Home, |_| wake_home());
        begin_slice();
    });
}

/// Begins a time slice of the running thread. Interrupts are off.
pub(crate) fn begin_slice() {
    if !is_idle() {
        clock::ring_by(Alarm::Slice, clock::now() + SLICE);
    }
}

/// Makes a thread of the kernel's own.
fn thread(own: &'static Domain) -> &'static Thread {
    let stack = Box::leak(Box::new([0_u64; STACK / 8]));
    // SAFETY: the stack is the thread's alone.
    let activation = unsafe { Activation::new(own, stack.as_mut_ptr_range().end.cast()) };
    let at = stack.as_mut_ptr_range().end as u64;
    create(Context::new(idle as *const () as u64, at, false, INTERRUPTIBLE | 2), activation)
}

extern "C" fn idle() -> ! {
    loop {
        hlt();
    }
}

fn wait_by_exception() {
    // SAFETY: the handler is one of the two below; the running code is resumed after this instruction.
    unsafe { asm!("int {home}", home = const HOME) };
}

/// Moves the interrupted context to the home's thread, and starts the idle thread.
extern "C" fn become_home(context: &mut Context, home: *const ()) {
    // SAFETY: registered with a thread; no code runs in either context.
    unsafe {
        let home = &*home.cast::<Thread>();
        let first = (*home.first()).clone();
        home.first().write(context.clone());
        *context = first;
        SCHEDULER.tick();
    }
}

extern "C" fn rest_home(_: &mut Context, _: *const ()) {
    // SAFETY: in a handler, of the home.
    unsafe { SCHEDULER.wait(&NEWS) };
}

/// Blocks the home until [`wake_home`] is called. Interrupts are off before and after.
pub(crate) fn rest() {
    wait_by_exception();
}

/// Wakes the home. Called in a handler.
pub(crate) fn wake_home() {
    if are_there() {
        notify(&NEWS);
    }
}

/// Wakes a thread that waits for the condition. Returns whether there was one. Called in a handler, or in the home.
pub(crate) fn notify(condition: &Condition<Activation>) -> bool {
    let did = SCHEDULER.notify(condition);
    if is_idle() {
        // SAFETY: the idle one runs, so this is a handler.
        unsafe { SCHEDULER.tick() };
        begin_slice();
    }
    did
}

/// Creates a thread.
pub(crate) fn create(context: Context, activation: Activation) -> &'static Thread {
    let Ok(thread) = SCHEDULER.create((Box::leak(Box::new_uninit()), context, activation));
    thread
}

/// Lets a new thread run.
pub(crate) fn bind(thread: &'static Thread) {
    // SAFETY: all callers pass a new thread.
    let Ok(_) = unsafe { SCHEDULER.bind(&thread, PRIORITY) };
}

/// Removes a ready thread that isn't running.
pub(crate) fn unbind(thread: &'static Thread) {
    // SAFETY: all callers pass a ready thread that isn't running.
    unsafe { SCHEDULER.unbind(thread) };
}

/// Frees a thread.
///
/// # Safety
/// It doesn't run any more and isn't used.
pub(crate) unsafe fn release(thread: &'static Thread) {
    // SAFETY: the caller promises that the thread doesn't run and isn't used any more. `create` made its place in a
    // box.
    unsafe {
        SCHEDULER.release(thread);
        drop(Box::from_raw((&raw const *thread).cast_mut().cast::<MaybeUninit<Thread>>()));
    }
}

/// The running thread.
pub(crate) fn running() -> &'static Thread {
    SCHEDULER.running()
}

/// Whether no thread is ready.
pub(crate) fn is_idle() -> bool {
    eq(running(), IDLE.load(Relaxed))
}

/// Blocks the running thread.
///
/// # Safety
/// Called in a handler that interrupted that thread.
pub(crate) unsafe fn wait(condition: &Condition<Activation>) {
    // SAFETY: the caller promises that this is a handler that interrupted the thread.
    unsafe { SCHEDULER.wait(condition) };
}

/// Ends the running thread.
///
/// # Safety
/// Called in a handler that interrupted that thread.
pub(crate) unsafe fn end() {
    // SAFETY: the caller promises that this is a handler that interrupted the thread.
    unsafe { SCHEDULER.end() };
}

/// Gives other threads a turn.
///
/// # Safety
/// Called in a handler.
pub(crate) unsafe fn give_way() {
    // SAFETY: the caller promises that this is a handler.
    unsafe { SCHEDULER.tick() };
}
