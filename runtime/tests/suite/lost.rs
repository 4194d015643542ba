//! Services whose clients are lost, and their FINALLY (language reference, section 5).

use crate::common::*;
use drystone_component::{Frame, Interface, Kind, Owned, Side, Str, Table, Template, Type};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;

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
    // `IN Say(x) { OUT Heard(t) }`
    STREAM: Interface = interface(
        "Stream",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Text])],
        &[(false, &[(0, 1)]), (true, &[(1, 1)])],
    );
    // `{ IN Say(x) | IN Heard(t) }`
    SAYS: Interface = interface(
        "Says",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Client, &[Type::Text])],
        &[(true, &[(0, 0), (1, 0)])],
    );
    // Answers, and says when it ends.
    ECHO_SERVER: Template = template("Server").offers(*ECHO, &[
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
        |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.r(0) + 1]) },
        |_| To(0),
        |c| unsafe { c.write("e") },
    ]).ends(&[|c| unsafe { c.write("E") }]).finally(&[|c| unsafe { c.write("F") }]).done();
    // Is lost after its first message, in its second unit of time.
    CLIENT: Template = template("Client").isolated().requires(*ECHO).main(&[
        |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[5]) },
        |c| unsafe { c.passivate(2) },
        |c| unsafe { c.fail(Fault::Overflow, 3) },
    ]).done();
}

/// A component of that template, and a client of it, which is lost; some units of time later the component is deleted.
macro_rules! lost {
    ($main:ident: $client:ident of $server:ident) => {
        once! {
            $main: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
                |c| unsafe { c.create(c.container(0), *$server) },
                |c| unsafe { c.create(c.container(1), *$client) },
                |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
                |c| unsafe { c.passivate(10) },
                |c| unsafe { c.write(" ") },
                |c| unsafe { c.delete(c.container(0)) },
            ]).done();
        }
    };
}

/// What a program writes in which a client is lost, that ends well and leaves nothing behind.
fn output_of_lost(entry: &'static Template) -> String {
    let ran = run(entry);
    assert!(ran.errors.starts_with("error: overflow at test.dry:3:1 in Main.b"), "{}", ran.errors);
    assert_eq!(ran.errors.lines().count(), 1, "{}", ran.errors);
    assert_eq!((ran.outcome.status, ran.outcome.live_processes), (0, 0));
    assert_eq!(ran.outcome.live_bytes, 0, "bytes left behind");
    ran.output
}

/// Says a text of one character.
unsafe fn say_text(c: C, interface: &'static Interface) -> Next {
    unsafe {
        let payload = ds_send(c.w, c.p, c.client(), interface, HEARD, 5);
        if payload.is_null() {
            return Leave;
        }
        let text = ds_text_from_character(c.w, c.p, 65, 5);
        payload.write(text.expose_provenance() as u64);
        ds_sent(c.w, c.client(), interface, HEARD);
        Go
    }
}

#[test]
fn a_block_with_the_lock_is_finished_and_its_sends_are_dropped() {
    once! {
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.write("a") },
            |c| unsafe { c.passivate(4) },
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, FINISH, 99) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            // Out of turn, which doesn't matter any more.
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.write("b") },
            |c| unsafe { c.unlock() },
            |c| unsafe { c.write("c") },
        ]).ends(&[|c| unsafe { c.write("E") }]).done();
    }
    lost!(MAIN: CLIENT of SERVER);
    assert_eq!(output_of_lost(*MAIN), "abcE ");
}

#[test]
fn a_send_without_the_lock_ends_the_service() {
    once! {
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.passivate(4) },
            |c| unsafe { c.write("a") },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.write("never") },
        ]).ends(&[|c| unsafe { c.number(*c.r(0)) }]).done();
        // The same where nothing is to be put in order.
        PLAIN: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.passivate(4) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.write("never") },
        ]).finally(&[|c| unsafe { c.write("F") }]).done();
    }
    lost!(MAIN: CLIENT of SERVER);
    assert_eq!(output_of_lost(*MAIN), "a5 ");
    lost!(OTHER: CLIENT of PLAIN);
    assert_eq!(output_of_lost(*OTHER), " F");
}

#[test]
fn a_receive_ends_the_service_and_gives_the_lock_up() {
    once! {
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            // Waits with the lock.
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.write("never") },
        ]).ends(&[
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.write("E") },
            |c| unsafe { c.unlock() },
        ]).main(&[
            |c| unsafe { c.begun() },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.lock(true) },
            |c| unsafe { c.write("free ") },
            |c| unsafe { c.unlock() },
        ]).done();
    }
    lost!(MAIN: CLIENT of SERVER);
    assert_eq!(output_of_lost(*MAIN), "free E ");
}

