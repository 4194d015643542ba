//! Messages between clients and services.

use std::sync::LazyLock;

use crate::common::*;
use drystone_component::{Interface, Side, Type};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;

const SAY: u32 = 0;
const HEARD: u32 = 1;

/// `{ IN Say(x) OUT Heard(x) }`
static ECHO: LazyLock<&Interface> = LazyLock::new(|| {
    interface(
        "Echo",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
        &[(true, &[(0, 1)]), (false, &[(1, 0)])],
    )
});

/// `IN Say(x) OUT Heard(x)`
static ONCE: LazyLock<&Interface> = LazyLock::new(|| {
    interface(
        "Once",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
        &[(false, &[(0, 1)]), (false, &[(1, 2)]), (true, &[])],
    )
});

/// Answers until the client closes.
const ECHO_SERVICE: &[Step] = &[
    |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
    |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
    |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.r(0) + 1]) },
    |_| To(0),
    |_| End,
];

const ROUNDS: u64 = if cfg!(miri) { 20 } else { 100_000 };

#[test]
fn a_client_and_its_service_take_turns() {
    static SERVER: LazyLock<&drystone_component::Template> =
        LazyLock::new(|| template("Server").offers(*ECHO, ECHO_SERVICE).done());
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[*c.r(1)]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.repeat(0, ROUNDS, 1) },
            |c| unsafe { c.number(*c.r(1)) },
            |c| unsafe { c.delete(c.container(0)) },
        ])
        .done();
    assert_eq!(output_of(main), ROUNDS.to_string());
}

#[test]
fn a_service_that_has_ended_starts_anew_in_the_same_block() {
    static SERVER: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let service: &[Step] = &[
            |c| unsafe { c.receive(c.client(), *ONCE, SAY, &[0]) },
            |c| unsafe { c.send(c.client(), *ONCE, HEARD, &[*c.r(0) + 1 + 1000 * *c.r(5)]) },
            |c| unsafe {
                *c.r(5) = 1;
                End
            },
        ];
        template("Server").offers(*ONCE, service).done()
    });
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ONCE, SAY, &[*c.r(1)]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ONCE, HEARD, &[1]) },
            |c| unsafe { c.repeat(0, 10, 1) },
            |c| unsafe { c.number(*c.r(1)) },
        ])
        .done();
    assert_eq!(output_of(main), "10");
}

#[test]
fn what_a_service_leaves_unreceived_begins_the_next() {
    /// `IN Say(x)`
    static TELL: LazyLock<&Interface> = LazyLock::new(|| {
        interface("Tell", &[("Say", Side::Client, &[Type::Integer])], &[(false, &[(0, 1)]), (true, &[])])
    });
    static SERVER: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let service: &[Step] = &[
            |c| unsafe { c.receive(c.client(), *TELL, SAY, &[0]) },
            |c| unsafe { c.number(*c.r(0)) },
            |c| unsafe { c.pause() },
        ];
        template("Server").offers(*TELL, service).done()
    });
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *TELL, SAY, &[*c.r(0)]) },
            |c| unsafe { c.repeat(0, 5, 1) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write(".") },
        ])
        .done();
    assert_eq!(output_of(main), "01234.");
}

/// `{ IN Note(x) | IN Name(t) } IN All OUT Got(t, x)`
static NOTES: LazyLock<&Interface> = LazyLock::new(|| {
    let messages: &[_] = &[
        ("Note", Side::Client, &[Type::Integer] as &[Type]),
        ("Name", Side::Client, &[Type::Text]),
        ("All", Side::Client, &[]),
        ("Got", Side::Server, &[Type::Text, Type::Integer]),
    ];
    let notes =
        interface("Notes", messages, &[(true, &[(0, 0), (1, 0), (2, 1)]), (false, &[(3, 2)]), (true, &[])]);
    with_room(notes, 4)
});
const NOTE: u32 = 0;
const NAME: u32 = 1;

