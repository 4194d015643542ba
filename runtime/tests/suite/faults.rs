//! Run-time errors: messages, isolation, limits, deadlock.

use crate::common::*;
use drystone_component::{Frame, Interface, Kind, Side, Str, Table, Template, Type};
use drystone_runtime::entry_points::{ds_exists, ds_frame_end, ds_frame_new, ds_insert};
use drystone_runtime::layout::*;
use drystone_runtime::template_of;

const SAY: u32 = 0;
const HEARD: u32 = 1;
const FINISH: i32 = -2;

once! {
    // `{ IN Say(x) OUT Heard(x) }`
    ECHO: Interface = interface(
        "Echo",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
        &[(true, &[(0, 1)]), (false, &[(1, 0)])],
    );
    // Answers, but fails at 13.
    SUPERSTITIOUS: Template = template("Superstitious").isolated().offers(*ECHO, &[
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
        |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        |c| unsafe {
            if *c.r(0) == 13 {
                return c.fail(Fault::AssertionFailed, 42);
            }
            c.send(c.client(), *ECHO, HEARD, &[*c.r(0) + 1])
        },
        |_| To(0),
        |_| End,
    ]).finally(&[|c| unsafe { c.write("never") }]).done();
    ECHO_SERVER: Template = template("Server").offers(*ECHO, &[
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
        |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.r(0) + 1]) },
        |_| To(0),
        |_| End,
    ]).done();
}

#[test]
fn an_error_ends_the_program_and_names_the_component() {
    once! {
        BAD: Template = template("Bad").main(&[|c| unsafe { c.fail(Fault::DivisionByZero, 7) }]).done();
        STREET: Template = template("Street").collects(0, Kind::Component).main(&[
            |c| unsafe {
                let owned = &(*template_of(c.me())).owned.get()[0];
                let cell = ds_insert(c.w, c.p, c.v(0).cast(), owned.collection.cast_mut(), &17, 1);
                c.create(cell.cast(), *BAD)
            },
        ]).done();
        MAIN: Template = template("City").holds(2).main(&[
            |c| unsafe { c.write("written ") },
            |c| unsafe { c.create(c.container(2), *STREET) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors, "error: division by zero at test.dry:7:1 in City.c.a[17]\n");
    assert_eq!((ran.output.as_str(), ran.outcome.status), ("written ", 1));
}

#[test]
fn halt_ends_at_once() {
    once! {
        MAIN: Template = template("Main").virtual_time().main(&[
            |c| unsafe { c.write("out") },
            |c| unsafe { c.halt(7) },
            |c| unsafe { c.write("never") },
        ]).finally(&[|c| unsafe { c.write("never") }]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.errors.as_str(), ran.outcome.status), ("out", "", 7));
}

#[test]
fn an_isolated_component_ends_alone_and_its_container_can_be_filled_again() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SUPERSTITIOUS) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[13]) },
            // Its end is no message, and sends are dropped.
            |c| unsafe { c.test(c.reach_held(*c.container(0), 0), *ECHO, Side::Client, HEARD as i32, 4) },
            |c| unsafe { c.write("wrong") },
            |c| unsafe { c.test(c.reach_held(*c.container(0), 0), *ECHO, Side::Client, FINISH, 99) },
            |c| unsafe { assert_eq!(ds_exists(*c.container(0)), 0); Go },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[13]) },
            |c| unsafe { c.create(c.container(0), *ECHO_SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[5]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.number(*c.r(1)) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors, "error: assertion failed at test.dry:42:1 in Main.a, interface Echo\n");
    assert_eq!((ran.output.as_str(), ran.outcome.status, ran.outcome.live_bytes), ("6", 0, 0));
}

#[test]
fn a_receive_from_what_was_ended_is_the_receivers_error() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SUPERSTITIOUS) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[13]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(
        ran.errors,
        "error: assertion failed at test.dry:42:1 in Main.a, interface Echo\n\
         error: protocol violation at test.dry:6:1 in Main, interface Echo\n  \
         OUT Heard was to be received, but the other side has ended\n"
    );
    assert_eq!(ran.outcome.status, 1);
}

