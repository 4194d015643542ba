//! Connections: waiting for them, undoing them, many of them; components that move.

use crate::common::*;
use drystone_component::{Interface, Kind, Side, Template, Type};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;
use drystone_runtime::template_of;

const SAY: u32 = 0;
const HEARD: u32 = 1;
const ANY: i32 = -1;
const FINISH: i32 = -2;

once! {
    // `{ IN Say(x) OUT Heard(x) }`
    ECHO: Interface = interface(
        "Echo",
        &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
        &[(true, &[(0, 1)]), (false, &[(1, 0)])],
    );
    // Answers with the number of clients that have closed.
    SERVER: Template = template("Server").offers(*ECHO, &[
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
        |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
        |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[*c.v(0)]) },
        |_| To(0),
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, FINISH, 99) },
        |c| unsafe { *c.v(0) += 1; Go },
    ]).done();
    // Asks each time its connection has changed, that is every millisecond.
    CLIENT: Template = template("Client").requires(*ECHO).main(&[
        |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
        |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[1]) },
        |c| unsafe { c.number(*c.r(1)) },
        |c| unsafe { c.passivate(10) },
        |c| unsafe { c.repeat(0, 3, 0) },
    ]).done();
}

#[test]
fn disconnecting_closes_and_connecting_again_begins_anew() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.disconnect(*c.container(1), 0) },
            |c| unsafe { c.passivate(10) },
            |c| unsafe { c.write(" ") },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(7) },
            // Connecting anew disconnects first.
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "0 12");
}

#[test]
fn a_client_of_a_deleted_server_waits_for_another() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.disconnect(*c.container(1), 0) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.passivate(50) },
            |c| unsafe { c.write(" ") },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "0 00");
}

#[test]
fn what_a_deleted_server_sent_last_can_still_be_read() {
    once! {
        // `IN Say(x) OUT Heard(x)`
        ONCE: Interface = interface(
            "Once",
            &[("Say", Side::Client, &[Type::Integer]), ("Heard", Side::Server, &[Type::Integer])],
            &[(false, &[(0, 1)]), (false, &[(1, 2)]), (true, &[])],
        );
        ANSWER: Template = template("Answer").offers(*ONCE, &[
            |c| unsafe { c.receive(c.client(), *ONCE, SAY, &[0]) },
            |c| unsafe { c.send(c.client(), *ONCE, HEARD, &[7]) },
        ]).done();
        ASKER: Template = template("Asker").requires(*ONCE).main(&[
            |c| unsafe { c.send(c.reach(0), *ONCE, SAY, &[0]) },
            |c| unsafe { c.passivate(10) },
            |c| unsafe { c.receive(c.reach(0), *ONCE, HEARD, &[1]) },
            |c| unsafe { c.number(*c.r(1)) },
            // The next communication needs another server.
            |c| unsafe { c.repeat(0, 2, 0) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *ANSWER) },
            |c| unsafe { c.create(c.container(1), *ASKER) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.delete(c.container(0)) },
            |c| unsafe { c.write("deleted ") },
            |c| unsafe { c.create(c.container(0), *ANSWER) },
            |c| unsafe { c.passivate(50) },
            |c| unsafe { c.write(" ") },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "deleted 7 7");
}

#[test]
fn one_client_too_many_waits() {
    once! {
        NARROW: Template = template("Narrow").offers_to(1, *ECHO, &[
            |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 4) },
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[1]) },
            |_| To(0),
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).holds(3).main(&[
            |c| unsafe { c.create(c.container(0), *NARROW) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.create(c.container(2), *CLIENT) },
            |c| unsafe { c.create(c.container(3), *HELPER) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            // Another process of this component lets the first go.
            |c| unsafe { c.send(c.reach_held(*c.container(3), 0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(0), 0) },
            |c| unsafe { c.write("connected ") },
            |c| unsafe { c.receive(c.reach_held(*c.container(3), 0), *ECHO, HEARD, &[0]) },
        ]).done();
        HELPER: Template = template("Helper").offers(*ECHO, &[
            |c| unsafe { c.receive(c.client(), *ECHO, SAY, &[0]) },
            |c| unsafe { c.passivate(35) },
            |c| unsafe {
                // What the holder would do by a service of its own.
                let main = C { w: c.w, p: c.p }.holder();
                c.disconnect(*main.container_of(1), 0)
            },
            |c| unsafe { c.send(c.client(), *ECHO, HEARD, &[0]) },
        ]).done();
    }
    trait Holder {
        unsafe fn holder(self) -> Of;
    }
    struct Of(*mut Instance);
    impl Of {
        unsafe fn container_of(&self, index: usize) -> *mut *mut Instance {
            unsafe {
                let size = (*template_of(self.0)).size as usize;
                self.0.cast::<u8>().add(size - 8 * VARIABLES + 8 * index).cast()
            }
        }
    }
    impl Holder for C {
        unsafe fn holder(self) -> Of {
            unsafe { Of(std::ptr::with_exposed_provenance_mut((*self.me()).holder)) }
        }
    }
    assert_eq!(output_of(*MAIN), "111connected 111");
}

