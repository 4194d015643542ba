//! Schedulers on simulated exceptions: the current context is the one that would be resumed.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use kortex_hal::exception::{Context, Handler, Trap};
use kortex_resource::ResourceManager;
use kortex_thread::{
    Alone, Condition, Cooperative, Policy, Priority, RoundRobin, Scheduler, Thread, Threads,
};

struct MadeUp(Cell<*mut Context>);

impl Trap for MadeUp {
    unsafe fn register(&self, _: usize, _: Handler, _: *const ()) {}
    unsafe fn unregister(&self, _: usize) {}

    fn current(&self) -> *mut Context {
        self.0.get()
    }

    unsafe fn set_current(&self, context: *mut Context) {
        self.0.set(context);
    }
}

struct Kernel<P: 'static> {
    scheduler: &'static Scheduler<Box<P>, Box<MadeUp>, &'static Alone>,
    threads: Vec<&'static Thread<()>>,
}

impl<P: Policy> Kernel<P> {
    fn new(policy: P, priorities: &[usize]) -> Kernel<P> {
        let trap = Box::new(MadeUp(Cell::new(null_mut())));
        let scheduler: &'static _ = Box::leak(Box::new(Scheduler::new(Box::new(policy), trap, &Alone)));
        let kernel = Kernel { scheduler, threads: Vec::new() };
        let idle = kernel.create();
        // SAFETY: nothing is ever resumed here.
        unsafe { scheduler.take_over(idle) };
        let bound = priorities.iter().map(|&priority| kernel.bind(kernel.create(), priority));
        Kernel { threads: std::iter::once(idle).chain(bound).collect(), ..kernel }
    }

    fn create(&self) -> &'static Thread<()> {
        let place = Box::leak(Box::new_uninit());
        let Ok(thread) = self.scheduler.create((place, Context::new(0, 0, false, 0), ()));
        thread
    }

    fn bind(&self, thread: &'static Thread<()>, priority: usize) -> &'static Thread<()> {
        // SAFETY: nothing is ever resumed here.
        let Ok(bound) = unsafe { self.scheduler.bind(&thread, priority) };
        bound
    }

    fn unbind(&self, number: usize) {
        // SAFETY: likewise.
        unsafe { self.scheduler.unbind(self.threads[number]) };
    }

    /// The number of the running thread; the idle thread is 0.
    fn running(&self) -> usize {
        let running = self.scheduler.running();
        self.threads.iter().position(|&thread| std::ptr::eq(thread, running)).expect("it is one of them")
    }

    /// The threads that run in the next time slices.
    fn slices(&self, count: usize) -> Vec<usize> {
        let tick = |_| {
            // SAFETY: as above.
            unsafe { self.scheduler.tick() };
            self.running()
        };
        (0..count).map(tick).collect()
    }
}

#[test]
fn round_robin_gives_each_its_slice() {
    let kernel = Kernel::new(RoundRobin::new(), &[0, 0, 0]);
    assert_eq!(kernel.slices(7), [1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn cooperative_threads_run_until_they_give_way() {
    let kernel = Kernel::new(Cooperative::new(), &[0, 0]);
    assert_eq!(kernel.slices(3), [1, 1, 1]);
    // SAFETY: nothing is ever resumed here.
    unsafe { kernel.scheduler.give_way() };
    assert_eq!(kernel.slices(2), [2, 2]);
}

#[test]
fn who_is_more_important_runs_alone() {
    let kernel = Kernel::new(Priority::new(), &[5, 1, 1, 31, 99]);
    assert_eq!(kernel.slices(4), [2, 3, 2, 3]);
    // SAFETY: nothing is ever resumed here.
    unsafe {
        kernel.scheduler.end();
        kernel.scheduler.end();
    }
    assert_eq!(kernel.slices(2), [1, 1]);
    // SAFETY: likewise.
    unsafe { kernel.scheduler.end() };
    assert_eq!(kernel.slices(3), [5, 4, 5]);
}

#[test]
fn who_waits_runs_when_it_is_notified_in_order() {
    let kernel = Kernel::new(RoundRobin::new(), &[0, 0]);
    let condition = Condition::new();
    assert!(!kernel.scheduler.notify(&condition));
    assert_eq!(kernel.slices(1), [1]);
    // SAFETY: nothing is ever resumed here.
    unsafe {
        kernel.scheduler.wait(&condition);
        assert_eq!(kernel.running(), 2);
        kernel.scheduler.wait(&condition);
    }
    assert_eq!(kernel.slices(2), [0, 0]);
    assert!(kernel.scheduler.notify(&condition) && kernel.scheduler.notify(&condition));
    assert!(!kernel.scheduler.notify(&condition));
    assert_eq!(kernel.slices(3), [1, 2, 1]);
}

#[test]
fn who_is_unbound_has_no_turn_until_it_is_bound_again() {
    let kernel = Kernel::new(RoundRobin::new(), &[0, 0, 0]);
    assert_eq!(kernel.slices(2), [1, 2]);
    kernel.unbind(3);
    assert_eq!(kernel.slices(3), [1, 2, 1]);
    kernel.unbind(2);
    assert_eq!(kernel.slices(2), [1, 1]);
    kernel.bind(kernel.threads[3], 0);
    assert_eq!(kernel.slices(3), [3, 1, 3]);
}

#[test]
fn with_which_priority_a_thread_is_bound_counts() {
    let kernel = Kernel::new(Priority::new(), &[5, 1, 5]);
    assert_eq!(kernel.slices(1), [2]);
    // The first of its ring.
    kernel.unbind(1);
    kernel.bind(kernel.threads[1], 1);
    assert_eq!(kernel.slices(3), [1, 2, 1]);
    kernel.unbind(2);
    kernel.bind(kernel.threads[2], 7);
    // SAFETY: nothing is ever resumed here.
    unsafe { kernel.scheduler.end() };
    assert_eq!(kernel.slices(2), [3, 3]);
    // SAFETY: likewise.
    unsafe { kernel.scheduler.end() };
    assert_eq!(kernel.slices(2), [2, 2]);
}

#[test]
fn the_place_of_a_thread_that_was_released_is_for_another() {
    let kernel = Kernel::new(RoundRobin::new(), &[0, 0]);
    kernel.unbind(2);
    let released = kernel.threads[2];
    // SAFETY: it isn't used any more; its place was made by `Box`.
    let place = unsafe {
        kernel.scheduler.release(released);
        (&raw const *released).cast_mut().cast::<MaybeUninit<Thread<()>>>().as_mut().expect("it is there")
    };
    let Ok(other) = kernel.scheduler.create((place, Context::new(1, 2, true, 0), ()));
    assert_eq!(kernel.slices(2), [1, 1]);
    kernel.bind(other, 0);
    assert_eq!(kernel.slices(2), [2, 1]);
    // SAFETY: no thread runs.
    unsafe { assert_eq!(((*other.first()).rip, (*other.first()).rsp), (1, 2)) };
}
