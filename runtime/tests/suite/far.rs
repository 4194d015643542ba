//! Communications through a door: programs have the same results as where client and server are neighbours.

use crate::common::*;
use drystone_component::{Interface, Side, Template, Type};
use drystone_runtime::entry_points::*;
use drystone_runtime::far::{Arrival, Domain, Exported, Far, Filling, Outgoing, Reach, State, Waker, door};
use drystone_runtime::layout::*;
use drystone_runtime::near::{listen, proxy, proxy_of};
use drystone_runtime::template_of;

const SAY: u32 = 0;
const HEARD: u32 = 1;
const FINISH: i32 = -2;

/// `CONNECT` through a door. That the server has clients so isn't known at the end of who holds both: they are deleted
/// in the right order by hand.
unsafe fn connect(c: C, client: *mut Instance, server: *mut Instance) -> Next {
    unsafe {
        let interface = &*(*template_of(client)).required.get()[0].interface;
        let (entrance, door) = door(2);
        let behind = listen(c.at_home(), interface, Box::new(door), "door").expect("there is memory");
        let target = c.offered(server, 0).expose_provenance();
        assert!(ds_connect(c.w, c.p, behind, target, 3) == Status::Done);
        let target = proxy(c.at_home(), interface, Box::new(entrance), "door").expect("there is memory");
        status(ds_connect(c.w, c.p, c.required(client, 0), target, 3))
    }
}

/// `CONNECT` through two doors, one behind the other.
unsafe fn connect_far(c: C, client: *mut Instance, server: *mut Instance) -> Next {
    unsafe {
        let interface = &*(*template_of(client)).required.get()[0].interface;
        let mut target = c.offered(server, 0).expose_provenance();
        for name in ["inner door", "outer door"] {
            let (entrance, door) = door(2);
            let behind = listen(c.at_home(), interface, Box::new(door), name).expect("there is memory");
            assert!(ds_connect(c.w, c.p, behind, target, 3) == Status::Done);
            target = proxy(c.at_home(), interface, Box::new(entrance), name).expect("there is memory");
        }
        status(ds_connect(c.w, c.p, c.required(client, 0), target, 3))
    }
}

once! {
    // `{ IN Say(x) OUT Heard(x) }`
    ECHO: Interface = interface(
        "Echo",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
        &[(true, &[(0, 1)]), (false, &[(1, 0)])],
    );
    // `{ IN Say(x) }`
    STREAM: Interface = interface("Stream", &[("Say", Side::Client, &[Type::Integer])], &[(true, &[(0, 0)])]);
    // Answers with the number of clients that have closed.
    SERVER: Template = template("Server").offers(*ECHO, &[
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
        |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.v(0)]) },
        |_| To(0),
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, FINISH, 99) },
        |c| unsafe { *c.v(0) += 1; Go },
    ]).done();
    // Asks every ten milliseconds.
    CLIENT: Template = template("Client").requires(*ECHO).main(&[
        |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
        |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[1]) },
        |c| unsafe { c.number(*c.r(1)) },
        |c| unsafe { c.passivate(10) },
        |c| unsafe { c.repeat(0, 3, 0) },
    ]).done();
    // Adds up what comes, and writes the sum when its client has closed.
    SUM: Template = template("Sum").offers(*STREAM, &[
        |c| unsafe { c.test(c.client(), *STREAM, Side::Server, SAY as i32, 4) },
        |c| unsafe { c.receive(c.client(), *STREAM, SAY, &[0]) },
        |c| unsafe { *c.v(0) += *c.r(0); Go },
        |_| To(0),
        |c| unsafe { c.number(*c.v(0)) },
    ]).done();
    SENDER: Template = template("Sender").requires(*STREAM).main(&[
        |c| unsafe { c.send(c.reach(0), *STREAM, SAY, &[3]) },
        |c| unsafe { c.repeat(0, 100, 0) },
    ]).done();
}

#[test]
fn connections_can_be_undone_and_made_again() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.disconnect(*c.container(1), 0) },
            |c| unsafe { c.passivate(10) },
            |c| unsafe { c.write(" ") },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.passivate(7) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.delete(c.container(1)) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "0 12");
}

