//! Handlers behind a dispatcher in Linux's kernel, and the same scenarios in Drystone's engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use drystone_extension::demux::{Cell, Filter, Test};
use drystone_extension::handler::{Share, Verdict};
use drystone_handlers::dispatcher::Counts;
use drystone_handlers::{Device, Dispatcher, Line, Mode};

use crate::behind::{Behind, Linux, Own, add, come, number_in, to_port, xdp};
use crate::namespace::{in_namespace, pair};
use crate::objects::compiled;

const ENDLESS: Share = Share { runs: u64::MAX, window: u64::MAX };

/// Does the same in both engines.
fn scenario(name: &'static str, deed: fn(&mut dyn Behind)) {
    let Some(object) = compiled("sums") else { return };
    deed(&mut Own::new(&object, ENDLESS));
    with_dispatcher(object, name, ENDLESS, move |linux| deed(linux));
}

/// A deed with a dispatcher, in a namespace of its own.
fn with_dispatcher(
    object: Vec<u8>,
    name: &'static str,
    share: Share,
    deed: impl FnOnce(&mut Linux) + Send + 'static,
) {
    in_namespace(name, move || {
        if pair(name)
            && let Some(mut linux) = Linux::new(&object, name, share, Mode::Any)
        {
            deed(&mut linux);
        }
    });
}

#[test]
fn each_handler_answers_its_own() {
    scenario("each its own", |engine| {
        let ports = [7000, 7001, 7002];
        for (owner, port) in (1..).zip(ports) {
            engine.attach(owner, to_port(port));
        }
        for round in 1..=5 {
            for port in ports {
                assert_eq!(engine.sum(port, u64::from(port)), Some(round * u64::from(port)));
            }
            assert_eq!(engine.sum(7003, 1), None, "it is nobody's");
        }
        assert_eq!([1, 2, 3].map(|owner| engine.counts(owner)), [(5, 0); 3]);
        // Too short to have a port, and too short for its handler.
        assert_eq!(engine.arrives(&add(7000, 1)[..36]).0, Verdict::Pass);
        assert_eq!(engine.arrives(&add(7000, 1)[..45]).0, Verdict::Pass);
        assert_eq!(engine.counts(1), (6, 0), "only the second one was its");
    });
}

#[test]
fn who_wants_address_and_port_goes_before_who_wants_the_port() {
    scenario("address and port", |engine| {
        let at = |last| {
            let filter = Filter::ethernet().ipv4().destination([10, 0, 0, last]).udp();
            Filter::from(filter.destination_port(7000))
        };
        let any = engine.attach(1, to_port(7000));
        let here = engine.attach(2, at(2));
        let there = engine.attach(3, at(3));
        let mut to_there = add(7000, 4);
        to_there[33] = 3;
        let mut elsewhere = add(7000, 5);
        elsewhere[33] = 4;
        assert_eq!([engine.sum(7000, 1), engine.sum(7000, 1)], [Some(1), Some(2)]);
        assert_eq!([engine.sum_of(&to_there), engine.sum_of(&elsewhere)], [Some(4), Some(5)]);
        assert_eq!(engine.sum(7001, 1), None);
        assert_eq!([1, 2, 3].map(|owner| engine.counts(owner).0), [1, 2, 1]);
        engine.detach(here);
        assert_eq!(engine.sum(7000, 1), Some(6), "it is the other one's now");
        engine.detach(any);
        assert_eq!([engine.sum(7000, 1), engine.sum_of(&to_there)], [None, Some(8)]);
        engine.replace(there);
        assert_eq!(engine.sum_of(&to_there), Some(4), "another counter begins");
    });
}

#[test]
fn a_hundred_filters_are_told_apart() {
    scenario("a hundred", |engine| {
        let flows: Vec<usize> =
            (0..100).map(|more| engine.attach(more % 7, to_port(8000 + 3 * more as u16))).collect();
        for round in 1..=2 {
            for port in 8000..8300 {
                let expected = (port % 3 == 8000 % 3).then_some(round * u64::from(port));
                assert_eq!(engine.sum(port, port.into()), expected, "{port}");
            }
        }
        assert_eq!((0..7).map(|owner| engine.counts(owner).0).sum::<u64>(), 200);
        flows.iter().step_by(2).for_each(|flow| engine.detach(*flow));
        for (more, port) in (8000..8300).step_by(3).enumerate() {
            assert_eq!(engine.sum(port, 0).is_some(), more % 2 == 1, "{port}");
        }
    });
}

