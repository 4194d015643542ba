//! Names that a program gives to its own interfaces: connecting by name at once and later, and what happens to names
//! and connections when a component ends.

use crate::common::*;
use drystone_component::{Interface, Side, Template, Type};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;
use drystone_runtime::template_of;

const SAY: u32 = 0;
const HEARD: u32 = 1;

once! {
    // `{ IN Say(x) OUT Heard(x) }`
    ECHO: Interface = interface(
        "Echo",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
        &[(true, &[(0, 1)]), (false, &[(1, 0)])],
    );
    OTHER: Interface = interface("Odd", &[("Say", Side::Client, &[Type::Real])], &[(true, &[(0, 0)])]);
    SERVER: Template = template("Server").offers(*ECHO, SERVICE).done();
    NARROW: Template = template("Narrow").offers_to(1, *ECHO, SERVICE).done();
    // Asks once, and writes the answer.
    CLIENT: Template = template("Client").requires(*ECHO).main(&[
        |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[5]) },
        |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[1]) },
        |c| unsafe { c.number(*c.r(1)) },
    ]).done();
    STRANGER: Template = template("Stranger").requires(*OTHER).done();
    RELAY: Template = template("Relay").relays(*ECHO).requires(*ECHO).main(&[
        |c| unsafe { c.pass_on(c.inward(c.me(), 0), 0) },
    ]).done();
}

static SERVICE: &[Step] = &[
    |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
    |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
    |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.r(0)]) },
    |_| To(0),
];

/// A text in read-only data.
fn text(of: &str) -> *const TextHead {
    let mut words = vec![-1i64 as u64, of.len() as u64];
    words.extend(of.as_bytes().chunks(8).map(|chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    }));
    if of.is_empty() { std::ptr::null() } else { words.leak().as_ptr().cast() }
}

/// `CONNECT(I(client), name)`
unsafe fn bind(c: C, client: *mut Instance, name: &str) -> Next {
    unsafe {
        let interface = &*(*template_of(client)).required.get()[0].interface;
        status(ds_bind(c.w, c.p, c.required(client, 0), interface, text(name), text(""), 7))
    }
}

/// `EXPORT(I(server), name)`
unsafe fn export(c: C, server: *mut Instance, name: &str) -> Next {
    unsafe {
        let target = c.offered(server, 0).expose_provenance();
        let interface = &*(*template_of(server)).offered.get()[0].interface;
        status(ds_export(c.w, c.p, target, interface, text(name), text(""), 8))
    }
}

#[test]
fn clients_before_and_after_the_export_are_connected() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { bind(c, *c.container(1), "local:echo") },
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.write("exports ") },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
            |c| unsafe { c.create(c.container(2), *CLIENT) },
            |c| unsafe { bind(c, *c.container(2), "local:echo") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "exports 55");
}

#[test]
fn a_name_goes_with_its_component_and_can_be_given_again() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:a") },
            |c| unsafe { export(c, *c.container(0), "local:b") },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { bind(c, *c.container(1), "local:a") },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.write("again ") },
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:a") },
            |c| unsafe { export(c, *c.container(0), "local:b") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "again 5");
}

#[test]
fn who_waits_and_goes_is_forgotten() {
    once! {
        IDLE: Template = template("Idle").requires(*ECHO).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(1), *IDLE) },
            |c| unsafe { bind(c, *c.container(1), "local:echo") },
            |c| unsafe { c.delete(c.container(1)) },
            |c| unsafe { c.create(c.container(1), *IDLE) },
            |c| unsafe { bind(c, *c.container(1), "local:echo") },
            |c| unsafe { c.disconnect(*c.container(1), 0) },
            |c| unsafe { bind(c, *c.container(1), "local:other") },
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
            |c| unsafe {
                assert_eq!((*c.required(*c.container(1), 0)).target, 0);
                Go
            },
            |c| unsafe { export(c, *c.container(0), "local:other") },
            |c| unsafe {
                assert_ne!((*c.required(*c.container(1), 0)).target, 0);
                Go
            },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "");
}

#[test]
fn who_finds_no_place_comes_when_one_is_free() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).holds(3).main(&[
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { bind(c, *c.container(1), "local:echo") },
            |c| unsafe { c.create(c.container(2), *CLIENT) },
            |c| unsafe { bind(c, *c.container(2), "local:echo") },
            |c| unsafe { c.create(c.container(0), *NARROW) },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
            |c| unsafe { c.create(c.container(3), *CLIENT) },
            |c| unsafe { bind(c, *c.container(3), "local:echo") },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.write(" first gone ") },
            |c| unsafe { c.delete(c.container(1)) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.write(" second gone ") },
            |c| unsafe { c.disconnect(*c.container(2), 0) },
            |c| unsafe { c.passivate(5) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "5 first gone 5 second gone 5");
}

#[test]
fn names_of_what_is_ended_by_force_are_free() {
    once! {
        INNER: Template = template("Inner").isolated().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { bind(c, *c.container(1), "local:none") },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.fail(Fault::AssertionFailed, 9) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(2), *INNER) },
            |c| unsafe { c.passivate(10) },
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
            |c| unsafe { export(c, *c.container(0), "local:none") },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { bind(c, *c.container(1), "local:echo") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.outcome.status, ran.outcome.live_bytes), ("5", 0, 0));
}

#[test]
fn a_deadlock_names_what_is_waited_for() {
    once! {
        MAIN: Template = template("Main").holds(1).main(&[
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { bind(c, *c.container(1), "local:nobody") },
        ]).done();
    }
    let ran = run(*MAIN);
    let said = "which waits for a connection: nothing to be had by the name local:nobody\n";
    assert!(ran.errors.starts_with("error: deadlock") && ran.errors.contains(said), "{}", ran.errors);
}

#[test]
fn what_is_refused_says_why() {
    once! {
        TWICE: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
        ]).done();
        CLIENT_DIFFERS: Template = template("Main").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
            |c| unsafe { c.create(c.container(1), *STRANGER) },
            |c| unsafe { bind(c, *c.container(1), "local:echo") },
        ]).done();
        SERVER_DIFFERS: Template = template("Main").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(1), *STRANGER) },
            |c| unsafe { bind(c, *c.container(1), "local:echo") },
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
        ]).done();
        BARE: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "echo") },
        ]).done();
        UNKNOWN: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { export(c, *c.container(0), "pigeon:echo") },
        ]).done();
        CYCLE: Template = template("Main").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *RELAY) },
            |c| unsafe { c.pause() },
            |c| unsafe { bind(c, *c.container(0), "local:echo") },
            |c| unsafe { export(c, *c.container(0), "local:echo") },
        ]).done();
    }
    let refused = "binding refused at test.dry:";
    for (main, kind, reason) in [
        (*TWICE, refused, "in Main, interface Echo\n  local:echo: the name is exported already"),
        (*CLIENT_DIFFERS, refused, "in Main, interface Odd\n  local:echo: Odd is wanted, Echo is offered"),
        (*SERVER_DIFFERS, refused, "in Main, interface Echo\n  local:echo: Odd is wanted, Echo is offered"),
        (*BARE, refused, "in Main, interface Echo\n  \"echo\" is no name"),
        (*UNKNOWN, refused, "in Main, interface Echo\n  no such naming context: pigeon:echo"),
        (*CYCLE, "connection cycle at test.dry:", "in Main"),
    ] {
        let ran = run(main);
        assert_eq!(ran.outcome.status, 1);
        assert!(ran.errors.contains(kind) && ran.errors.contains(reason), "{}", ran.errors);
    }
}