#[test]
fn what_is_elsewhere_can_be_exported_again() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { connect_far(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.delete(c.container(1)) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "000");
}

#[test]
fn a_stream_arrives_whole_and_ends() {
    once! {
        MAIN: Template = template("Main").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SUM) },
            |c| unsafe { c.create(c.container(1), *SENDER) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.delete(c.container(1)) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "300");
}

#[test]
fn a_client_that_is_ended_by_force_closes_where_it_may() {
    once! {
        // Fails when its request has been answered.
        FAILING: Template = template("Failing").isolated().requires(*ECHO).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.fail(Fault::AssertionFailed, 1) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *FAILING) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.create(c.container(2), *CLIENT) },
            |c| unsafe { connect(c, *c.container(2), *c.container(0)) },
            |c| unsafe { c.delete(c.container(2)) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.outcome.status, ran.outcome.live_bytes), ("111", 0, 0));
    assert!(ran.errors.contains("assertion failed"), "{}", ran.errors);
    assert_eq!(ran.errors.matches("error").count(), 1, "{}", ran.errors);
}

#[test]
fn a_client_that_is_ended_by_force_in_the_middle_ends_its_service_quietly() {
    once! {
        // `IN Say(x) IN Say(x)`
        TWICE: Interface = interface(
            "Twice",
            &[("Say", Side::Client, &[Type::Integer])],
            &[(false, &[(0, 1)]), (false, &[(0, 2)]), (true, &[])],
        );
        LISTENING: Template = template("Listening").offers(*TWICE, &[
            |c| unsafe { c.receive(c.client(), *TWICE, SAY, &[0]) },
            |c| unsafe { c.write("one ") },
            |c| unsafe { c.receive(c.client(), *TWICE, SAY, &[0]) },
            |c| unsafe { c.write("two ") },
        ]).done();
        FAILING: Template = template("Failing").isolated().requires(*TWICE).main(&[
            |c| unsafe { c.send(c.reach(0), *TWICE, SAY, &[0]) },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.fail(Fault::AssertionFailed, 1) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *LISTENING) },
            |c| unsafe { c.create(c.container(1), *FAILING) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write("deleted") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.outcome.status, ran.outcome.live_bytes), ("one deleted", 0, 0));
    assert_eq!(ran.errors.matches("error").count(), 1, "{}", ran.errors);
}

#[test]
fn a_server_that_is_ended_by_force_closes_the_communication_and_nothing_else() {
    once! {
        FAILING: Template = template("Failing").isolated().offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.fail(Fault::AssertionFailed, 1) },
        ]).done();
        // Sends twice, and finds it closed both times; what it sends is dropped.
        ASKING: Template = template("Asking").requires(*ECHO).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.test(c.reach(0), *ECHO, Side::Client, FINISH, 99) },
            |c| unsafe { c.write("closed ") },
            |c| unsafe { c.repeat(0, 2, 0) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *FAILING) },
            |c| unsafe { c.create(c.container(1), *ASKING) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.passivate(5) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.outcome.status, ran.outcome.live_bytes), ("closed closed ", 0, 0));
    assert_eq!(ran.errors.matches("error").count(), 1, "{}", ran.errors);
}

#[test]
fn a_server_that_is_deleted_takes_its_name_with_it() {
    once! {
        WAITING: Template = template("Waiting").requires(*ECHO).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.number(*c.r(1)) },
            |c| unsafe { c.passivate(10) },
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.test(c.reach(0), *ECHO, Side::Client, FINISH, 99) },
            |c| unsafe { c.write(" gone") },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *WAITING) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.disconnect(*c.container(1), 0) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "0 gone");
}

/// Someone connects through two doors, asks and lets go, so many times.
fn visits<const N: u64>() -> &'static Template {
    once! {
        VISITOR: Template = template("Visitor").requires(*ECHO).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[1]) },
        ]).done();
    }
    template("Main")
        .holds(0)
        .holds(1)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *VISITOR) },
            |c| unsafe { connect_far(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.delete(c.container(1)) },
            |c| unsafe { c.repeat(0, N, 1) },
        ])
        .done()
}

