//! Monitors: who gets the lock, and when conditions are tested.

use crate::common::*;
use drystone_component::{Collection, Interface, Kind, Side, Template};
use drystone_runtime::entry_points::{ds_find, ds_insert, ds_watch, ds_wrote};
use drystone_runtime::layout::{LOCK_NONE, Process, Worker};
use drystone_runtime::template_of;

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

/// Says that it is tested.
unsafe extern "C" fn is_set_and_says_so(w: *mut Worker, p: *mut Process) -> u32 {
    unsafe {
        C { w, p }.write("s");
        is_set(w, p)
    }
}

/// The element whose key is in register 1 is there; says that it is tested.
unsafe extern "C" fn is_there(w: *mut Worker, p: *mut Process) -> u32 {
    unsafe {
        let c = C { w, p };
        c.number(*c.r(1));
        let (cell, collection) = elements(c);
        // Generated code has two of it: this is called before the process awaits, too.
        if (*p).lock == LOCK_NONE {
            ds_watch(w, p, cell, collection, c.r(1));
        }
        !ds_find(w, p, cell, collection, c.r(1)).is_null() as u32
    }
}

/// The collection in variable 2.
unsafe fn elements(c: C) -> (*mut *mut u8, *const Collection) {
    unsafe { (c.v(2).cast(), (*template_of(c.me())).owned.get()[0].collection) }
}

unsafe fn make(c: C, key: u64) -> Next {
    unsafe {
        let (cell, collection) = elements(c);
        ds_insert(c.w, c.p, cell, collection, &key, 1);
        ds_wrote(c.w, c.p, cell, collection, &key);
        Go
    }
}

#[test]
fn a_release_tests_what_it_may_have_fulfilled_only() {
    once! {
        ROOM: Template = template("Room").collects(2, Kind::Word)
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { *c.r(1) = 1; c.await_watching(is_there) },
                |c| unsafe { c.write("a") },
                |c| unsafe { c.unlock_having(2) },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(false) },
                |c| unsafe { *c.r(1) = 2; c.await_watching(is_there) },
                |c| unsafe { c.write("b") },
                |c| unsafe { c.unlock() },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.await_depending(is_set_and_says_so, 1) },
                |c| unsafe { c.write("c") },
                |c| unsafe { c.unlock_having(2) },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.write("!"); c.lock(true) },
                |c| unsafe { make(c, 3); c.unlock_having(2) },
                |c| unsafe { c.write("!"); c.lock(true) },
                |c| unsafe { make(c, 1); c.unlock_having(2) },
                |c| unsafe { c.pause() },
                |c| unsafe { c.write("!"); c.lock(true) },
                |c| unsafe { *c.v(1) = 1; c.unlock_having(1) },
                |c| unsafe { c.pause() },
                |c| unsafe { c.write("!"); c.lock(true) },
                |c| unsafe { make(c, 2); c.unlock_having(2) },
            ])
            .done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            go!(0),
            go!(1),
            go!(2),
            |c| unsafe { c.passivate(1) },
            go!(3),
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    // Who watches is tested once more when it begins to wait; whoever enters looks again.
    assert_eq!(output_of(*MAIN), "1122s!!11a!ssc!22b");
}

#[test]
fn who_was_not_tested_because_another_entered_is_tested_later() {
    once! {
        ROOM: Template = template("Room").collects(2, Kind::Word)
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.await_depending(is_set, 1) },
                |c| unsafe { c.write("a") },
                |c| unsafe { c.unlock_having(0) },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.await_depending(is_two, 1) },
                |c| unsafe { c.write("b") },
                |c| unsafe { c.unlock_having(0) },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { *c.r(1) = 7; c.await_watching(is_there) },
                |c| unsafe { c.write("c") },
                |c| unsafe { c.unlock_having(0) },
            ])
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { *c.v(1) = 2; make(c, 7) },
                |c| unsafe { c.unlock_having(1) },
            ])
            .done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            go!(0),
            go!(1),
            go!(2),
            |c| unsafe { c.passivate(1) },
            go!(3),
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "77ab77c");
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
            |c| unsafe { c.create(c.container(0), *COUNTER) },
            |c| unsafe { c.create(c.container(1), *CLIENT) },
            |c| unsafe { c.create(c.container(2), *CLIENT) },
            |c| unsafe { c.create(c.container(3), *CLIENT) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(0), 0) },
            |c| unsafe { c.connect(*c.container(3), 0, *c.container(0), 0) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "30");
}

