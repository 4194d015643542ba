//! Visitors do the same whether they take the place of a client, or their messages are moved.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::common::*;
use drystone_component::wire::{Sink, Source};
use drystone_component::{Interface, Side, Template, Type};
use drystone_runtime::entry_points::ds_connect;
use drystone_runtime::far::{Exported, Far, Said, Seat, Visitor, Waker, as_far, door};
use drystone_runtime::layout::*;
use drystone_runtime::near::{listen, proxy};

const SAY: usize = 0;
const HEARD: usize = 1;
const LAST: usize = 2;

once! {
    // `{ IN Say(x) ( OUT Heard(x) | OUT Last(x) ) }`
    TALK: Interface = interface(
        "Talk",
        &[
            ("Say", Side::Client, &[Type::Integer]),
            ("Heard", Side::Server, &[Type::Integer]),
            ("Last", Side::Server, &[Type::Integer]),
        ],
        &[(true, &[(SAY, 1)]), (false, &[(HEARD, 0), (LAST, 0)])],
    );
    // Answers with what it has heard, and ends with `Last` when that is 9.
    SERVER: Template = template("Server").offers(*TALK, &[
        |c| unsafe { c.test(c.client(), *TALK, Side::Server, SAY as i32, 99) },
        |c| unsafe { c.receive(c.client(), *TALK, SAY as u32, &[0]) },
        |c| unsafe { if *c.r(0) == 9 { To(5) } else { Go } },
        |c| unsafe { c.send(c.client(), *TALK, HEARD as u32, &[*c.r(0)]) },
        |_| To(0),
        |c| unsafe { c.send(c.client(), *TALK, LAST as u32, &[*c.r(0)]) },
    ]).done();
    // Fails when it has heard something, a while later.
    FAILING: Template = template("Failing").isolated().offers(*TALK, &[
        |c| unsafe { c.receive(c.client(), *TALK, SAY as u32, &[0]) },
        |c| unsafe { c.passivate(5) },
        |c| unsafe { c.fail(Fault::AssertionFailed, 1) },
    ]).done();
    // `{ IN Say(x) }`
    STREAM: Interface = interface("Stream", &[("Say", Side::Client, &[Type::Integer])], &[(true, &[(SAY, 0)])]);
    // Adds up what comes, and writes the sum when its client has closed.
    SUM: Template = template("Sum").offers(*STREAM, &[
        |c| unsafe { c.test(c.client(), *STREAM, Side::Server, SAY as i32, 4) },
        |c| unsafe { c.receive(c.client(), *STREAM, SAY as u32, &[0]) },
        |c| unsafe { *c.v(0) += *c.r(0); Go },
        |_| To(0),
        |c| unsafe { c.number(*c.v(0)) },
    ]).done();
}

#[derive(Clone, Copy)]
enum Act {
    Say(usize, i64),
    Take(usize),
    Quit,
}

use Act::*;

/// Visits one after the other what a server offers.
#[derive(Clone)]
struct Plan {
    server: &'static Template,
    interface: &'static Interface,
    visits: Vec<Vec<Act>>,
    /// What is offered is elsewhere itself.
    is_far: bool,
    is_moved: bool,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
    static DIARY: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn plan() -> Plan {
    PLAN.with_borrow(|plan| plan.clone().expect("a test has made one"))
}

struct Number(i64);

impl Source for Number {
    fn integer(&self, _: usize) -> i64 {
        self.0
    }

    fn real(&self, _: usize) -> f64 {
        unreachable!("all values are integers")
    }

    fn byte(&self, _: usize) -> u8 {
        unreachable!("all values are integers")
    }

    fn text(&self, _: usize) -> &[u8] {
        unreachable!("all values are integers")
    }
}

impl Sink for Number {
    fn integer(&mut self, value: i64) -> Result<(), String> {
        self.0 = value;
        Ok(())
    }

    fn real(&mut self, _: f64) -> Result<(), String> {
        Err("all values are integers".into())
    }

    fn byte(&mut self, _: u8) -> Result<(), String> {
        Err("all values are integers".into())
    }

    fn text(&mut self, _: &[u8]) -> Result<(), String> {
        Err("all values are integers".into())
    }
}

/// Does what it is to do, and writes down what becomes of it.
struct Guest {
    number: usize,
    acts: VecDeque<Act>,
    seat: Option<Rc<dyn Seat>>,
    /// The server has said its last.
    has_ended: bool,
}

impl Guest {
    fn note(&self, what: &str) {
        DIARY.with_borrow_mut(|diary| diary.push(format!("{} {what}", self.number)));
    }

