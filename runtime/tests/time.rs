//! Sleeping, virtual time, and turns among processes.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    reason = "steps are generated code, written by hand: why one is right is what its test is about"
)]

#[path = "suite/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use common::*;
use drystone_component::Template;
use drystone_runtime::entry_points::{ds_preempt, ds_random, ds_time};
use drystone_runtime::layout::Status;
use drystone_runtime::native::{park, platform};

#[test]
fn virtual_time_jumps_and_those_of_one_moment_wake_in_order() {
    once! {
        ONE: Template = template("One").main(&[
            |c| unsafe { c.passivate(1_000_000_000) },
            |c| unsafe { c.number(ds_time(c.w) as u64) },
            |c| unsafe { c.write("a ") },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.number(ds_time(c.w) as u64) },
            |c| unsafe { c.write("a ") },
        ]).done();
        OTHER: Template = template("Other").main(&[
            |c| unsafe { c.passivate(400_000_000) },
            |c| unsafe { c.passivate(600_000_000) },
            |c| unsafe { c.write("b ") },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { c.create(c.container(0), *ONE) },
            |c| unsafe { c.create(c.container(1), *OTHER) },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "1000000000a b 1000000005a ");
}

#[test]
fn nobody_sleeps_too_short() {
    once! {
        MAIN: Template = template("Main").main(&[
            |c| unsafe { *c.r(0) = ds_time(c.w) as u64; Go },
            |c| unsafe { c.passivate(20) },
            |c| unsafe {
                let slept = ds_time(c.w) as u64 - *c.r(0);
                assert!((20..2000).contains(&slept), "{slept} ms");
                Go
            },
        ]).done();
    }
    output_of(*MAIN);
}

#[test]
fn a_process_that_computes_lets_others_run() {
    once! {
        BUSY: Template = template("Busy").main(&[
            |c| unsafe {
                if (*c.w).attention.load(std::sync::atomic::Ordering::Relaxed) != 0 {
                    *c.r(0) += 1;
                    if ds_preempt(c.w, c.p) == Status::Leave { Leave } else { Go }
                } else {
                    std::hint::spin_loop();
                    Go
                }
            },
            |c| unsafe { if *c.r(0) < 10 { To(0) } else { c.write("busy") } },
        ]).done();
        MAIN: Template = template("Main").holds(0).holds(1).main(&[
            |c| unsafe { c.create(c.container(0), *BUSY) },
            |c| unsafe { c.create(c.container(1), *BUSY) },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.write("other ") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "other busybusy");
}

#[test]
fn random_numbers_stay_between_their_bounds() {
    once! {
        MAIN: Template = template("Main").main(&[
            |c| unsafe {
                let all: Vec<i64> = (0..1000).map(|_| ds_random(c.w, c.p, -1, 2, 1)).collect();
                (-1..=2).for_each(|x| assert!(all.contains(&x)));
                assert!(all.iter().all(|x| (-1..=2).contains(x)));
                ds_random(c.w, c.p, i64::MIN, i64::MAX, 1);
                Go
            },
        ]).done();
    }
    output_of(*MAIN);
}

#[test]
fn a_process_waits_for_the_platform_while_others_run() {
    once! {
        READER: Template = template("Reader").main(&[
            |c| unsafe {
                if *c.r(0) == 0 {
                    *c.r(0) = 1;
                    let platform = (*platform(c.w)).as_any().downcast_mut::<TestPlatform>().unwrap();
                    platform.inputs.push((Instant::now() + Duration::from_millis(20), c.p.expose_provenance()));
                    park(c.w, c.p);
                    return Leave;
                }
                c.write("input")
            },
        ]).done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *READER) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.write("other ") },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "other input");
}

/// Else the platform might tell others of what happened after it.
#[test]
fn the_platform_has_what_was_written_before_it_looks() {
    once! {
        READER: Template = template("Reader").main(&[
            |c| unsafe {
                let platform = (*platform(c.w)).as_any().downcast_mut::<TestPlatform>().unwrap();
                if *c.r(0) == 0 {
                    *c.r(0) = 1;
                    platform.inputs.push((Instant::now() + Duration::from_millis(10), c.p.expose_provenance()));
                    park(c.w, c.p);
                    return Leave;
                }
                assert_eq!(platform.output, b"before ");
                c.write("input ")
            },
        ]).done();
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { c.create(c.container(0), *READER) },
            |c| unsafe { c.passivate(2) },
            |c| unsafe { c.write("before ") },
            |c| unsafe {
                if (*c.w).attention.load(std::sync::atomic::Ordering::Relaxed) == 0 {
                    std::hint::spin_loop();
                    return Go;
                }
                *c.r(0) += 1;
                if ds_preempt(c.w, c.p) == Status::Leave { Leave } else { Go }
            },
            |c| unsafe { if *c.r(0) < 30 { To(3) } else { c.write("after") } },
        ]).done();
    }
    assert_eq!(output_of(*MAIN), "before input after");
}