/// Components whose services await, change and read; each says what it does.
macro_rules! rooms {
    ($test:ident, $first:ident, $second:ident, $third:ident) => {
        #[test]
        fn $test() {
            once! {
                ROOM: Template = template("Room")
                    // Awaits v1 = 2, shared.
                    .offers(*GO, &[
                        |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                        |c| unsafe { c.lock(false) },
                        |c| unsafe { c.$first(is_two) },
                        |c| unsafe { c.write("a") },
                        |c| unsafe { c.pause() },
                        |c| unsafe { c.write("A") },
                        |c| unsafe { c.unlock() },
                    ])
                    // Awaits v1 = 2, shared, too.
                    .offers(*GO, &[
                        |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                        |c| unsafe { c.lock(false) },
                        |c| unsafe { c.$second(is_two) },
                        |c| unsafe { c.write("b") },
                        |c| unsafe { c.pause() },
                        |c| unsafe { c.write("B") },
                        |c| unsafe { c.unlock() },
                    ])
                    // Awaits v1 # 0, exclusive.
                    .offers(*GO, &[
                        |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                        |c| unsafe { c.lock(true) },
                        |c| unsafe { c.$third(is_set) },
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
                    |c| unsafe { c.create(c.container(0), *ROOM) },
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
    };
}

rooms!(awaiting_enter_before_newcomers_and_shared_ones_together, await_own, await_own, await_own);
rooms!(conditions_common_to_all_are_as_good, await_common, await_common, await_common);
rooms!(common_conditions_and_own_ones_keep_their_order, await_common, await_own, await_common);
rooms!(own_conditions_and_common_ones_keep_their_order, await_own, await_common, await_own);

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
            |c| unsafe { c.create(c.container(0), *ROOM) },
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

#[test]
fn very_many_await_one_condition() {
    const MANY: u64 = if cfg!(miri) { 20 } else { 3_000 };
    once! {
        // Each client's service awaits its unit; the activity makes one at a time.
        PLANT: Template = template("Plant")
            .offers(*GO, &[
                |c| unsafe { c.receive(c.client(), *GO, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.await_common(is_set) },
                |c| unsafe { *c.v(1) -= 1; *c.v(0) += 1; c.unlock() },
            ])
            .main(&[
                |c| unsafe { c.begun() },
                |c| unsafe { c.lock(true) },
                |c| unsafe { *c.v(1) += 1; c.unlock() },
                |c| unsafe { c.pause() },
                |c| unsafe { c.repeat(0, MANY, 1) },
            ])
            .finally(&[|c| unsafe { c.number(*c.v(0)) }])
            .done();
        CLIENT: Template = template("Client").requires(*GO)
            .main(&[|c| unsafe { c.send(c.reach(0), *GO, 0, &[]) }]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).collects(1, Kind::Component).main(&[
            |c| unsafe { c.create(c.container(0), *PLANT) },
            |c| unsafe {
                let owned = &(*template_of(c.me())).owned.get()[1];
                for key in 0..MANY {
                    let cell = ds_insert(c.w, c.p, c.v(1).cast(), owned.collection.cast_mut(), &key, 1).cast();
                    assert!(c.create(cell, *CLIENT) == Go);
                    assert!(c.connect(*cell, 0, *c.container(0), 0) == Go);
                }
                Go
            },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), MANY.to_string());
}
