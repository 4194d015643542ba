//! Other processes run within a long call of a process into the runtime, and the call is not disturbed by them.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    reason = "steps are generated code, written by hand: why one is right is what its test is about"
)]

#[path = "suite/common/mod.rs"]
mod common;

use std::ptr::null_mut;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use common::*;
use drystone_component::{Collection, Interface, Kind, Side, Table, Template};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;
use drystone_runtime::text::bytes;

once! {
    // `{ IN Say }`
    TELL: Interface = interface("Tell", &[("Say", Side::Client, &[])], &[(true, &[(0, 0)])]);
    // Has its turn as soon as somebody gives way.
    OTHER: Template = template("Other").main(&[|c| unsafe { c.write("other ") }]).done();
}

/// Words by texts.
static WORDS: Collection =
    Collection { keys: Table::new(&[Kind::Text]), element: Kind::Word, array: false, boolean_keys: false };

/// The time slice is over while the process does what comes next.
unsafe fn end_slice(c: C) {
    unsafe { (*c.w).attention.fetch_or(TICK, SeqCst) };
}

/// Longer than what is done at once.
const LONG: i64 = if cfg!(miri) { 3000 } else { 600_000 };

/// Makes long texts in two variables, which differ in their last bytes only.
unsafe fn make_texts(c: C) -> Next {
    unsafe {
        for (variable, last) in [(1, b'x'), (2, b'y')] {
            *c.v(variable) = ds_text_new(c.w, c.p, LONG, 1) as u64;
            assert!(
                ds_text_set(c.w, c.p, c.v(variable).cast(), LONG - 1, u32::from(last), 1) == Status::Done
            );
        }
        Go
    }
}

unsafe fn text(c: C, variable: usize) -> *mut TextHead {
    unsafe { *c.v(variable) as *mut TextHead }
}

unsafe fn drop_texts(c: C) -> Next {
    unsafe {
        for variable in [1, 2] {
            ds_text_drop(c.w, std::mem::replace(&mut *c.v(variable), 0) as *mut TextHead);
        }
        Go
    }
}

unsafe fn keep(c: C, text: *mut TextHead) {
    unsafe {
        assert_eq!(bytes(text).last(), Some(&b'y'));
        ds_text_drop(c.w, text);
    }
}

#[test]
fn what_takes_long_with_texts_gives_way() {
    const WAYS: [Step; 8] = [
        |c| unsafe {
            keep(c, ds_text_concat(c.w, c.p, text(c, 1), text(c, 2), 1));
            Go
        },
        |c| unsafe {
            // So small a part of it is copied.
            let (all, part) = (2 * LONG, LONG / 9 * 4);
            let mut whole = ds_text_new(c.w, c.p, all, 1);
            assert!(ds_text_set(c.w, c.p, &mut whole, all - 1, u32::from(b'y'), 1) == Status::Done);
            keep(c, ds_text_slice(c.w, c.p, whole, all - part, part, 1));
            ds_text_drop(c.w, whole);
            Go
        },
        |c| unsafe {
            let cell = c.v(1).cast();
            assert!(ds_text_append(c.w, c.p, cell, text(c, 2), 1) == Status::Done);
            assert_eq!(bytes(*cell).len() as i64, 2 * LONG);
            Go
        },
        |c| unsafe {
            // It has another holder, so it is copied.
            let other = ds_text_copy(c.w, text(c, 2));
            assert!(ds_text_set(c.w, c.p, c.v(2).cast(), 0, u32::from(b'z'), 1) == Status::Done);
            keep(c, other);
            Go
        },
        |c| unsafe {
            assert_eq!(ds_text_compare(c.w, c.p, text(c, 1), text(c, 2)), -1);
            Go
        },
        |c| unsafe {
            assert_eq!(ds_text_equal(c.w, c.p, text(c, 1), text(c, 2)), 0);
            Go
        },
        |c| unsafe {
            let part = ds_text_slice(c.w, c.p, text(c, 2), LONG - 2, 2, 1);
            assert_eq!(ds_text_find(c.w, c.p, text(c, 2), part, 0, 1), LONG - 2);
            ds_text_drop(c.w, part);
            Go
        },
        |c| unsafe {
            let mut words = null_mut();
            let [x, y] = [1, 2].map(|variable| c.v(variable).cast_const());
            *ds_insert(c.w, c.p, &mut words, &WORDS, x, 1).cast() = 1u64;
            assert!(ds_find(c.w, c.p, &mut words, &WORDS, y).is_null());
            *ds_insert(c.w, c.p, &mut words, &WORDS, y, 1).cast() = 2u64;
            assert_eq!(*ds_find(c.w, c.p, &mut words, &WORDS, x).cast::<u64>(), 1);
            assert_eq!([x, x].map(|key| ds_remove(c.w, c.p, &mut words, &WORDS, key)), [1, 0]);
            assert_eq!(ds_remove(c.w, c.p, &mut words, &WORDS, y), 1);
            assert!(ds_delete_collection(c.w, c.p, &mut words, &WORDS, 1) == Status::Done);
            Go
        },
    ];
    /// The process does it in its time slice's last moment.
    unsafe fn work(c: C) -> Next {
        unsafe {
            end_slice(c);
            WAYS[WAY.load(SeqCst)](c);
            c.write("done")
        }
    }
    static WAY: AtomicUsize = AtomicUsize::new(0);
    once! {
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { make_texts(c) },
            |c| unsafe { c.create(c.container(0), *OTHER) },
            |c| unsafe { work(c) },
            |c| unsafe { drop_texts(c) },
        ]).done();
    }
    for way in 0..WAYS.len() {
        WAY.store(way, SeqCst);
        let ran = run(*MAIN);
        assert_eq!((ran.output.as_str(), ran.errors.as_str()), ("other done", ""), "{way}");
        assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0), "{way}");
    }
}

