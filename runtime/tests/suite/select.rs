//! Processes that wait for the first of several things.

use crate::common::*;
use drystone_component::{Collection, Interface, Kind, Side, Template, Type};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;

const FINISH: i32 = -2;
const ITEM: u32 = 0;

once! {
    // `{ OUT Item(x) }`
    FLOW: Interface = interface("Flow", &[("Item", Side::Server, &[Type::Integer])], &[(true, &[(0, 0)])]);
    // `{ IN Item(x) }`
    DROP: Interface = interface("Drop", &[("Item", Side::Client, &[Type::Integer])], &[(true, &[(0, 0)])]);
}

const ITEMS: u64 = if cfg!(miri) { 12 } else { 20_000 };

/// Sends its items.
const SOURCE: &[Step] =
    &[|c| unsafe { c.send(c.client(), *FLOW, ITEM, &[*c.r(0)]) }, |c| unsafe { c.repeat(0, ITEMS, 0) }];

#[test]
fn several_sources_get_their_shares_and_nothing_is_lost() {
    once! {
        SERVER: Template = template("Server").offers(*FLOW, SOURCE).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *SERVER) },
            |c| unsafe {
                let [a, b] = [0, 1].map(|held| c.at_held(*c.container(held), 0, ITEM as i32));
                c.select([a, b], 0, [3, 5], 99)
            },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *FLOW, ITEM, &[4]) },
            |c| unsafe {
                // In order.
                assert_eq!(*c.r(4), *c.r(0));
                *c.r(0) += 1;
                To(7)
            },
            |c| unsafe { c.receive(c.reach_held(*c.container(1), 0), *FLOW, ITEM, &[4]) },
            |c| unsafe {
                assert_eq!(*c.r(4), *c.r(1));
                *c.r(1) += 1;
                Go
            },
            |c| unsafe {
                let taken = *c.r(0) + *c.r(1);
                if taken == ITEMS && !cfg!(miri) {
                    assert!((ITEMS * 4 / 10..=ITEMS * 6 / 10).contains(&*c.r(0)), "{}", *c.r(0));
                }
                if taken < 2 * ITEMS { To(2) } else { Go }
            },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "");
}