#[test]
fn beyond_its_share_an_owner_is_passed_on() {
    scenario("share", |engine| {
        engine.attach(1, to_port(7000));
        engine.attach(1, to_port(7001));
        engine.attach(2, to_port(7002));
        engine.share(1, Share { runs: 10, ..ENDLESS });
        for round in 1..=20 {
            let expected = (round <= 5).then_some(round);
            assert_eq!(
                [7000, 7001].map(|port| engine.sum(port, 1)),
                [expected; 2],
                "its flows have one share"
            );
            assert_eq!(engine.sum(7002, 1), Some(round), "others have theirs");
        }
        assert_eq!([engine.counts(1), engine.counts(2)], [(10, 30), (20, 0)]);
        // Of nothing nothing is left in any window.
        engine.share(2, Share { runs: 0, window: 1 });
        assert_eq!([engine.sum(7002, 1), engine.sum(7002, 1)], [None, None]);
        engine.share(1, Share { runs: 12, ..ENDLESS });
        assert_eq!([7000, 7000, 7000].map(|port| engine.sum(port, 1)), [Some(6), Some(7), None]);
    });
}

/// The same at the dispatcher only.
fn at_a_dispatcher(name: &'static str, share: Share, deed: fn(&mut Linux)) {
    let Some(object) = compiled("sums") else { return };
    with_dispatcher(object, name, share, deed);
}

#[test]
fn a_gate_remembers_who_has_gone_and_leaves_nothing() {
    at_a_dispatcher("gone", ENDLESS, |linux| {
        let (first, second) = (linux.attach(1, to_port(7000)), linux.attach(1, to_port(7001)));
        assert!([7000, 7000, 7001].map(|port| linux.sum(port, 1)).iter().all(Option::is_some));
        linux.detach(first);
        assert_eq!(linux.dispatcher.counts_of(1), Some(Counts { runs: 3, lazily: 0, missed: 0 }));
        assert_eq!(linux.dispatcher.counts(linux.attached[first]), None);
        assert!(
            linux.dispatcher.detach(linux.attached[first]).expect_err("it has gone").contains("no such flow")
        );
        let region = linux.dispatcher.handler(linux.attached[second]).expect("it is there").region();
        assert_eq!(region.expect("it has one").number(0).load(Relaxed), 1);
        assert_eq!(linux.sum(7001, 1), Some(2));
        linux.dispatcher.dismiss(1).expect("it can be");
        assert_eq!((linux.dispatcher.all().count(), linux.dispatcher.counts_of(1)), (0, None));
        assert_eq!([linux.sum(7000, 1), linux.sum(7001, 1)], [None, None]);
        // A flow that can't be changes nothing.
        linux.attach(1, to_port(7000));
        let far = Filter::all_of([Test::has(Cell::byte(50_000))]);
        let handler = xdp(&linux.object);
        assert!(linux.dispatcher.attach(1, far, handler).expect_err("it can't be").contains("beyond"));
        assert_eq!((linux.dispatcher.all().count(), linux.sum(7000, 1)), (1, Some(1)));
        let other = Dispatcher::open("far", Mode::Any, ENDLESS).expect_err("there is one");
        assert!(other.contains("has one already"), "{other}");
    });
}

/// Asks again and again until the deed is done; how many answers there were. None may be lacking.
pub fn while_asking(port: u16, deed: impl FnOnce()) -> u64 {
    let ended = Arc::new(AtomicBool::new(false));
    let asking = std::thread::spawn({
        let ended = ended.clone();
        move || {
            let mut near = Line::beside("near").expect("it is there");
            let mut answers = 0;
            while !ended.load(Relaxed) {
                near.send(&add(port, 1)).expect("it is there");
                let until = Instant::now() + Duration::from_secs(10);
                let is_its = |answer: &Vec<u8>| answer[34..36] == port.to_be_bytes() && number_in(answer) > 0;
                while !come(&mut near).iter().any(is_its) {
                    assert!(Instant::now() < until, "an answer is lost");
                }
                answers += 1;
            }
            answers
        }
    });
    deed();
    ended.store(true, Relaxed);
    asking.join().expect("it is answered")
}

#[test]
fn no_answer_is_lost_while_filters_come_and_go() {
    at_a_dispatcher("come and go", ENDLESS, |linux| {
        linux.attach(1, to_port(7000));
        let answers = while_asking(7000, || {
            for round in 0..60 {
                let flow = linux.attach(2, to_port(7001 + round));
                if round % 3 > 0 {
                    linux.detach(flow);
                }
            }
        });
        assert!(answers > 100, "only {answers}");
        assert_eq!(linux.counts(1), (answers, 0));
    });
}

