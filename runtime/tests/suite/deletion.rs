//! How components end: order, waiting, depth and number.

use crate::common::*;
use drystone_component::{Interface, Kind, Side, Template, Type};
use drystone_runtime::entry_points::{ds_delete_collection, ds_depart, ds_insert};
use drystone_runtime::layout::*;
use drystone_runtime::template_of;

once! {
    // `{ IN Say }`
    TELL: Interface = interface("Tell", &[("Say", Side::Client, &[])], &[(true, &[(0, 0)])]);
    PLAIN: Template = template("Plain").done();
}

const MANY: u64 = if cfg!(miri) { 50 } else { 100_000 };

#[test]
fn deleting_waits_for_the_activity_and_the_services_and_runs_finally() {
    once! {
        SERVER: Template = template("Server")
            .offers(*TELL, &[
                |c| unsafe { c.test(c.client(), *TELL, Side::Server, 0, 5) },
                |c| unsafe { c.receive(c.client(), *TELL, 0, &[]) },
                |c| unsafe { c.passivate(2) },
                |c| unsafe { c.write("service ") },
                |_| To(0),
                |_| End,
            ])
            .main(&[|c| unsafe { c.begun() }, |c| unsafe { c.passivate(5) }, |c| unsafe { c.write("activity ") }])
            .finally(&[|c| unsafe { c.write("finally ") }])
            .done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *TELL, 0, &[]) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *TELL, 0, &[]) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write("deleted") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "service activity service finally deleted");
}

#[test]
fn siblings_that_are_clients_go_first() {
    once! {
        A: Template = template("A").offers(*TELL, &[|_| End]).requires(*TELL)
            .finally(&[|c| unsafe { c.write("a") }]).done();
        B: Template = template("B").offers(*TELL, &[|_| End]).requires(*TELL)
            .finally(&[|c| unsafe { c.write("b") }]).done();
        D: Template = template("D").offers(*TELL, &[|_| End]).requires(*TELL)
            .finally(&[|c| unsafe { c.write("d") }]).done();
        // b is a client of a, d of b; and two that stand in a circle.
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).holds(3).holds(4).main(&[
            |c| unsafe { c.create(c.container(0), *A) },
            |c| unsafe { c.create(c.container(1), *B) },
            |c| unsafe { c.create(c.container(2), *D) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(1), 0) },
            |c| unsafe { c.create(c.container(3), *A) },
            |c| unsafe { c.create(c.container(4), *B) },
            |c| unsafe { c.connect(*c.container(3), 0, *c.container(4), 0) },
            |c| unsafe { c.connect(*c.container(4), 0, *c.container(3), 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "dbaab");
}

#[test]
fn very_many_elements_are_deleted_in_order_and_all_their_memory_is_given_back() {
    once! {
        LAST: Template = template("Last").finally(&[|c| unsafe { c.write("!") }]).done();
        MAIN: Template = template("Main").virtual_time().collects(0, Kind::Component).main(&[
            |c| unsafe {
                let owned = &(*template_of(c.me())).owned.get()[0];
                for key in 0..MANY {
                    let cell = ds_insert(c.w, c.p, c.v(0).cast(), owned.collection.cast_mut(), &key, 1);
                    let template = if key + 1 == MANY { *LAST } else { *PLAIN };
                    assert!(c.create(cell.cast(), template) == Go);
                }
                Go
            },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "!");
}

#[test]
fn a_whole_collection_is_deleted_at_once() {
    once! {
        MAIN: Template = template("Main").virtual_time().collects(0, Kind::Component).main(&[
            |c| unsafe {
                let owned = &(*template_of(c.me())).owned.get()[0];
                for key in 0..10u64 {
                    let cell = ds_insert(c.w, c.p, c.v(0).cast(), owned.collection.cast_mut(), &key, 1);
                    assert!(c.create(cell.cast(), *SLOW) == Go);
                }
                Go
            },
            |c| unsafe {
                let owned = &(*template_of(c.me())).owned.get()[0];
                match ds_delete_collection(c.w, c.p, c.v(0).cast(), &*owned.collection, 1) {
                    Status::Done => Go,
                    Status::Leave => Leave,
                }
            },
            |c| unsafe { assert_eq!(*c.v(0), 0); c.write("all") },
        ]).done();
        SLOW: Template = template("Slow").main(&[|c| unsafe { c.pause() }, |c| unsafe { c.write(".") }]).done();
    }
    assert_eq!(output_of(*MAIN), "..........all");
}

#[test]
fn very_deep_nesting_costs_no_stack() {
    once! {
        NEST: Template = template("Nest").holds(0).main(&[
            |c| unsafe {
                // The first variable behind the container says how much deeper it goes.
                if *c.v(1) == 0 { End } else { c.create(c.container(0), *NEST) }
            },
            |c| unsafe {
                let child = C { w: c.w, p: *drystone_main(*c.container(0)) };
                *child.v(1) = *c.v(1) - 1;
                Go
            },
        ]).finally(&[|c| unsafe { if *c.v(1) == 0 { c.write("deepest") } else { Go } }]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *NEST) },
            |c| unsafe {
                let child = C { w: c.w, p: *drystone_main(*c.container(0)) };
                *child.v(1) = MANY;
                Go
            },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "deepest");
}

#[test]
fn a_deep_nest_is_deleted_with_no_more_memory_than_it_takes() {
    once! {
        // Before and behind what leads on there is something else.
        NEST: Template = template("Nest").holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *PLAIN) },
            |c| unsafe { if *c.v(3) == 0 { End } else { c.create(c.container(1), *NEST) } },
            |c| unsafe {
                let child = C { w: c.w, p: *drystone_main(*c.container(1)) };
                *child.v(3) = *c.v(3) - 1;
                Go
            },
            |c| unsafe { c.create(c.container(2), *PLAIN) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *NEST) },
            |c| unsafe {
                let child = C { w: c.w, p: *drystone_main(*c.container(0)) };
                *child.v(3) = MANY;
                Go
            },
            |c| unsafe { c.pause() },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.errors.as_str(), ran.outcome.live_bytes), ("", 0));
    // What stands in the components, and a part of what all workers keep at hand.
    let nest = (NEST.size + 2 * PLAIN.size) as usize;
    let most = MANY as usize * nest + (256 << 10);
    assert!(ran.outcome.peak_bytes < most, "{} for {MANY} of {nest}", ran.outcome.peak_bytes);
}