/// Both ends of each communication wait, with limits that often end before anything comes; then either is the first to
/// go.
#[test]
fn both_ends_of_a_communication_may_wait_with_a_limit() {
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 2000 };
    once! {
        SERVER: Template = template("Server").offers(*FLOW, &[
            |c| unsafe { c.select([c.at_client(FINISH)], 1 + *c.r(1) % 3, [3], 1) },
            |c| unsafe { *c.r(1) += 1; if *c.r(1) % 4 == 0 { Go } else { To(0) } },
            |c| unsafe { c.send(c.client(), *FLOW, ITEM, &[*c.r(1)]).then(0) },
        ]).done();
        CLIENT: Template = template("Client").requires(*FLOW).main(&[
            |c| unsafe {
                let sources = [c.at_required(0, ITEM as i32), c.at_required(0, FINISH)];
                c.select(sources, 1 + *c.r(0) % 5, [2, 99], 1)
            },
            |c| unsafe { c.repeat(0, 10, 0).then(99) },
            |c| unsafe { c.receive(c.reach(0), *FLOW, ITEM, &[4]) },
            |c| unsafe { c.repeat(0, 10, 0) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(*c.r(0) as i64 % 31) },
            |c| unsafe { if *c.r(0) % 2 == 0 { c.disconnect(*c.container(1), 0) } else { Go } },
            |c| unsafe { c.delete(c.container(1)) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.repeat(0, ROUNDS, 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "");
}

/// What watches and what is watched ends by force, in either order, while others wait for the same things.
#[test]
fn what_is_watched_may_end_by_force() {
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 500 };
    once! {
        QUIET: Template = template("Quiet").offers(*FLOW, &[
            |c| unsafe { c.select([c.at_client(FINISH)], 0, [99], 99) },
        ]).done();
        // Holds one, watches it and another, and fails at some time.
        FRAGILE: Template = template("Fragile").isolated().holds(0).requires(*FLOW).offers(*FLOW, &[
            |c| unsafe { c.select([c.at_client(FINISH)], 1 << 40, [99], 99) },
        ]).offers(*DROP, &[
            |c| unsafe { c.receive(c.client(), *DROP, ITEM, &[0]) },
            |c| unsafe { c.passivate(*c.r(0) as i64) },
            |c| unsafe { c.fail(Fault::Overflow, 3) },
        ]).main(&[
            |c| unsafe { c.create(c.container(0), *QUIET) },
            |c| unsafe { c.begun() },
            |c| unsafe {
                let sources = [
                    c.at_held(*c.container(0), 0, FINISH),
                    c.at_required(0, FINISH),
                    c.at_required(0, ITEM as i32),
                ];
                c.select(sources, 1 << 40, [3, 3, 3], 3)
            },
            |c| unsafe { c.passivate(1 << 30) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *QUIET) },
            |c| unsafe { c.create(c.container(1), *FRAGILE) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.create(c.container(2), *FRAGILE) },
            // In every second round, one is connected to the other.
            |c| unsafe {
                let server = if *c.r(0) % 2 == 0 { 0 } else { 1 };
                c.connect(*c.container(2), 0, *c.container(server), 0)
            },
            |c| unsafe { c.send(c.reach_held(*c.container(1), 1), *DROP, ITEM, &[1 + *c.r(0) % 3]) },
            |c| unsafe { c.send(c.reach_held(*c.container(2), 1), *DROP, ITEM, &[1 + *c.r(0) % 5]) },
            |c| unsafe {
                let sources = [1, 2].map(|held| c.at_held(*c.container(held), 0, FINISH));
                c.select(sources, 1 + *c.r(0) % 7, [8, 8], 8)
            },
            |c| unsafe { c.passivate(10) },
            |c| unsafe {
                assert_eq!([1, 2].map(|held| ds_exists(*c.container(held))), [0, 0]);
                c.delete(c.container(0))
            },
            |c| unsafe { c.repeat(0, ROUNDS, 0) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors.lines().count() as u64, 2 * ROUNDS);
    assert_eq!((ran.outcome.status, ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0, 0));
}

/// Whether the first variable is not 0, or something else has come.
unsafe extern "C" fn is_set_or_news(w: *mut Worker, p: *mut Process) -> u32 {
    unsafe { u32::from(*C { w, p }.v(7) != 0 || ds_news(w, p) != 0) }
}

/// A process that awaits a condition and a message gives its lock up, and has it again for either.
#[test]
fn a_condition_may_be_one_of_several() {
    const ROUNDS: u64 = if cfg!(miri) { 5 } else { 5000 };
    once! {
        SOURCE: Template = template("Source").offers(*FLOW, &[
            |c| unsafe { c.passivate(*c.r(0) as i64 % 3) },
            |c| unsafe { c.send(c.client(), *FLOW, ITEM, &[1]) },
            |c| unsafe { c.repeat(0, ROUNDS, 0) },
        ]).done();
        SETTER: Template = template("Boss").requires(*FLOW).offers(*DROP, &[
            |c| unsafe { c.test(c.client(), *DROP, Side::Server, ITEM as i32, 99) },
            |c| unsafe { c.receive(c.client(), *DROP, ITEM, &[0]) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { *c.v(7) += 1; Go },
            |c| unsafe { c.unlock() },
            |_| To(0),
        ]).main(&[
            |c| unsafe { c.begun() },
            |c| unsafe { c.lock(true) },
            |c| unsafe {
                let condition = Source {
                    at: (*c.v(7) != 0) as usize,
                    way: SOURCE_CONDITION,
                    ..c.at_required(0, 0)
                };
                let mut sources = [condition, c.at_required(0, ITEM as i32)];
                let first = ds_select(c.w, c.p, sources.as_mut_ptr(), 2, c.until(1), 1, 7);
                if (0..=2).contains(&first) {
                    *c.r(REGISTERS - 1) = 0;
                }
                match first {
                    -1 => Leave,
                    0 => { *c.v(7) -= 1; *c.r(0) += 1; To(5) }
                    1 => Go,
                    2 => { *c.r(3) += 1; To(5) }
                    _ => To(4),
                }
            },
            |c| unsafe { *c.r(1) += 1; c.receive(c.reach(0), *FLOW, ITEM, &[4]).then(5) },
            |c| unsafe { c.await_own(is_set_or_news).then(2) },
            |c| unsafe { c.unlock() },
            |c| unsafe { if *c.r(0) + *c.r(1) < 2 * ROUNDS { To(1) } else { Go } },
            |c| unsafe { assert_eq!((*c.r(0), *c.r(1)), (ROUNDS, ROUNDS)); assert!(*c.r(3) > 0); Go },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SOURCE) },
            |c| unsafe { c.create(c.container(1), *SETTER) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(*c.r(0) as i64 % 5) },
            |c| unsafe { c.send(c.reach_held(*c.container(1), 0), *DROP, ITEM, &[1]) },
            |c| unsafe { c.repeat(0, ROUNDS, 3) },
            |c| unsafe { c.delete(c.container(1)) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "");
}

/// Ten thousand processes, each of which waits for three communications and a time, take no bytes when they are done.
#[test]
fn many_may_wait_for_several() {
    const MANY: u64 = if cfg!(miri) { 5 } else { 10_000 };
    once! {
        SOURCE: Template = template("Source").offers(*FLOW, &[
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.send(c.client(), *FLOW, ITEM, &[1]) },
        ]).done();
        WAITER: Template = template("Waiter").holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *SOURCE) },
            |c| unsafe { c.create(c.container(1), *SOURCE) },
            |c| unsafe { c.create(c.container(2), *SOURCE) },
            |c| unsafe { c.begun() },
            |c| unsafe {
                let sources = [0, 1, 2].map(|held| c.at_held(*c.container(held), 0, ITEM as i32));
                c.select(sources, 2, [6, 7, 8], 5)
            },
            |c| unsafe { *c.r(1) += 1; To(4) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *FLOW, ITEM, &[4]).then(9) },
            |c| unsafe { c.receive(c.reach_held(*c.container(1), 0), *FLOW, ITEM, &[4]).then(9) },
            |c| unsafe { c.receive(c.reach_held(*c.container(2), 0), *FLOW, ITEM, &[4]) },
            |c| unsafe { c.repeat(0, 3, 4) },
            |c| unsafe { assert_eq!(*c.r(1), 2); Go },
        ]).done();
        ALL: Collection = collection(Kind::Component);
        MAIN: Template = template("Main").virtual_time().collects(0, Kind::Component).main(&[
            |c| unsafe {
                let key = *c.r(0);
                let cell = ds_insert(c.w, c.p, c.v(0).cast(), *ALL, &raw const key, 1);
                c.create(cell.cast(), *WAITER)
            },
            |c| unsafe { c.repeat(0, MANY, 0) },
            |c| unsafe { c.passivate(20) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "");
}
