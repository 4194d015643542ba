//! Monitors: who gets the lock, and when conditions are tested.

mod common;

use common::*;
use drystone_component::{Interface, Side, Template};
use drystone_runtime::layout::{Process, Worker};

once! {
    // `{ IN Go }`
    GO: Interface = interface("Go", &[("Go", Side::Client, &[])], &[(true, &[(0, 0)])]);
}

/// Starts a service by sending to a held component; `r` keeps the place in a list of services.
macro_rules! go {
    ($interface:literal) => {
        |c| unsafe { c.send(c.reach_held(*c.container(0), $interface), *GO, 0, &[]) }
    };
}

unsafe extern "C" fn is_set(w: *mut Worker, p: *mut Process) -> u32 {
    unsafe { (*C { w, p }.v(1) != 0) as u32 }
}

unsafe extern "C" fn is_two(w: *mut Worker, p: *mut Process) -> u32 {
    unsafe { (*C { w, p }.v(1) == 2) as u32 }
}

#[test]
fn the_lock_is_exclusive() {
    once! {
        COUNTER: Template = template("Counter")
            .offers(*GO, &[
                |c| unsafe { c.lock(true) },
                |c| unsafe { *c.r(0) = *c.v(0); Go },
                |c| unsafe { c.pause() },
                |c| unsafe { *c.v(0) = *c.r(0) + 1; Go },
                |c| unsafe { c.unlock() },
                |c| unsafe { c.repeat(1, 10, 0) },
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |_| End,
            ])
            .finally(&[|c| unsafe { c.number(*c.v(0)) }])
            .done();
        CLIENT: Template = template("Client").requires(*GO)
            .main(&[|c| unsafe { c.send(c.reach(0), *GO, 0, &[]) }]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).holds(3).main(&[
            |c| unsafe { c.new(c.container(0), *COUNTER) },
            |c| unsafe { c.new(c.container(1), *CLIENT) },
            |c| unsafe { c.new(c.container(2), *CLIENT) },
            |c| unsafe { c.new(c.container(3), *CLIENT) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(0), 0) },
            |c| unsafe { c.connect(*c.container(3), 0, *c.container(0), 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "30");
}

/// A component whose services of three interfaces await, change and read; each says what it does.
#[test]
fn awaiting_enter_before_newcomers_and_shared_ones_together() {
    once! {
        ROOM: Template = template("Room")
            // Awaits v1 = 2, shared.
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(false) },
                |c| unsafe { c.await_(is_two) },
                |c| unsafe { c.write("a") },
                |c| unsafe { c.pause() },
                |c| unsafe { c.write("A") },
                |c| unsafe { c.unlock() },
            ])
            // Awaits v1 = 2, shared, too.
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(false) },
                |c| unsafe { c.await_(is_two) },
                |c| unsafe { c.write("b") },
                |c| unsafe { c.pause() },
                |c| unsafe { c.write("B") },
                |c| unsafe { c.unlock() },
            ])
            // Awaits v1 # 0, exclusive.
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.await_(is_set) },
                |c| unsafe { c.write("c") },
                |c| unsafe { c.pause() },
                |c| unsafe { c.write("C") },
                |c| unsafe { c.unlock() },
            ])
            // Waits to enter, exclusive.
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.write("d") },
                |c| unsafe { c.unlock() },
            ])
            // Sets v1 := 2 and keeps the lock while others come.
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.passivate(5) },
                |c| unsafe { *c.v(1) = 2; Go },
                |c| unsafe { c.write("x") },
                |c| unsafe { c.unlock() },
            ])
            .done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.new(c.container(0), *ROOM) },
            go!(0),
            go!(1),
            go!(2),
            |c| unsafe { c.passivate(2) },
            go!(4),
            |c| unsafe { c.passivate(2) },
            go!(3),
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    // a and b share, then c that awaited alone, then d.
    assert_eq!(output_of(*MAIN), "xabABcCd");
}

#[test]
fn a_newcomer_that_shares_queues_behind_one_that_wants_the_lock_alone() {
    once! {
        ROOM: Template = template("Room")
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(false) },
                |c| unsafe { c.write("r") },
                |c| unsafe { c.passivate(6) },
                |c| unsafe { c.unlock() },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.write("w") },
                |c| unsafe { c.unlock() },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(false) },
                |c| unsafe { c.write("s") },
                |c| unsafe { c.unlock() },
            ])
            .done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.new(c.container(0), *ROOM) },
            go!(0),
            |c| unsafe { c.passivate(1) },
            go!(1),
            |c| unsafe { c.passivate(1) },
            go!(2),
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "rws");
}
