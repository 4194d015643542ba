//! Processes on several workers.

use crate::common::*;
use drystone_component::{Interface, Kind, Side, Template};
use drystone_runtime::entry_points::ds_insert;
use drystone_runtime::layout::*;
use drystone_runtime::template_of;

const ROUNDS: u64 = if cfg!(miri) { 300 } else { 20_000 };

once! {
    // `IN Done`
    DONE: Interface = interface("Done", &[("Done", Side::Client, &[])], &[(false, &[(0, 1)]), (true, &[])]);
    TASK: Template = template("Task").requires(*DONE).main(&[
        |c| unsafe { c.compute(ROUNDS) },
        |c| unsafe { c.send(c.reach(0), *DONE, 0, &[]) },
    ]).done();
    BAD: Template = template("Bad").isolated().main(&[
        |c| unsafe { c.compute(ROUNDS) },
        |c| unsafe { c.fail(Fault::Overflow, 1) },
    ]).done();
    // Counts services.
    COUNTER: Template = template("Counter").offers(*DONE, &[
        |c| unsafe { c.receive(c.client(), *DONE, 0, &[]) },
        |c| unsafe { c.lock(true) },
        |c| unsafe { *c.v(0) += 1; c.unlock() },
    ]).finally(&[|c| unsafe { c.number(*c.v(0)) }]).done();
    TASKS: Template = template("Tasks").holds(0).collects(1, Kind::Component).main(&[
        |c| unsafe { c.create(c.container(0), *COUNTER) },
        |c| unsafe {
            let owned = &(*template_of(c.me())).owned.get()[1];
            for key in 0..10u64 {
                let cell = ds_insert(c.w, c.p, c.v(1).cast(), owned.collection.cast_mut(), &key, 1).cast();
                assert!(c.create(cell, *TASK) == Go);
                assert!(c.connect(*cell, 0, *c.container(0), 0) == Go);
            }
            Go
        },
    ]).done();
}

#[test]
fn processes_that_compute_go_away_and_come_home() {
    let ran = run_with(*TASKS, 3, usize::MAX);
    assert_eq!((ran.output.as_str(), ran.errors.as_str(), ran.outcome.status), ("10", "", 0));
    assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
    assert!(ran.outcome.away > 0);
}

#[test]
fn one_worker_does_the_same() {
    let ran = run_with(*TASKS, 1, usize::MAX);
    assert_eq!((ran.output.as_str(), ran.outcome.status, ran.outcome.away), ("10", 0, 0));
}

#[test]
fn halting_waits_for_nobody_who_computes() {
    once! {
        ENDLESS: Template = template("Endless").main(&[|c| unsafe { c.compute(u64::MAX) }]).done();
        MAIN: Template = template("Main").holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *ENDLESS) },
            |c| unsafe { c.create(c.container(1), *ENDLESS) },
            |c| unsafe { c.create(c.container(2), *ENDLESS) },
            |c| unsafe { c.passivate(30) },
            |c| unsafe { c.halt(3) },
        ]).done();
    }
    let ran = run_with(*MAIN, 2, usize::MAX);
    assert_eq!((ran.outcome.status, ran.errors.as_str()), (3, ""));
}

#[test]
fn an_isolated_component_whose_processes_are_away_ends_too() {
    once! {
        ENDLESS: Template = template("Endless").main(&[|c| unsafe { c.compute(u64::MAX) }]).done();
        ROOM: Template = template("Room").isolated().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *ENDLESS) },
            |c| unsafe { c.create(c.container(1), *ENDLESS) },
            |c| unsafe { c.create(c.container(2), *BAD) },
            |c| unsafe { c.passivate(30) },
            |c| unsafe { c.fail(Fault::MissingReturn, 2) },
        ]).done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
        ]).done();
    }
    let ran = run_with(*MAIN, 2, usize::MAX);
    assert!(ran.errors.ends_with("error: missing return at test.dry:2:1 in Main.a\n"), "{}", ran.errors);
    assert_eq!((ran.outcome.status, ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0, 0));
}