    /// Whether that is done; if not, it is tried again.
    fn does(&mut self, act: Act, seat: &dyn Seat) -> bool {
        match act {
            Say(message, value) => match seat.say(message, &Number(value)) {
                Ok(Said::Waits) => return false,
                Ok(Said::Done) if !self.has_ended => self.note("said"),
                // Another communication may have begun with it.
                Ok(Said::Done | Said::Anew) => {
                    self.note("begins anew");
                    self.acts.clear();
                    seat.leave();
                }
                Err(why) => self.note(&why),
            },
            Take(message) => {
                let mut value = Number(-1);
                match seat.take(message, &mut value) {
                    Ok(false) => return false,
                    Ok(true) => {
                        self.has_ended = message == LAST;
                        self.note(&format!("took {}", value.0));
                    }
                    // When it is known that the server has ended isn't the same.
                    Err(_) if self.has_ended => self.note("nothing comes"),
                    Err(why) => self.note(&why),
                }
            }
            Quit => {
                self.note(if seat.may_leave() { "leaves" } else { "runs away" });
                self.acts.clear();
                seat.leave();
            }
        }
        true
    }
}

impl Visitor for Guest {
    fn sit(&mut self, seat: Rc<dyn Seat>) {
        self.seat = Some(seat);
    }

    fn go_on(&mut self) {
        let seat = self.seat.clone().expect("it sits before it has the turn");
        while let Some(act) = self.acts.pop_front() {
            if !self.does(act, &*seat) {
                self.acts.push_front(act);
                return;
            }
        }
    }

    fn over(&mut self, how: Result<(), String>) {
        self.note(&format!("over: {how:?}"));
        self.acts.clear();
    }
}

/// What has come from outside.
struct Come(VecDeque<Guest>);

impl Exported for Come {
    fn attach(&mut self, _: Waker) {}

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        let guest = if plan().is_moved { self.0.pop_front() } else { None };
        guest.map(|guest| as_far(Box::new(guest), plan().interface))
    }