#[test]
fn messages_behind_the_first_come_in_their_order() {
    static SERVER: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let service: &[Step] = &[
            |c| unsafe { c.receive(c.client(), *NOTES, NOTE, &[0]) },
            |c| unsafe { c.number(*c.r(0)) },
            |c| unsafe { c.repeat(1, 12, 0) },
            |_| End,
        ];
        template("Server").offers(*NOTES, service).done()
    });
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *NOTES, NOTE, &[*c.r(0)]) },
            |c| unsafe { c.repeat(0, 12, 1) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write(".") },
        ])
        .done();
    assert_eq!(output_of(main), "01234567891011.");
}

#[test]
fn messages_behind_the_first_are_dropped_with_their_communication() {
    /// Takes one message, and waits for ever.
    static SERVER: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let service: &[Step] = &[
            |c| unsafe { c.receive(c.client(), *NOTES, NOTE, &[0]) },
            |c| unsafe { c.fail(Fault::Overflow, 3) },
        ];
        template("Server").isolated().offers(*NOTES, service).done()
    });
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *NOTES, NOTE, &[1]) },
            |c| unsafe {
                let text = ds_text_from_integer(c.w, c.p, 1234567, 5).expose_provenance() as u64;
                c.send(c.reach_held(*c.container(0), 0), *NOTES, NAME, &[text])
            },
            |c| unsafe { c.repeat(0, 4, 2) },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.write(".") },
        ])
        .done();
    let ran = run(main);
    assert_eq!((ran.output.as_str(), ran.outcome.live_bytes), (".", 0));
}

#[test]
fn a_client_waits_for_its_connection() {
    static SERVER: LazyLock<&drystone_component::Template> =
        LazyLock::new(|| template("Server").offers(*ECHO, ECHO_SERVICE).done());
    static CLIENT: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let main: &[Step] = &[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[41]) },
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[0]) },
            |c| unsafe { c.number(*c.r(0)) },
        ];
        template("Client").requires(*ECHO).main(main).done()
    });
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .holds(1)
        .main(&[
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.write("connect ") },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
        ])
        .done();
    assert_eq!(output_of(main), "connect 42");
}

#[test]
fn services_answer_when_begin_has_ended() {
    static SERVER: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let main: &[Step] = &[
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.write("begun ") },
            |c| unsafe { c.begun() },
            |c| unsafe { c.passivate(5) },
        ];
        template("Server").offers(*ECHO, ECHO_SERVICE).main(main).done()
    });
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *ECHO, SAY, &[1]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
            |c| unsafe { c.write("answered") },
        ])
        .done();
    assert_eq!(output_of(main), "begun answered");
}

#[test]
fn receiving_out_of_turn_is_a_protocol_violation() {
    static SERVER: LazyLock<&drystone_component::Template> =
        LazyLock::new(|| template("Server").offers(*ECHO, ECHO_SERVICE).done());
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.receive(c.reach_held(*c.container(0), 0), *ECHO, HEARD, &[1]) },
        ])
        .done();
    let ran = run(main);
    let wanted = "error: protocol violation at test.dry:6:1 in Main, interface Echo\n  \
                  OUT Heard can't come here: the protocol expects IN Say\n";
    assert_eq!(ran.errors, wanted);
    assert_eq!(ran.outcome.status, 1);
}

#[test]
fn relays_lead_through_to_the_server() {
    static SERVER: LazyLock<&drystone_component::Template> =
        LazyLock::new(|| template("Server").offers(*ECHO, ECHO_SERVICE).done());
    static RELAY: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let main: &[Step] = &[|c| unsafe { c.pass_on(c.inward(c.me(), 0), 0) }];
        template("Relay").relays(*ECHO).requires(*ECHO).main(main).done()
    });
    static CLIENT: LazyLock<&drystone_component::Template> = LazyLock::new(|| {
        let main: &[Step] = &[
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[6]) },
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[0]) },
            |c| unsafe { c.number(*c.r(0)) },
        ];
        template("Client").requires(*ECHO).main(main).done()
    });
    let main = template("Main")
        .virtual_time()
        .holds(0)
        .holds(1)
        .holds(2)
        .main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *RELAY) },
            |c| unsafe { c.create(c.container(2), *CLIENT) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(1), 0) },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
        ])
        .done();
    assert_eq!(output_of(main), "7");
}
