//! Long work in the runtime gives way at the end of the time slice, as generated code does.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    reason = "steps are generated code, written by hand: why one is right is what its test is about"
)]

#[path = "suite/common/mod.rs"]
mod common;

use std::sync::atomic::Ordering::SeqCst;

use common::*;
use drystone_component::{Interface, Kind, Side, Table, Template};
use drystone_runtime::entry_points::*;
use drystone_runtime::layout::*;
use drystone_runtime::template_of;

const MANY: u64 = if cfg!(miri) { 1100 } else { 10_000 };
/// So far from each other that nothing is dense.
const FAR: u64 = 1 << 20;

once! {
    // `{ IN Say }`
    TELL: Interface = interface("Tell", &[("Say", Side::Client, &[])], &[(true, &[(0, 0)])]);
    PLAIN: Template = template("Plain").done();
    // Has its turn as soon as somebody gives way.
    OTHER: Template = template("Other").main(&[|c| unsafe { c.write("other ") }]).done();
    // Holds many.
    HOUSE: Template = template("House").collects(0, Kind::Component).main(&[|c| unsafe { fill(c, 0, 1) }]).done();
    // Holds many texts.
    ARCHIVE: Template = template("Archive").collects(0, Kind::Text).main(&[|c| unsafe { fill(c, 0, FAR) }]).done();
}

/// Makes many elements in a variable of the component.
unsafe fn fill(c: C, variable: usize, factor: u64) -> Next {
    unsafe {
        let owned = &(*template_of(c.me())).owned.get()[variable];
        let description = &*owned.collection;
        for key in (0..MANY).map(|key| key * factor) {
            let cell = ds_insert(c.w, c.p, c.v(variable).cast(), description, &key, 1);
            if description.element == Kind::Text {
                *cell.cast() = ds_text_from_integer(c.w, c.p, key as i64, 1);
            } else {
                assert!(c.create(cell.cast(), *PLAIN) == Go);
            }
        }
        Go
    }
}

/// The time slice is over while the process does what comes next.
unsafe fn end_slice(c: C) {
    unsafe { (*c.w).attention.fetch_or(TICK, SeqCst) };
}

unsafe fn delete_all(c: C, variable: usize) -> Next {
    unsafe {
        let owned = &(*template_of(c.me())).owned.get()[variable];
        match ds_delete_collection(c.w, c.p, c.v(variable).cast(), &*owned.collection, 1) {
            Status::Done => Go,
            Status::Leave => Leave,
        }
    }
}

#[test]
fn deleting_many_elements_gives_way() {
    once! {
        COMPONENTS: Template = template("Components").collects(0, Kind::Component).holds(1).main(&[
            |c| unsafe { fill(c, 0, 1) },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe { end_slice(c); delete_all(c, 0) },
            |c| unsafe { assert_eq!(*c.v(0), 0); c.write("deleted") },
        ]).done();
        TEXTS: Template = template("Texts").collects(0, Kind::Text).holds(1).main(&[
            |c| unsafe { fill(c, 0, 1) },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe { end_slice(c); delete_all(c, 0) },
            |c| unsafe { assert_eq!(*c.v(0), 0); c.write("deleted") },
        ]).done();
        SCATTERED: Template = template("Scattered").collects(0, Kind::Text).holds(1).main(&[
            |c| unsafe { fill(c, 0, FAR) },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe { end_slice(c); delete_all(c, 0) },
            |c| unsafe { assert_eq!(*c.v(0), 0); c.write("deleted") },
        ]).done();
    }
    for main in [*COMPONENTS, *TEXTS, *SCATTERED] {
        let ran = run(main);
        assert_eq!((ran.output.as_str(), ran.errors.as_str()), ("other deleted", ""));
        assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
    }
}

#[test]
fn deleting_what_holds_many_gives_way() {
    once! {
        CHILDREN: Template = template("Children").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *HOUSE) },
            |c| unsafe { c.pause() },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe { end_slice(c); c.delete(c.container(0)) },
            |c| unsafe { c.write("deleted") },
        ]).done();
        TEXTS: Template = template("Texts").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *ARCHIVE) },
            |c| unsafe { c.pause() },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe { end_slice(c); c.delete(c.container(0)) },
            |c| unsafe { c.write("deleted") },
        ]).done();
    }
    for main in [*CHILDREN, *TEXTS] {
        let ran = run(main);
        assert_eq!((ran.output.as_str(), ran.errors.as_str()), ("other deleted", ""));
        assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
    }
}

#[test]
fn a_frame_that_holds_many_gives_way_at_its_end() {
    once! {
        MAIN: Template = template("Main").collects(0, Kind::Text).holds(1).main(&[
            |c| unsafe { fill(c, 0, 1) },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe {
                end_slice(c);
                // As if the component's first variable were the frame's.
                let owned = &*Box::leak(Box::new(Table::new(&(*template_of(c.me())).owned.get()[..1])));
                match ds_delete_held(c.w, c.p, c.me().cast(), owned, 1) {
                    Status::Done => Go,
                    Status::Leave => Leave,
                }
            },
            |c| unsafe { assert_eq!(*c.v(0), 0); c.write("ended") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "other ended");
}

#[test]
fn a_deletion_that_has_given_way_is_forgotten_when_its_component_is_ended_by_force() {
    once! {
        ALONE: Template = template("Alone").isolated().collects(0, Kind::Component).main(&[
            |c| unsafe { fill(c, 0, 1) },
            |c| unsafe {
                end_slice(c);
                assert!(delete_all(c, 0) == Leave);
                c.fail(Fault::AssertionFailed, 42)
            },
        ]).done();
        WITHIN: Template = template("Within").isolated().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *HOUSE) },
            |c| unsafe { c.pause() },
            |c| unsafe {
                end_slice(c);
                assert!(c.delete(c.container(0)) == Leave);
                c.fail(Fault::AssertionFailed, 42)
            },
        ]).done();
        MAIN: Template = template("Main").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *ALONE) },
            |c| unsafe { c.create(c.container(1), *WITHIN) },
            |c| unsafe { c.pause() },
            |c| unsafe { c.pause() },
            |c| unsafe { c.pause() },
            |c| unsafe { c.write("survived") },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!((ran.output.as_str(), ran.errors.lines().count()), ("survived", 2));
    assert_eq!((ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0));
}