#[test]
fn long_calls_within_each_other_end_the_last_one_first() {
    once! {
        INNER: Template = template("Inner").holds(0).main(&[
            |c| unsafe { make_texts(c) },
            |c| unsafe { c.create(c.container(0), *OTHER) },
            |c| unsafe { end_slice(c); ds_text_compare(c.w, c.p, text(c, 1), text(c, 2)); c.write("inner ") },
            |c| unsafe { drop_texts(c) },
        ]).done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { make_texts(c) },
            |c| unsafe { c.create(c.container(0), *INNER) },
            |c| unsafe { end_slice(c); ds_text_compare(c.w, c.p, text(c, 1), text(c, 2)); c.write("outer") },
            |c| unsafe { drop_texts(c) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "other inner outer");
}

#[test]
fn who_is_in_a_long_call_is_ended_by_force_when_it_has_left_it() {
    once! {
        FAILING: Template = template("Failing")
            .main(&[|c| unsafe { c.write("fails "); c.fail(Fault::AssertionFailed, 42) }])
            .done();
        ISOLATED: Template = template("Isolated").isolated().holds(0).main(&[
            |c| unsafe { make_texts(c) },
            |c| unsafe { c.create(c.container(0), *FAILING) },
            |c| unsafe {
                end_slice(c);
                keep(c, ds_text_concat(c.w, c.p, text(c, 1), text(c, 2), 1));
                drop_texts(c);
                c.write("left ")
            },
            |c| unsafe { c.pause() },
            |c| unsafe { c.write("too late ") },
        ]).done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ISOLATED) },
            |c| unsafe { c.pause() },
            |c| unsafe { c.pause() },
            |c| unsafe { c.write("survived") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.errors.lines().count()), ("fails left survived", 1));
    assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
}

#[test]
fn a_program_that_is_halted_within_a_long_call_ends_behind_it() {
    once! {
        HALTING: Template = template("Halting").main(&[|c| unsafe { c.halt(7) }]).done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { make_texts(c) },
            |c| unsafe { c.create(c.container(0), *HALTING) },
            |c| unsafe {
                end_slice(c);
                assert_eq!(ds_text_compare(c.w, c.p, text(c, 1), text(c, 2)), -1);
                c.write("left")
            },
            |c| unsafe { c.pause() },
            |c| unsafe { c.write(" too late") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.outcome.status), ("left", 7));
}

#[test]
fn others_do_not_run_while_a_release_tests_a_condition() {
    /// Both long texts are there and differ, and the release is under way.
    unsafe extern "C" fn differ(w: *mut Worker, p: *mut Process) -> u32 {
        unsafe {
            let c = C { w, p };
            if *c.v(3) == 0 {
                return 0;
            }
            end_slice(c);
            let differ = ds_text_compare(w, p, text(c, 1), text(c, 2)) != 0;
            c.write("tested ");
            u32::from(differ)
        }
    }
    once! {
        ROOM: Template = template("Room").holds(0)
            .offers(*TELL, &[
                |c| unsafe { c.receive(c.client(), *TELL, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { c.await_own(differ) },
                |c| unsafe { drop_texts(c); c.write("entered"); c.unlock() },
            ])
            .offers(*TELL, &[
                |c| unsafe { c.receive(c.client(), *TELL, 0, &[]) },
                |c| unsafe { c.lock(true) },
                |c| unsafe { make_texts(c) },
                |c| unsafe { c.create(c.container(0), *OTHER) },
                |c| unsafe { *c.v(3) = 1; c.unlock() },
            ])
            .done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *ROOM) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *TELL, 0, &[]) },
            |c| unsafe { c.pause() },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 1), *TELL, 0, &[]) },
            |c| unsafe { c.delete(c.container(0)) },
        ]).done();
    }
    // Whoever enters tests it once more.
    assert_eq!(output_of(*MAIN), "tested other tested entered");
}