#[test]
fn tests_are_false_and_what_came_before_can_be_received() {
    once! {
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.passivate(4) },
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 99) },
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.number(*c.r(0)) },
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 6) },
            |c| unsafe { c.write("wrong") },
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, -1, 8) },
            |c| unsafe { c.write("wrong") },
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, FINISH, 99) },
            |c| unsafe { c.write("finish") },
        ]).done();
    }
    lost!(MAIN: CLIENT of SERVER);
    assert_eq!(output_of_lost(*MAIN), "5finish ");
}

#[test]
fn what_a_lost_client_has_said_and_nobody_received_is_dropped() {
    once! {
        // In the second unit of time its text is in the buffer.
        TALKER: Template = template("Client").isolated().requires(*SAYS).main(&[
            |c| unsafe {
                let text = ds_text_from_character(c.w, c.p, 65, 5);
                c.send(c.reach(0), *SAYS, HEARD, &[text.expose_provenance() as u64])
            },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.fail(Fault::Overflow, 3) },
        ]).done();
        SERVER: Template = template("Server").offers(*SAYS, &[
            |c| unsafe { c.passivate(4) },
            |c| unsafe { c.write("a") },
        ]).ends(&[|c| unsafe { c.passivate(1) }, |c| unsafe { c.write("E") }]).done();
    }
    lost!(MAIN: TALKER of SERVER);
    assert_eq!(output_of_lost(*MAIN), "aE ");
}

#[test]
fn an_endless_stream_ends_with_its_client() {
    once! {
        LISTENER: Template = template("Client").isolated().requires(*STREAM).main(&[
            |c| unsafe { c.send(c.reach(0), *STREAM, SAY, &[0]) },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.fail(Fault::Overflow, 3) },
        ]).done();
        SERVER: Template = template("Server").offers(*STREAM, &[
            |c| unsafe { c.receive(c.client(), *STREAM, SAY, &[0]) },
            |c| unsafe { say_text(c, *STREAM) },
            |_| To(1),
        ]).ends(&[|c| unsafe { c.write("E") }]).done();
    }
    lost!(MAIN: LISTENER of SERVER);
    assert_eq!(output_of_lost(*MAIN), "E ");
}

#[test]
fn what_its_procedures_hold_is_deleted_in_order_before_finally() {
    const fn owned(offset: u32, name: &'static str) -> Owned {
        Owned { offset, kind: Kind::Component, collection: std::ptr::null(), name: Str::new(name) }
    }
    static OWNED: [Owned; 2] = [owned(32, "server"), owned(40, "client")];
    static FRAME: Frame = Frame { size: 48, name: Str::new("P"), owned: Table::new(&OWNED) };
    once! {
        USER: Template = template("User").requires(*ECHO).main(&[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[1]) },
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[0]) },
        ]).finally(&[|c| unsafe { c.write("U") }]).done();
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { if ds_frame_new(c.w, c.p, c.frames(), &FRAME, 8).is_null() { Leave } else { Go } },
            |c| unsafe { c.create((*c.frames()).byte_add(32).cast(), *ECHO_SERVER) },
            |c| unsafe { c.create((*c.frames()).byte_add(40).cast(), *USER) },
            |c| unsafe {
                let (server, client) = ((*c.frames()).byte_add(32), (*c.frames()).byte_add(40));
                c.connect(*client.cast::<*mut Instance>(), 0, *server.cast::<*mut Instance>(), 0)
            },
            // In the midst of what it says to one of them itself.
            |c| unsafe {
                let server = *(*c.frames()).byte_add(32).cast::<*mut Instance>();
                c.send(c.reach_held(server, 0), *ECHO, SAY, &[7])
            },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        ]).ends(&[|c| unsafe { assert!((*c.frames()).is_null()); c.write("!") }]).done();
    }
    lost!(MAIN: CLIENT of SERVER);
    // User first, as it is a client of its sibling, whose two services end with their clients.
    assert_eq!(output_of_lost(*MAIN), "UeEeEF! ");
}

