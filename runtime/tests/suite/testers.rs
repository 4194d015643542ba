//! Processes that test the conditions which they await themselves, because a test may take long. Other processes run
//! meanwhile. They enter in the same order as if the process that releases the lock had tested their conditions.

use crate::common::*;
use drystone_component::{Condition, Interface, Side, Template};
use drystone_runtime::layout::*;

/// What no other process can test.
fn tested(common: bool) -> &'static Condition {
    Box::leak(Box::new(Condition { test: std::ptr::null(), depends: u64::MAX, common, watches: false }))
}

once! {
    // `{ IN Go }`
    GO: Interface = interface("Go", &[("Go", Side::Client, &[])], &[(true, &[(0, 0)])]);
    OWN: Condition = tested(false);
    ALL: Condition = tested(true);
    // Runs whenever somebody gives way.
    OTHER: Template = template("Other").main(&[
        |c| unsafe { c.write(".") },
        |c| unsafe { c.pause() },
        |c| unsafe { c.repeat(0, 30, 0) },
    ]).done();
    // Services that await until variable 1 is 1 or 2, and one that sets it.
    ROOM: Template = template("Room")
        .offers(*GO, &[
            |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.await_tested(*OWN, |c| says(c, "a", 1)) },
            |c| unsafe { c.write("A") },
            |c| unsafe { c.unlock() },
        ])
        .offers(*GO, &[
            |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
            |c| unsafe { c.lock(false) },
            |c| unsafe { c.await_tested(*ALL, |c| says(c, "b", 1)) },
            |c| unsafe { c.write("B") },
            |c| unsafe { c.unlock() },
        ])
        .offers(*GO, &[
            |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
            |c| unsafe { c.lock(false) },
            |c| unsafe { c.await_tested(*ALL, |c| says(c, "c", 1)) },
            |c| unsafe { c.write("C") },
            |c| unsafe { c.unlock() },
        ])
        .offers(*GO, &[
            |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.await_tested(*OWN, |c| says(c, "d", 2)) },
            |c| unsafe { c.write("D") },
            |c| unsafe { c.unlock() },
        ])
        .offers(*GO, &[
            |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { *c.v(1) += 1; c.write("!"); c.unlock() },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.write("E") },
            |c| unsafe { c.unlock() },
        ])
        .done();
}

/// Whether variable 1 has become as great; says that it is tested.
fn says(c: C, name: &str, least: u64) -> bool {
    // SAFETY: the process tests its condition.
    unsafe {
        c.write(name);
        *c.v(1) >= least
    }
}

/// Starts a service of the room.
macro_rules! go {
    ($interface:literal) => {
        |c| unsafe { c.send(c.reach_held(*c.container(0), $interface), *GO, 0, &[]) }
    };
}

/// What the program writes, without the points of the others.
fn words(main: &'static Template) -> String {
    output_of(main).chars().filter(|&written| written != '.').collect()
}

#[test]
fn they_enter_in_their_order_before_those_who_wait_for_the_lock() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            go!(3),
            |c| unsafe { c.passivate(1) },
            go!(1),
            |c| unsafe { c.passivate(1) },
            go!(2),
            |c| unsafe { c.passivate(1) },
            go!(0),
            |c| unsafe { c.passivate(1) },
            go!(4),
            |c| unsafe { c.passivate(1) },
            go!(4),
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    // `a` gives the lock up when it begins to await, so `d` and `b` test again, that for `c` too. Then `d` stays, `b`
    // holds for `c` too, which looks again when it is woken, `a` has the lock alone, and `E` waits until all have been
    // tested.
    assert_eq!(words(*MAIN), "dbcadb!dbBcCaAdEd!dDE");
}

#[test]
fn others_run_while_a_condition_is_tested() {
    once! {
        MAIN: Template = template("Main").holds(0).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            go!(0),
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.create(c.container(2), *OTHER) },
            go!(4),
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    let told = output_of(*MAIN);
    let tested = told.split_once('!').expect("it was set").1.split_once('a').expect("it was tested").0;
    assert!(tested.matches('.').count() >= 2, "{told}");
}

#[test]
fn one_who_awaits_alone_stays_or_enters() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            go!(3),
            |c| unsafe { c.passivate(1) },
            go!(4),
            |c| unsafe { c.passivate(1) },
            go!(4),
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    assert_eq!(words(*MAIN), "d!dEd!dDE");
}

#[test]
fn a_component_that_ends_by_force_while_a_condition_is_tested_leaves_nothing() {
    once! {
        DOOMED: Template = template("Doomed").isolated().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            go!(3),
            go!(1),
            |c| unsafe { c.passivate(1) },
            go!(4),
            |c| unsafe { c.pause() },
            |c| unsafe { c.fail(Fault::AssertionFailed, 42) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *DOOMED) },
            |c| unsafe { c.passivate(10) },
            |c| unsafe { c.write("survived") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert!(ran.output.ends_with("survived"), "{}", ran.output);
    assert_eq!((ran.errors.lines().count(), ran.outcome.live_processes, ran.outcome.live_bytes), (1, 0, 0));
}