#[test]
fn a_gate_may_be_in_the_driver() {
    let Some(object) = compiled("sums") else { return };
    in_namespace("in the driver", move || {
        if !pair("in the driver") {
            return;
        }
        // The near end only takes what a driver sends back if it has a program, too.
        let beside = Dispatcher::open("near", Mode::Native, ENDLESS);
        let Some(mut linux) = Linux::new(&object, "in the driver", ENDLESS, Mode::Native) else { return };
        let _beside = beside.expect("it can be");
        linux.attach(1, to_port(7000));
        let answers =
            while_asking(7000, || (1..20).for_each(|more| _ = linux.attach(2, to_port(7000 + more))));
        assert_eq!(linux.counts(1), (answers, 0));
        // The answers that others were waiting for.
        come(&mut linux.near);
        assert_eq!([linux.sum(7001, 5), linux.sum(7019, 6), linux.sum(7020, 7)], [Some(5), Some(6), None]);
    });
}

#[test]
fn no_answer_is_lost_while_handlers_take_turns() {
    at_a_dispatcher("take turns", ENDLESS, |linux| {
        let mut answering = linux.attach(1, to_port(7000));
        let answers = while_asking(7000, || {
            for _ in 0..40 {
                let other = linux.attach(1, to_port(7000));
                linux.replace(answering);
                linux.detach(answering);
                answering = other;
            }
        });
        assert!(answers > 100, "only {answers}");
        assert_eq!(linux.dispatcher.counts_of(1), Some(Counts { runs: answers, lazily: 0, missed: 0 }));
    });
}

/// As many as a socket that hears what is passed on has room for.
const BURST: u64 = 32;

#[test]
fn a_flood_for_one_owner_takes_nothing_from_another() {
    at_a_dispatcher("flood", ENDLESS, |linux| {
        const SHARE: Share = Share { runs: 50, window: 100_000_000 };
        let flooded = linux.attach(1, to_port(7001));
        linux.attach(2, to_port(7000));
        linux.share(1, SHARE);
        let (mut sent, mut passed) = (0, 0);
        let began = Instant::now();
        let answers = while_asking(7000, || {
            let mut flooding = Line::beside("near").expect("it is there");
            while began.elapsed() < Duration::from_millis(1500) {
                for _ in 0..BURST {
                    flooding.send(&add(7001, 1)).expect("it is there");
                }
                sent += BURST;
                // What the kernel drops before the dispatcher, because its queue is full, would be nobody's fault here.
                let until = Instant::now() + Duration::from_secs(10);
                let counts =
                    |linux: &Linux| linux.dispatcher.counts(linux.attached[flooded]).expect("it is there");
                while counts(linux).runs + counts(linux).lazily < sent && Instant::now() < until {}
                passed += come(&mut linux.far).len() as u64;
                come(&mut flooding);
            }
        });
        let windows = began.elapsed().as_nanos() as u64 / SHARE.window + 2;
        passed += come(&mut linux.far).len() as u64;
        let (runs, lazily) = linux.counts(1);
        assert_eq!(runs + lazily, sent, "each is counted");
        assert_eq!(passed, lazily, "what isn't run is passed on");
        assert!(runs <= windows * SHARE.runs, "{runs} runs in {windows} windows");
        assert!(runs >= 10 * SHARE.runs, "{runs} runs: each window has its own");
        assert!(lazily > 4 * runs, "{lazily} beyond {runs}: that is no flood");
        assert!(answers > 100, "only {answers} were asked");
        assert_eq!(linux.counts(2), (answers, 0));
        let region = linux.dispatcher.handler(linux.attached[flooded]).expect("it is there").region();
        assert_eq!(region.expect("it has one").number(0).load(Relaxed), runs, "counted as they are");
    });
}

/// Handlers of one owner that many processors run at once have one share of all.
#[test]
fn processors_count_one_share() {
    at_a_dispatcher("processors", ENDLESS, |linux| {
        let flow = linux.attach(1, to_port(7000));
        linux.share(1, Share { runs: 1000, ..ENDLESS });
        let sent = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut near = Line::beside("near").expect("it is there");
                    for _ in 0..1000 {
                        near.send(&add(7000, 1)).expect("it is there");
                        sent.fetch_add(1, Relaxed);
                    }
                });
            }
        });
        std::thread::sleep(Duration::from_millis(100));
        let counts = linux.dispatcher.counts(linux.attached[flow]).expect("it is there");
        assert_eq!((counts.runs, counts.missed), (1000, 0));
        assert!(counts.lazily > 0 && counts.runs + counts.lazily <= sent.load(Relaxed), "{counts:?}");
    });
}