#[test]
fn finally_runs_at_the_usual_end_and_its_client_begins_anew_behind_it() {
    once! {
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.r(0) + 1]) },
        ]).ends(&[
            // Nothing of it comes, while an answer lies in the buffer, and later a message waits.
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[99]) },
            |c| unsafe { c.passivate(3) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[99]) },
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 8) },
            |c| unsafe { c.write("wrong") },
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, FINISH, 99) },
            |c| unsafe { c.write("E") },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[5]) },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.number(*c.r(1)) },
            // It waits in the buffer for the end of the one before.
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[7]) },
            |c| unsafe { c.write("s") },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.number(*c.r(1)) },
            // Waits for FINALLY.
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write("d") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "6sE8Ed");
}

#[test]
fn what_is_left_unreceived_begins_the_next_communication_behind_finally() {
    once! {
        SERVER: Template = template("Server").offers(*SAYS, &[
            |c| unsafe { c.receive(c.client(), *SAYS, SAY, &[0]) },
            |c| unsafe { c.number(*c.r(0)) },
            |c| unsafe { c.passivate(2) },
        ]).ends(&[|c| unsafe { c.passivate(3) }, |c| unsafe { c.write("E") }]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *SAYS, SAY, &[5]) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *SAYS, SAY, &[6]) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *SAYS, SAY, &[7]) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "5E6E7E");
}

#[test]
fn a_receive_in_finally_is_an_error() {
    once! {
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.r(0) + 1]) },
        ]).ends(&[|c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) }]).done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[5]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(
        ran.errors,
        "error: protocol violation at test.dry:6:1 in Main.a, interface Echo\n  \
         IN Say can't be received in FINALLY: the communication is over\n"
    );
}

#[test]
fn a_lost_service_may_end_anywhere_but_others_where_the_protocol_allows_it() {
    once! {
        SERVER: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.passivate(4) },
        ]).ends(&[|c| unsafe { c.write("E") }]).done();
        EARLY: Template = template("Server").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        ]).ends(&[|c| unsafe { c.write("never") }]).done();
        WRONG: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *EARLY) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[5]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[0]) },
        ]).done();
    }
    lost!(MAIN: CLIENT of SERVER);
    assert_eq!(output_of_lost(*MAIN), "E ");
    let ran = run(*WRONG);
    assert_eq!(
        (ran.errors.as_str(), ran.output.as_str()),
        (
            "error: protocol violation at test.dry:9:1 in Main.a, interface Echo\n  \
             it can't end here: the protocol expects OUT Heard\n",
            ""
        )
    );
}

#[test]
fn who_speaks_to_a_lost_server_drops_what_had_come() {
    once! {
        // `{ IN Say(x) OUT Heard(t) }`
        ANSWERS: Interface = interface(
            "Answers",
            &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Text])],
            &[(true, &[(0, 1)]), (false, &[(1, 0)])],
        );
        SERVER: Template = template("Server").isolated().offers(*ANSWERS, &[
            |c| unsafe { c.receive(c.client(), *ANSWERS, SAY, &[0]) },
            |c| unsafe { say_text(c, *ANSWERS) },
            |c| unsafe { c.fail(Fault::Overflow, 3) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(1).main(&[
            |c| unsafe { c.create(c.container(1), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(1), 0), *ANSWERS, SAY, &[5]) },
            |c| unsafe { c.passivate(1) },
            // What it has said is there.
            |c| unsafe { c.test(c.reach_held(*c.container(1), 0), *ANSWERS, Side::Client, HEARD as i32, 99) },
            |c| unsafe { c.send(c.reach_held(*c.container(1), 0), *ANSWERS, SAY, &[6]) },
            |c| unsafe { c.test(c.reach_held(*c.container(1), 0), *ANSWERS, Side::Client, FINISH, 99) },
            |c| unsafe { c.write("finish") },
        ]).done();
    }
    assert_eq!(output_of_lost(*MAIN), "finish");
}

#[test]
fn a_component_whose_services_stop_can_be_ended_by_force_meanwhile() {
    once! {
        SLOW: Template = template("Slow").main(&[|c| unsafe { c.passivate(20) }]).done();
        SERVER: Template = template("Server").isolated().offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.create(c.r(2).cast(), *SLOW) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            // Stops here, and waits for the end of what it holds.
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        ]).register(2, Kind::Component).main(&[
            |c| unsafe { c.begun() },
            |c| unsafe { c.passivate(6) },
            |c| unsafe { c.fail(Fault::StackLimit, 1) },
        ]).done();
    }
    lost!(MAIN: CLIENT of SERVER);
    let ran = run(*MAIN);
    assert_eq!(
        ran.errors,
        "error: overflow at test.dry:3:1 in Main.b\nerror: stack limit at test.dry:1:1 in Main.a\n"
    );
    assert_eq!((ran.output.as_str(), ran.outcome.status), (" ", 0));
    assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
}