#[test]
fn a_service_whose_client_was_ended_ends_quietly_and_gives_its_lock_back() {
    once! {
        SERVER: Template = template("Server").holds(0).offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.create(c.r(1).cast(), *ECHO_SERVER) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            // Waits with the lock.
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.write("never") },
        ]).register(1, Kind::Component).main(&[
            |c| unsafe { c.begun() },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.write("free") },
            |c| unsafe { c.unlock() },
        ]).done();
        CLIENT: Template = template("Client").isolated().requires(*ECHO).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[5]) },
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.fail(Fault::Overflow, 3) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors, "error: overflow at test.dry:3:1 in Main.b\n");
    assert_eq!((ran.output.as_str(), ran.outcome.status, ran.outcome.live_bytes), ("free", 0, 0));
}

#[test]
fn all_that_an_isolated_component_holds_ends_with_it() {
    once! {
        // Sleeps for ever, waits for ever, awaits for ever; a tree of everything that can be waiting.
        SLEEPER: Template = template("Sleeper").main(&[|c| unsafe { c.passivate(1 << 40) }]).done();
        LONELY: Template = template("Lonely").requires(*ECHO)
            .main(&[|c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) }]).done();
        LISTENER: Template = template("Listener").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[0]) },
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        ]).done();
        ROOM: Template = template("Room").isolated().holds(0).holds(1).holds(2).holds(3).main(&[
            |c| unsafe { c.create(c.container(0), *SLEEPER) },
            |c| unsafe { c.create(c.container(1), *LONELY) },
            |c| unsafe { c.create(c.container(2), *LISTENER) },
            |c| unsafe { c.create(c.container(3), *LISTENER) },
            |c| unsafe { if c.reach_held(*c.container(2), 0).is_null() { Leave } else { Go } },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(3), 0) },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.fail(Fault::StackLimit, 1) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write("deleted") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors, "error: stack limit at test.dry:1:1 in Main.a\n");
    assert_eq!((ran.output.as_str(), ran.outcome.status), ("deleted", 0));
    assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
}

#[test]
fn a_deadlock_is_reported() {
    once! {
        LISTENER: Template = template("Listener").requires(*ECHO).main(&[
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[0]) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().isolated().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *LISTENER) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors, "error: deadlock in Main.a, which waits for a connection\n");
    assert_eq!(ran.outcome.status, 1);
}

#[test]
fn a_program_that_needs_too_much_memory_is_ended() {
    once! {
        MAIN: Template = template("Main").virtual_time().collects(0, Kind::Component).main(&[
            |c| unsafe {
                let owned = &(*template_of(c.me())).owned.get()[0];
                let cell = ds_insert(c.w, c.p, c.v(0).cast(), owned.collection.cast_mut(), c.r(0), 5);
                if cell.is_null() { Leave } else { c.create(cell.cast(), *ECHO_SERVER) }
            },
            |c| unsafe { *c.r(0) += 1; To(0) },
        ]).done();
    }
    let ran = run_with(*MAIN, 1, 300_000);
    assert!(ran.errors.starts_with("error: out of memory at test.dry:"), "{}", ran.errors);
    assert!(ran.errors.contains("with the memory limit of 300000 bytes"), "{}", ran.errors);
    assert_eq!(ran.outcome.status, 1);
}

#[test]
fn endless_recursion_is_ended() {
    static FRAME: Frame = Frame { size: 1 << 20, name: Str::new("Recurse"), owned: Table::new(&[]) };
    once! {
        MAIN: Template = template("Main").main(&[
            |c| unsafe { if ds_frame_new(c.w, c.p, c.frames(), &FRAME, 8).is_null() { Leave } else { To(0) } },
        ]).done();
        FINE: Template = template("Main").main(&[
            |c| unsafe {
                (0..3).for_each(|_| assert!(!ds_frame_new(c.w, c.p, c.frames(), &FRAME, 8).is_null()));
                (0..3).for_each(|_| ds_frame_end(c.w, c.p, c.frames()));
                Go
            },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors, "error: stack limit at test.dry:8:1 in Main\n");
    output_of(*FINE);
}