#[test]
fn what_is_deleted_in_a_deep_nest_may_be_ended_by_force() {
    once! {
        FAILS: Template = template("Fails").main(&[
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.fail(Fault::AssertionFailed, 42) },
        ]).done();
        ISOLATED: Template = template("Isolated").isolated().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *FAILS) },
        ]).done();
        INNER: Template = template("Inner").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *ISOLATED) },
            |c| unsafe { c.create(c.container(1), *AFTER) },
        ]).done();
        AFTER: Template = template("After").finally(&[|c| unsafe { c.write("after ") }]).done();
        OUTER: Template = template("Outer").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *INNER) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *OUTER) },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write("deleted") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.errors.lines().count()), ("after deleted", 1));
    assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
}

/// Where an instance keeps its main process.
unsafe fn drystone_main(instance: *mut Instance) -> *mut *mut Process {
    unsafe { instance.cast::<u8>().add((*template_of(instance)).main_process as usize).cast() }
}

#[test]
fn a_client_that_is_deleted_in_the_middle_of_its_protocol_is_an_error() {
    once! {
        // `IN Say IN Say`
        TWICE: Interface = interface(
            "Twice", &[("Say", Side::Client, &[])], &[(false, &[(0, 1)]), (false, &[(0, 2)]), (true, &[])]);
        SERVER: Template = template("Server").offers(*TWICE, &[
            |c| unsafe { c.receive(c.client(), *TWICE, 0, &[]) },
            |c| unsafe { c.receive(c.client(), *TWICE, 0, &[]) },
        ]).done();
        CLIENT: Template = template("Client").requires(*TWICE)
            .main(&[|c| unsafe { c.send(c.reach(0), *TWICE, 0, &[]) }]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.delete(c.container(1)) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(
        ran.errors,
        "error: protocol violation at test.dry:90:1 in Main.b, interface Twice\n  it can't end here: the \
         protocol expects IN Say\n"
    );
}

#[test]
fn a_component_in_a_message_that_nobody_reads_is_deleted() {
    once! {
        // `{ OUT Give(x) }`
        GIVE: Interface = interface("Give", &[("Give", Side::Server, &[Type::Component])], &[(true, &[(0, 0)])]);
        SERVER: Template = template("Server").holds(0).offers(*GIVE, &[
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.create(c.container(0), *GIFT) },
            |c| unsafe {
                *c.v(1) = ds_depart(c.w, c.p, c.container(0), 1).expose_provenance() as u64;
                Go
            },
            // It may be repeated.
            |c| unsafe { c.send(c.client(), *GIVE, 0, &[*c.v(1)]) },
        ]).done();
        GIFT: Template = template("Gift").main(&[|c| unsafe { c.passivate(2) }])
            .finally(&[|c| unsafe { c.write("gift") }]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            // The first use starts the service; then the communication is closed.
            |c| unsafe { if c.reach_held(*c.container(0), 0).is_null() { Leave } else { Go } },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write("server ") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "server gift");
}