#[test]
fn siblings_that_are_clients_go_first_whenever_their_deletion_gives_way() {
    once! {
        LINK: Template = template("Link").offers(*TELL, &[|_| End]).requires(*TELL)
            .finally(&[|c| unsafe { end_slice(c); c.write("l") }]).done();
        LAST: Template = template("Last").offers(*TELL, &[|_| End]).requires(*TELL)
            .finally(&[|c| unsafe { end_slice(c); c.write("a") }]).done();
        // The second is a client of the first, the third of the second.
        MAIN: Template = template("Main").holds(0).holds(1).holds(2).holds(3).main(&[
            |c| unsafe { c.create(c.container(0), *LAST) },
            |c| unsafe { c.create(c.container(1), *LINK) },
            |c| unsafe { c.create(c.container(2), *LINK) },
            |c| unsafe { c.create(c.container(3), *OTHER) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(1), 0) },
            |c| unsafe { end_slice(c); Go },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "other lla");
}

#[test]
fn an_insertion_that_makes_many_elements_dense_gives_way() {
    /// All keys but one.
    unsafe fn fill_around(c: C) -> Next {
        unsafe {
            for key in (0..2 * MANY).filter(|&key| key != MANY) {
                element(c, key);
            }
            Go
        }
    }
    unsafe fn element(c: C, key: u64) -> *mut u64 {
        unsafe {
            let description = (*template_of(c.me())).owned.get()[0].collection;
            ds_insert(c.w, c.p, c.v(0).cast(), description, &key, 1).cast()
        }
    }
    once! {
        MAIN: Template = template("Main").collects(0, Kind::Word).holds(1).main(&[
            |c| unsafe { fill_around(c) },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe {
                end_slice(c);
                *element(c, MANY) = 42;
                // As generated code sees it.
                assert_eq!((*(*c.v(0) as *const CollectionHead)).length, 2 * MANY);
                assert_eq!(*element(c, MANY), 42);
                c.write("dense")
            },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "other dense");
}

/// What a collection variable of the component holds by a key, or null.
unsafe fn found(c: C, key: u64) -> *mut u64 {
    unsafe {
        let description = (*template_of(c.me())).owned.get()[0].collection;
        ds_find(c.w, c.p, c.v(0).cast(), description, &key).cast()
    }
}

/// How many keys a visit of all elements finds, in ascending order.
unsafe fn visit(c: C) -> u64 {
    unsafe {
        let description = (*template_of(c.me())).owned.get()[0].collection;
        let (mut key, mut last, mut count) = (0, None, 0);
        while !ds_next(c.w, c.p, c.v(0).cast(), description, &mut key, u32::from(count == 0)).is_null() {
            assert!(last < Some(key));
            (last, count) = (Some(key), count + 1);
        }
        count
    }
}

/// Makes elements that are in a hash table, in no order.
unsafe fn scatter(c: C, from: u64, to: u64) -> Next {
    unsafe {
        let description = (*template_of(c.me())).owned.get()[0].collection;
        for index in from..to {
            let key = index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2;
            *ds_insert(c.w, c.p, c.v(0).cast(), description, &key, 1).cast() = index;
        }
        Go
    }
}

#[test]
fn the_first_visit_of_many_elements_gives_way_to_others_who_may_ask_for_them() {
    once! {
        // Has a service beside its main process: both use its elements, which nobody changes.
        SHARED: Template = template("Shared").collects(0, Kind::Word).offers(*TELL, &[
            |c| unsafe { c.receive(c.client(), *TELL, 0, &[]) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe {
                for index in 0..MANY {
                    let key = index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2;
                    assert_eq!(*found(c, key), index);
                }
                assert!(found(c, 1).is_null());
                assert_eq!(visit(c), MANY);
                c.write("other ")
            },
        ]).main(&[
            |c| unsafe { scatter(c, 0, MANY) },
            |c| unsafe { c.begun() },
            // At that time the service is ready too, after this one.
            |c| unsafe { c.passivate(5) },
            |c| unsafe { end_slice(c); assert_eq!(visit(c), MANY); c.write("visited") },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *SHARED) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), *TELL, 0, &[]) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "other visited");
}

#[test]
fn an_insertion_that_turns_a_full_table_into_a_tree_gives_way() {
    /// A table with more elements grows no more.
    const FULL: u64 = 1 << 16;
    once! {
        MAIN: Template = template("Main").collects(0, Kind::Word).holds(1).main(&[
            |c| unsafe { scatter(c, 0, FULL) },
            |c| unsafe { c.create(c.container(1), *OTHER) },
            |c| unsafe {
                // One of them finds no room.
                let made = &raw mut (*c.w).switches;
                let before = *made;
                for index in FULL..2 * FULL {
                    end_slice(c);
                    scatter(c, index, index + 1);
                    if *made > before {
                        return c.write("tree");
                    }
                }
                c.write("no tree")
            },
            |c| unsafe { assert!(visit(c) > FULL); Go },
        ]).done();
    }
    if !cfg!(miri) {
        assert_eq!(output_of(*MAIN), "other tree");
    }
}
