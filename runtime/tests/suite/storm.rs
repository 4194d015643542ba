//! Very many components fail at any moment and in any state, while other components go on.

use crate::common::*;
use drystone_component::{Interface, Kind, Side, Template, Type};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;
use drystone_runtime::template_of;

const SAY: u32 = 0;
const HEARD: u32 = 1;
const ROUNDS: u64 = if cfg!(miri) { 10 } else { 3_000 };
const SESSIONS: i64 = 8;

once! {
    // `{ IN Say(x) OUT Heard(t, c) }`: a text and a component come back.
    ECHO: Interface = interface(
        "Echo",
        &[("Say", Side::Client, &[Type::Text]), ("Heard", Side::Server, &[Type::Text, Type::Component])],
        &[(true, &[(0, 1)]), (false, &[(1, 0)])],
    );
    TOY: Template = template("Toy").main(&[|c| unsafe { c.passivate(3) }]).done();
    // Lives on: its services answer under its lock, awaiting their turn, and hold a component meanwhile.
    LOG: Template = template("Log").offers(*ECHO, &[
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 99) },
        |c| unsafe { c.take(c.client(), SAY) },
        |c| unsafe { c.lock(true) },
        |c| unsafe { *c.v(1) ^= 1; Go },
        |c| unsafe { c.await_own(is_even) },
        |c| unsafe { c.create(c.r(1).cast(), *TOY) },
        |c| unsafe { c.maybe_sleep() },
        |c| unsafe { *c.v(1) = 0; c.unlock() },
        |c| unsafe { c.answer(c.client()) },
        |c| unsafe { c.delete(c.r(1).cast()) },
        |_| To(0),
    ]).register(1, Kind::Component).register(0, Kind::Text).main(&[
        |c| unsafe { c.begun() },
        // Whoever awaits an even number gets one now and then.
        |c| unsafe { c.lock(true) },
        |c| unsafe { *c.v(1) = 0; c.unlock() },
        |c| unsafe { c.passivate(2) },
        |c| unsafe { if *c.v(7) != 0 { End } else { To(1) } },
    ]).done();
    // A part of a session: serves, and fails now and then.
    PART: Template = template("Part").requires(*ECHO).offers(*ECHO, &[
        |c| unsafe { c.test(c.client(), *ECHO, Side::Server, SAY as i32, 99) },
        |c| unsafe { c.take(c.client(), SAY) },
        |c| unsafe { c.maybe_fail() },
        |c| unsafe { c.lock(true) },
        |c| unsafe { c.hand_on(c.reach(0)) },
        |c| unsafe { c.maybe_sleep() },
        |c| unsafe { c.hear(c.reach(0)) },
        |c| unsafe { c.delete(c.r(2).cast()) },
        |c| unsafe { c.unlock() },
        |c| unsafe { c.answer(c.client()) },
        |_| To(0),
    ]).register(0, Kind::Text).register(2, Kind::Component).done();
    // Offers what its part offers, and talks to it, too.
    SESSION: Template = template("Session").isolated().relays(*ECHO).requires(*ECHO).holds(0).holds(1).main(&[
        |c| unsafe { c.create(c.container(0), *PART) },
        |c| unsafe { c.pass_on(c.required(*c.container(0), 0), 0) },
        |c| unsafe {
            let target = c.offered(*c.container(0), 0).expose_provenance();
            match ds_connect(c.w, c.p, c.inward(c.me(), 0), target, 1) {
                Status::Done => Go,
                Status::Leave => Leave,
            }
        },
        |c| unsafe { c.create(c.container(1), *TOY) },
        |c| unsafe { c.hand_on(c.reach_held(*c.container(0), 0)) },
        |c| unsafe { c.maybe_fail() },
        |c| unsafe { c.hear(c.reach_held(*c.container(0), 0)) },
        |c| unsafe { c.delete(c.r(2).cast()) },
        |c| unsafe { c.maybe_sleep() },
        |c| unsafe { c.maybe_fail() },
        |_| To(4),
    ]).register(2, Kind::Component).done();
    // Lives on: asks its session, whatever becomes of it.
    CLIENT: Template = template("Client").requires(*ECHO).main(&[
        |c| unsafe { c.hand_on(c.reach(0)) },
        |c| unsafe { c.test(c.reach(0), *ECHO, Side::Client, HEARD as i32, 4) },
        |c| unsafe { c.hear(c.reach(0)) },
        |c| unsafe { c.delete(c.r(2).cast()) },
        |c| unsafe { c.maybe_sleep() },
        |c| unsafe { c.pause() },
        |c| unsafe { if *c.v(7) != 0 { End } else { To(0) } },
    ]).register(2, Kind::Component).done();
    MAIN: Template = template("Main").virtual_time().holds(0).collects(1, Kind::Component).collects(2, Kind::Component)
        .main(&[
            |c| unsafe { c.create(c.container(0), *LOG) },
            |c| unsafe {
                for key in 0..SESSIONS {
                    assert!(c.create(c.element(1, key), *CLIENT) == Go);
                }
                Go
            },
            // Whatever has failed is made anew.
            |c| unsafe {
                for key in 0..SESSIONS {
                    let cell = c.element(2, key);
                    if ds_exists(*cell) == 0 {
                        assert!(c.create(cell, *SESSION) == Go);
                        assert!(c.connect(*cell, 0, *c.container(0), 0) == Go);
                        let client = *c.element(1, key);
                        let target = c.offered(*cell, 0).expose_provenance();
                        if ds_connect(c.w, c.p, c.required(client, 0), target, 1) == Status::Leave {
                            return Leave;
                        }
                    }
                }
                Go
            },
            |c| unsafe { c.passivate(1) },
            |c| unsafe { c.repeat(0, ROUNDS, 2) },
            // They end by themselves now, and the sessions by force.
            |c| unsafe {
                for key in 0..SESSIONS {
                    c.tell(*c.element(1, key));
                }
                Go
            },
            |c| unsafe {
                let gone = (0..SESSIONS).all(|key| ds_exists(*c.element(2, key)) == 0);
                if gone { To(8) } else { Go }
            },
            |c| unsafe { if c.passivate(1) == Go { To(6) } else { Leave } },
            |c| unsafe { c.tell(*c.container(0)); Go },
        ]).done();
}