#[test]
fn doors_that_nobody_can_enter_any_more_go() {
    let most = |main| {
        let ran = run(main);
        assert_eq!((ran.errors.as_str(), ran.outcome.live_bytes, ran.outcome.live_processes), ("", 0, 0));
        ran.outcome.peak_bytes
    };
    let (few, many) = (most(visits::<100>()), most(visits::<10_000>()));
    assert!(many < few + 4096, "{few} bytes for a hundred visits, {many} for ten thousand");
}

/// Someone connects through a door, asks and fails, so many times.
fn failures<const N: u64>() -> &'static Template {
    once! {
        FAILING: Template = template("Failing").isolated().requires(*ECHO).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.fail(Fault::AssertionFailed, 1) },
        ]).done();
    }
    template("Main")
        .virtual_time()
        .holds(0)
        .holds(1)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *FAILING) },
            |c| unsafe { connect(c, *c.container(1), *c.container(0)) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.repeat(0, N, 1) },
        ])
        .done()
}

#[test]
fn doors_go_with_clients_that_fail() {
    let most = |main, errors| {
        let ran = run(main);
        assert_eq!((ran.outcome.live_bytes, ran.outcome.live_processes), (0, 0));
        assert_eq!(ran.errors.matches("error").count(), errors);
        ran.outcome.peak_bytes
    };
    let (few, many) = (most(failures::<10>(), 10), most(failures::<1000>(), 1000));
    assert!(many < few + 4096, "{few} bytes for ten failures, {many} for a thousand");
}

/// A component elsewhere, each of whose interfaces is lost for a reason of its own.
struct Elsewhere;

impl Domain for Elsewhere {
    fn attach(&mut self, _: Waker) {}

    fn offered(&mut self, index: usize) -> Box<dyn Reach> {
        Box::new(Losing(["the first line broke", "the second line broke"][index]))
    }

    fn required(&mut self, _: usize) -> Box<dyn Exported> {
        unreachable!("it requires nothing")
    }

    fn state(&mut self) -> State {
        State::Gone
    }

    fn delete(&mut self) {}

    fn ended(&self) -> Option<String> {
        None
    }
}

#[derive(Clone)]
struct Losing(&'static str);

impl Reach for Losing {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(self.clone())
    }
}

impl Far for Losing {
    fn attach(&mut self, _: Waker) {}

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, _: usize, _: Outgoing<'_>) {}

    fn receive(&mut self) -> Arrival {
        Arrival::Lost(self.0.into())
    }

    fn take(&mut self, _: &mut Filling<'_>) -> Result<(), String> {
        unreachable!("nothing comes")
    }

    fn close(&mut self) {}
}

#[test]
fn the_reason_is_that_of_the_interface_that_was_lost() {
    once! {
        OTHER: Interface = interface(
            "Other",
            &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
            &[(true, &[(0, 1)]), (false, &[(1, 0)])],
        );
        APART: Template = template("Apart").relays(*ECHO).relays(*OTHER).done();
        // Bears the loss of one, but not of the other.
        ASKING: Template = template("Asking").requires(*ECHO).requires(*OTHER).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.test(c.reach(0), *ECHO, Side::Client, FINISH, 99) },
            |c| unsafe { c.write("lost") },
            |c| unsafe { c.send(c.reach(1), *OTHER, SAY, &[0]) },
            |c| unsafe { c.receive(c.reach(1), *OTHER, HEARD, &[1]) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe {
                let holder = c.me().expose_provenance();
                let made = proxy_of(c.w, *APART, holder, Box::new(Elsewhere), "elsewhere");
                *c.container(0) = made.expect("there is memory");
                Go
            },
            |c| unsafe { c.create(c.container(1), *ASKING) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.connect(*c.container(1), 1, *c.container(0), 1) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.outcome.status), ("lost", 1), "{}", ran.errors);
    assert!(ran.errors.contains(" (elsewhere: the second line broke)\n"), "{}", ran.errors);
}
