//! Schedulers on exceptions that are only made up: who is current is who would go on.

use std::cell::Cell;
use std::ptr::null_mut;

use kortex_hal::exception::{Context, Handler, Trap};
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

fn thread(priority: usize) -> &'static Thread<()> {
    Box::leak(Box::new(Thread::new(Context::new(0, 0, false, 0), priority, ())))
}

impl<P: Policy> Kernel<P> {
    fn new(policy: P, priorities: &[usize]) -> Kernel<P> {
        let trap = Box::new(MadeUp(Cell::new(null_mut())));
        let scheduler: &'static _ = Box::leak(Box::new(Scheduler::new(Box::new(policy), trap, &Alone)));
        let mut threads = vec![thread(0)];
        // SAFETY: nothing is ever resumed here.
        unsafe { scheduler.take_over(threads[0]) };
        for &priority in priorities {
            threads.push(thread(priority));
            scheduler.add(threads.last().expect("it was put there"));
        }
        Kernel { scheduler, threads }
    }

    /// The number of the thread that runs; the idle one is 0.
    fn running(&self) -> usize {
        let running = self.scheduler.running();
        self.threads.iter().position(|&thread| std::ptr::eq(thread, running)).expect("it is one of them")
    }

    /// Who runs in the next slices of time.
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
fn who_is_taken_away_has_no_turn_any_more() {
    let kernel = Kernel::new(RoundRobin::new(), &[0, 0, 0]);
    assert_eq!(kernel.slices(2), [1, 2]);
    kernel.scheduler.remove(kernel.threads[3]);
    assert_eq!(kernel.slices(3), [1, 2, 1]);
    kernel.scheduler.remove(kernel.threads[2]);
    assert_eq!(kernel.slices(2), [1, 1]);

    let kernel = Kernel::new(Priority::new(), &[5, 1, 5]);
    assert_eq!(kernel.slices(1), [2]);
    // The first of its ring, which had another priority by then.
    kernel.threads[1].set_priority(1);
    kernel.scheduler.remove(kernel.threads[1]);
    // SAFETY: nothing is ever resumed here.
    unsafe { kernel.scheduler.end() };
    assert_eq!(kernel.slices(2), [3, 3]);
}