unsafe extern "C" fn is_even(w: *mut Worker, p: *mut Process) -> u32 {
    unsafe { (*C { w, p }.v(1) & 1 == 0) as u32 }
}

trait Storm {
    unsafe fn maybe_fail(self) -> Next;
    unsafe fn maybe_sleep(self) -> Next;
    unsafe fn hand_on(self, to: *mut Communication) -> Next;
    unsafe fn take(self, from: *mut Communication, message: u32) -> Next;
    unsafe fn hear(self, from: *mut Communication) -> Next;
    unsafe fn answer(self, to: *mut Communication) -> Next;
    unsafe fn element(self, variable: usize, key: i64) -> *mut *mut Instance;
    unsafe fn tell(self, instance: *mut Instance);
}

impl Storm for C {
    unsafe fn maybe_fail(self) -> Next {
        unsafe { if ds_random(self.w, self.p, 1, 20, 1) == 1 { self.fail(Fault::Overflow, 1) } else { Go } }
    }

    unsafe fn maybe_sleep(self) -> Next {
        unsafe {
            let asleep = self.r(5);
            if *asleep == 0 && ds_random(self.w, self.p, 0, 2, 1) != 0 {
                return Go;
            }
            *asleep = 1;
            let next = self.passivate(1);
            if next == Go {
                *asleep = 0;
            }
            next
        }
    }

    /// Sends a text.
    unsafe fn hand_on(self, to: *mut Communication) -> Next {
        unsafe {
            if to.is_null() {
                return Leave;
            }
            let payload = ds_send(self.w, self.p, to, *ECHO, SAY, 5);
            if payload.is_null() {
                return Leave;
            }
            *payload = ds_text_from_integer(self.w, self.p, 1234567, 5).expose_provenance() as u64;
            ds_sent(self.w, to, *ECHO, SAY);
            Go
        }
    }

    /// Receives a text into register 0.
    unsafe fn take(self, from: *mut Communication, message: u32) -> Next {
        unsafe {
            let payload = ds_receive(self.w, self.p, from, *ECHO, message, 5);
            if payload.is_null() {
                return Leave;
            }
            let text = std::ptr::with_exposed_provenance_mut(*payload as usize);
            ds_text_drop(self.w, self.r(0).cast::<*mut TextHead>().replace(text));
            ds_received(self.w, from);
            Go
        }
    }

    /// Receives a text, which is dropped, and a component into register 2.
    unsafe fn hear(self, from: *mut Communication) -> Next {
        unsafe {
            if from.is_null() {
                return Leave;
            }
            let payload = ds_receive(self.w, self.p, from, *ECHO, HEARD, 5);
            if payload.is_null() {
                return Leave;
            }
            ds_text_drop(self.w, std::ptr::with_exposed_provenance_mut(*payload as usize));
            let toy = std::ptr::with_exposed_provenance_mut(*payload.add(1) as usize);
            let holder = self.p.expose_provenance() | 1;
            assert!(ds_arrive(self.w, self.p, toy, self.r(2).cast(), holder, 1) == Status::Done);
            ds_received(self.w, from);
            Go
        }
    }

    /// Sends a copy of register 0 and a new component.
    unsafe fn answer(self, to: *mut Communication) -> Next {
        unsafe {
            let payload = ds_send(self.w, self.p, to, *ECHO, HEARD, 5);
            if payload.is_null() {
                return Leave;
            }
            let text = std::ptr::with_exposed_provenance_mut(*self.r(0) as usize);
            *payload = ds_text_copy(self.w, text).expose_provenance() as u64;
            let mut toy: *mut Instance = std::ptr::null_mut();
            assert!(ds_new(self.w, self.p, &mut toy, *TOY, 0, 1) == Status::Done);
            *payload.add(1) = toy.expose_provenance() as u64;
            ds_sent(self.w, to, *ECHO, HEARD);
            Go
        }
    }

    unsafe fn element(self, variable: usize, key: i64) -> *mut *mut Instance {
        unsafe {
            let owned = &(*template_of(self.me())).owned.get()[variable];
            let key = key as u64;
            ds_insert(self.w, self.p, self.v(variable).cast(), owned.collection.cast_mut(), &key, 1).cast()
        }
    }

    /// Sets variable 7 of a component.
    unsafe fn tell(self, instance: *mut Instance) {
        unsafe {
            let size = (*template_of(instance)).size as usize;
            *instance.cast::<u8>().add(size - 8).cast::<u64>() = 1;
        }
    }
}

#[test]
fn others_go_on_and_nothing_is_left_behind() {
    let ran = run(*MAIN);
    assert_eq!(ran.outcome.status, 0, "{}", ran.errors.lines().last().unwrap_or(""));
    assert!(ran.errors.lines().all(|line| line.starts_with("error: ")));
    assert!(cfg!(miri) || ran.errors.lines().count() as u64 > ROUNDS / 10);
    assert_eq!(ran.outcome.live_processes, 0);
    assert_eq!(ran.outcome.live_bytes, 0);
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn other_workers_make_no_difference() {
    let ran = run_with(*MAIN, 3, usize::MAX);
    assert_eq!((ran.outcome.status, ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0, 0));
}