    fn visitor(&mut self) -> Option<Box<dyn Visitor>> {
        let guest = if plan().is_moved { None } else { self.0.pop_front() };
        guest.map(|guest| Box::new(guest) as Box<dyn Visitor>)
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

once! {
    MAIN: Template = template("Main").virtual_time().holds(0).main(&[
        |c| unsafe { c.create(c.container(0), plan().server) },
        |c| unsafe {
            let Plan { interface, visits, is_far, .. } = plan();
            let guest = |(number, acts): (usize, Vec<Act>)| {
                Guest { number, acts: acts.into(), seat: None, has_ended: false }
            };
            let come = Come(visits.into_iter().enumerate().map(guest).collect());
            let behind = listen(c.at_home(), interface, Box::new(come), "a visit").expect("there is memory");
            let mut target = c.offered(*c.container(0), 0).expose_provenance();
            if is_far {
                let (entrance, door) = door(2);
                let within = listen(c.at_home(), interface, Box::new(door), "door").expect("there is memory");
                assert!(ds_connect(c.w, c.p, within, target, 3) == Status::Done);
                target = proxy(c.at_home(), interface, Box::new(entrance), "door").expect("there is memory");
            }
            status(ds_connect(c.w, c.p, behind, target, 3))
        },
        |c| unsafe { c.passivate(100) },
        |c| unsafe { c.delete(c.container(0)) },
    ]).done();
}

/// What was written down in the visits, each visitor's lines together, and what the program did.
fn went(plan: &Plan) -> (Vec<String>, Ran) {
    PLAN.set(Some(plan.clone()));
    DIARY.take();
    let ran = run(*MAIN);
    let left = (ran.outcome.live_bytes, ran.outcome.live_processes);
    assert_eq!(left, (0, 0), "{} {} {:?}", plan.is_moved, ran.errors, DIARY.take());
    let mut diary = DIARY.take();
    diary.sort_by_key(|line| line.split(' ').next().unwrap_or_default().to_string());
    (diary, ran)
}

/// The same, which goes all ways.
fn visit(server: &'static Template, interface: &'static Interface, visits: &[&[Act]]) -> (Vec<String>, Ran) {
    let visits = visits.iter().map(|acts| acts.to_vec()).collect();
    let plan = Plan { server, interface, visits, is_far: false, is_moved: false };
    let (diary, ran) = went(&plan);
    for (is_far, is_moved) in [(false, true), (true, false), (true, true)] {
        let (other, other_ran) = went(&Plan { is_far, is_moved, ..plan.clone() });
        assert_eq!(diary, other, "far: {is_far}, moved: {is_moved}");
        assert_eq!((&ran.output, ran.outcome.status), (&other_ran.output, other_ran.outcome.status));
        assert_eq!(ran.errors, other_ran.errors);
    }
    (diary, ran)
}

#[test]
fn what_is_asked_is_answered() {
    let asks: &[Act] = &[Say(SAY, 1), Take(HEARD), Say(SAY, 2), Take(HEARD), Quit];
    let (diary, ran) = visit(*SERVER, *TALK, &[asks, asks]);
    let one = ["said", "took 1", "said", "took 2", "leaves"];
    let both: Vec<String> = (0..2).flat_map(|guest| one.map(|line| format!("{guest} {line}"))).collect();
    assert_eq!((diary, ran.errors.as_str()), (both, ""));
}

#[test]
fn a_stream_waits_for_room() {
    let mut acts = vec![Say(SAY, 3); 100];
    acts.push(Quit);
    let (diary, ran) = visit(*SUM, *STREAM, &[&acts]);
    assert_eq!((diary.len(), ran.output.as_str(), ran.errors.as_str()), (101, "300", ""));
}

#[test]
fn what_the_protocol_does_not_allow_is_refused_and_nothing_else() {
    let acts = [Take(HEARD), Say(HEARD, 1), Say(SAY, 4), Say(SAY, 5), Take(LAST), Take(HEARD), Quit];
    let (diary, ran) = visit(*SERVER, *TALK, &[&acts]);
    assert_eq!(
        diary,
        [
            "0 Heard is received where nothing can come",
            "0 Heard is sent where the protocol doesn't allow that",
            "0 said",
            "0 Say is sent where the protocol doesn't allow that",
            "0 Last is received where Heard has come",
            "0 took 4",
            "0 leaves",
        ]
    );
    assert_eq!(ran.errors, "");
}

#[test]
fn after_the_end_another_communication_begins() {
    let (diary, ran) = visit(*SERVER, *TALK, &[&[Say(SAY, 9), Take(LAST), Say(SAY, 1)]]);
    assert_eq!(ran.errors, "");
    assert_eq!(diary[..2], ["0 said", "0 took 9"]);
    assert!(diary.contains(&"0 begins anew".into()), "{diary:?}");
}

#[test]
fn who_runs_away_disturbs_nobody() {
    let runs: &[Act] = &[Say(SAY, 1), Quit];
    let asks: &[Act] = &[Say(SAY, 2), Take(HEARD), Quit];
    let (diary, ran) = visit(*SERVER, *TALK, &[runs, asks, runs, asks]);
    assert_eq!(diary.iter().filter(|line| line.ends_with("took 2")).count(), 2, "{diary:?}");
    assert_eq!((ran.errors.as_str(), ran.outcome.status), ("", 0));
}

#[test]
fn a_server_that_fails_is_over() {
    for (is_far, is_moved) in [(false, false), (false, true), (true, false), (true, true)] {
        let visits = vec![vec![Say(SAY, 1), Take(HEARD), Quit]];
        let plan = Plan { server: *FAILING, interface: *TALK, visits, is_far, is_moved };
        let (diary, ran) = went(&plan);
        let told = "the server has ended it";
        assert!(
            diary[0] == "0 said" && diary[1].contains(told),
            "far: {is_far}, moved: {is_moved}, {diary:?}"
        );
        assert_eq!(ran.errors.matches("error").count(), 1, "{}", ran.errors);
    }
}

/// Whatever is said and taken in whatever order.
#[test]
fn both_ways_are_the_same() {
    let mut seed = 0x5eed_u64;
    let mut below = move |limit: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % limit
    };
    for _ in 0..if cfg!(miri) { 5 } else { 500 } {
        let mut acts = |count| -> Vec<Act> {
            let act = |_| match below(8) {
                0..3 => Say(SAY, below(10) as i64),
                3..6 => Take(HEARD),
                6 => [Take(LAST), Take(SAY), Say(HEARD, 1)][below(3) as usize],
                _ if below(3) == 0 => Quit,
                _ => Take(HEARD),
            };
            (0..count).map(act).chain([Quit]).collect()
        };
        let visits = [acts(12), acts(3)];
        let visits: Vec<&[Act]> = visits.iter().map(|acts| acts.as_slice()).collect();
        let (_, ran) = visit(*SERVER, *TALK, &visits);
        assert_eq!((ran.errors.as_str(), ran.outcome.status), ("", 0));
    }
}