#[test]
fn a_required_interface_with_a_cardinality_has_as_many_slots_as_needed() {
    once! {
        MANY: Template = template("Many").requires_many(*ECHO).main(&[
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.number(ds_count(c.w, c.me(), 0) as u64) },
            |c| unsafe { c.send(c.nth(7), *ECHO, SAY, &[0]) },
            |c| unsafe { c.receive(c.nth(7), *ECHO, HEARD, &[0]) },
            |c| unsafe { c.write(" answered") },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *MANY) },
            |c| unsafe {
                for k in [7, 1, 100] {
                    let slot = ds_find_required(c.w, c.p, *c.container(1), *ECHO, k, 1);
                    let target = c.offered(*c.container(0), 0).expose_provenance();
                    assert!(ds_connect(c.w, c.p, slot, target, 1) == Status::Done);
                }
                Go
            },
        ]).done();
    }
    trait Nth {
        unsafe fn nth(self, k: i64) -> *mut Communication;
    }
    impl Nth for C {
        unsafe fn nth(self, k: i64) -> *mut Communication {
            unsafe {
                let slot = ds_find_required(self.w, self.p, self.me(), *ECHO, k, 1);
                ds_reach(self.w, self.p, slot, *ECHO, 1)
            }
        }
    }
    assert_eq!(output_of(*MAIN), "3 answered");
}

#[test]
fn input_does_not_wait() {
    once! {
        ASKER: Template = template("Asker").requires(*ECHO).main(&[
            |c| unsafe { c.input(0, *ECHO, ANY, 2) },
            |c| unsafe { c.write("wrong") },
            |c| unsafe { c.send(c.reach(0), *ECHO, SAY, &[0]) },
            |c| unsafe { c.input(0, *ECHO, HEARD as i32, 5) },
            |_| To(7),
            |c| unsafe { c.write("not yet ") },
            |c| unsafe { if c.pause() == Go { To(3) } else { Leave } },
            |c| unsafe { c.write("now") },
            |c| unsafe { c.receive(c.reach(0), *ECHO, HEARD, &[0]) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *SERVER) },
            |c| unsafe { c.create(c.container(1), *ASKER) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "not yet now");
}

#[test]
fn a_component_moves_in_a_message_and_works_where_it_arrives() {
    once! {
        // `IN Give(x)`
        GIVE: Interface = interface(
            "Give", &[("Give", Side::Client, &[Type::Component])], &[(false, &[(0, 1)]), (true, &[])]);
        OWNER: Template = template("Owner").offers(*GIVE, &[
            |c| unsafe { c.receive(c.client(), *GIVE, 0, &[1]) },
            |c| unsafe {
                let gift = std::ptr::with_exposed_provenance_mut(*c.r(1) as usize);
                *c.r(1) = 0;
                let holder = c.p.expose_provenance() | 1;
                assert!(ds_arrive(c.w, c.p, gift, c.r(2).cast(), holder, 1) == Status::Done);
                Go
            },
            |c| unsafe { c.send(c.reach_held(*c.r(2).cast(), 0), *ECHO, SAY, &[5]) },
            |c| unsafe { c.receive(c.reach_held(*c.r(2).cast(), 0), *ECHO, HEARD, &[3]) },
            |c| unsafe { c.number(*c.r(3)) },
        ]).register(2, Kind::Component).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *OWNER) },
            |c| unsafe { c.create(c.container(1), *SERVER) },
            |c| unsafe { c.send(c.reach_held(*c.container(1), 0), *ECHO, SAY, &[5]) },
            |c| unsafe { c.receive(c.reach_held(*c.container(1), 0), *ECHO, HEARD, &[3]) },
            |c| unsafe {
                let holder = c.me().expose_provenance();
                assert!(ds_move(c.w, c.p, c.container(1), c.container(2), holder, 1) == Status::Done);
                assert_eq!((ds_exists(*c.container(1)), ds_exists(*c.container(2))), (0, 1));
                Go
            },
            |c| unsafe {
                let to = c.reach_held(*c.container(0), 0);
                let gift = ds_depart(c.w, c.p, c.container(2), 1);
                c.send(to, *GIVE, 0, &[gift.expose_provenance() as u64])
            },
        ]).done();
    }
    // The first holder's communication has been closed.
    assert_eq!(output_of(*MAIN), "1");
}
