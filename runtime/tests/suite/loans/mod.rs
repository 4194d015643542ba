//! Loans between components in Rust: calls over a loan, and what ends it. Under Miri, each use of a loan that has ended
//! would be found.

mod adder;
mod circle;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Poll;

use crate::common::*;
use adder::{Adds, AddsAtOnce, Client};
use drystone_component::{Interface, Program, Side, Table, Template, Type};
use drystone_runtime::binding::Rebind;
use drystone_runtime::layout::*;
use drystone_runtime::native::{
    Activity, Caller, Closed, Component, Design, Kind, Ports, Requirement, Serving, Waiter, unpark,
};
use drystone_runtime::template_of;

/// A program that knows the interface.
fn knowing() -> &'static Program {
    let messages = &[("Add", Side::Client, &[Type::Integer][..]), ("Sum", Side::Server, &[Type::Integer])];
    let adder = interface("Adder", messages, &[(true, &[(0, 1)]), (false, &[(1, 0)])]);
    let Program { entry, files, locations, names, suspension_points, enter, native_shim, .. } =
        *program(template("Empty").done());
    let interfaces = Table::new(Box::leak(Box::new([adder as *const Interface])));
    Box::leak(Box::new(Program {
        entry,
        files,
        locations,
        names,
        suspension_points,
        enter,
        native_shim,
        interfaces,
        procedures: Table::new(&[]),
    }))
}

fn kind(name: &'static str, offers: bool, requires: bool) -> &'static Kind {
    let design = Design {
        offers: if offers { &[&adder::DECLARATION] } else { &[] },
        requires: if requires { &[Requirement { declaration: &adder::DECLARATION, most: 0 }] } else { &[] },
        is_active: requires,
    };
    Kind::of(*KNOWN, name, design).expect("the interface is known")
}

once! {
    KNOWN: Program = knowing();
    SERVER: Kind = kind("Server", true, false);
    ASKER: Kind = kind("Asker", false, true);
}

/// Puts a new native component into a variable.
unsafe fn make(c: C, variable: usize, kind: &'static Kind, component: impl Component) -> Next {
    unsafe {
        let instance = kind.instance(c.w, Box::new(component));
        (*instance).holder = c.me().expose_provenance();
        *c.container(variable) = instance;
        Go
    }
}

/// Makes a server in the first container and its client in the second one.
unsafe fn server_and_client(c: C) -> Next {
    unsafe {
        make(c, 0, *SERVER, Sums::default());
        make(c, 1, *ASKER, Asker);
        c.connect(*c.container(1), 0, *c.container(0), 0)
    }
}

/// A variable of a component.
unsafe fn variable(of: *mut Instance, index: usize) -> *mut Instance {
    unsafe {
        let size = (*template_of(of)).size as usize;
        *of.byte_add(size - 8 * (VARIABLES - index)).cast::<*mut Instance>()
    }
}

/// A server whose objects add up, each for itself; all of them count the calls.
#[derive(Clone, Default)]
struct Sums {
    sum: i64,
    calls: Rc<Cell<u32>>,
}

impl Component for Sums {
    fn serve(&mut self, _: usize) -> Serving {
        adder::serve(self.clone())
    }
}

impl AddsAtOnce for Sums {
    fn add(&mut self, x: i64) -> i64 {
        self.calls.set(self.calls.get() + 1);
        self.sum += x;
        self.sum
    }
}

/// One whose calls wait for [`OPEN`] when they add nothing, and fail when they take something away.
struct Patient;

impl Component for Patient {
    fn serve(&mut self, _: usize) -> Serving {
        adder::serve(Patient)
    }
}

impl Adds for Patient {
    fn add(&mut self, caller: &Caller, x: i64) -> Poll<i64> {
        if x < 0 {
            caller.fail("it takes nothing away\n");
            return Poll::Pending;
        }
        if x == 0 && !OPEN.get() {
            WAITER.set(Some(caller.waiter()));
            return Poll::Pending;
        }
        Poll::Ready(x + 1)
    }
}

/// What an asker is to do.
#[derive(Clone, Copy)]
enum Order {
    /// A call as it comes.
    Call(i64),
    /// One by the port's other client.
    Other(i64),
    /// One over a loan only.
    Now(i64),
    Stop,
}

use Order::*;

thread_local! {
    static ORDERS: RefCell<VecDeque<Order>> = RefCell::default();
    /// Who waits for orders, or in a call.
    static WAITER: Cell<Option<Waiter>> = const { Cell::new(None) };
    static OPEN: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<String> = RefCell::default();
}

fn say(what: &str) {
    SAID.with_borrow_mut(|said| *said += what);
}

fn say_sum(sum: Result<i64, Closed>) {
    match sum {
        Ok(sum) => say(&format!("{sum} ")),
        Err(Closed) => say("closed "),
    }
}

/// Gives the asker orders; the step behind has to let it run.
unsafe fn order(c: C, orders: &[Order]) -> Next {
    ORDERS.with_borrow_mut(|all| all.extend(orders));
    if let Some(waiter) = WAITER.take() {
        unsafe { unpark(c.w, waiter.process) };
    }
    Go
}

struct Asker;

impl Component for Asker {
    fn serve(&mut self, _: usize) -> Serving {
        unreachable!("it offers nothing")
    }

    fn begin(&mut self, ports: Ports) -> Activity {
        let (mut client, mut other) = (Client::of(&ports), Client::of(&ports));
        Box::pin(async move {
            loop {
                let next = ports.until(|waiter| {
                    let next = ORDERS.with_borrow_mut(VecDeque::pop_front);
                    WAITER.set(next.is_none().then_some(waiter));
                    next.map_or(Poll::Pending, Poll::Ready)
                });
                match next.await {
                    Call(x) => say_sum(client.add(x).await),
                    Other(x) => say_sum(other.add(x).await),
                    Now(x) => match client.add_now(x) {
                        Some(sum) => say(&format!("={sum} ")),
                        None => say("- "),
                    },
                    Stop => return,
                }
            }
        })
    }
}

/// What was said while a program ran that ends well and leaves nothing behind.
fn said(entry: &'static Template) -> String {
    output_of(entry);
    SAID.take()
}

#[test]
fn what_has_answered_once_is_lent() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { server_and_client(c) },
            |c| unsafe { order(c, &[Now(1), Call(1), Now(2), Call(3), Now(4), Stop]) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "- 1 =3 6 =10 ");
}

#[test]
fn a_loan_ends_when_another_client_of_the_port_calls() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { server_and_client(c) },
            |c| unsafe { order(c, &[Call(1), Now(1), Other(1), Now(1), Call(1), Now(1), Stop]) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "1 =2 3 - 4 =5 ");
}

#[test]
fn who_is_bound_anew_while_it_has_a_loan_calls_the_other_server() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { make(c, 0, *SERVER, Sums::default()) },
            |c| unsafe { make(c, 1, *SERVER, Sums { sum: 100, ..Sums::default() }) },
            |c| unsafe { make(c, 2, *ASKER, Asker) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(0), 0) },
            |c| unsafe { order(c, &[Call(1), Now(1)]) },
            |c| unsafe { c.passivate(5) },
            // It is to call before the server hears that it is let go.
            |c| unsafe { order(c, &[Now(1), Call(1), Now(1)]) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(1), 0) },
            |c| unsafe { c.passivate(5) },
            // And back.
            |c| unsafe { order(c, &[Now(1), Call(1), Now(1), Stop]) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(0), 0) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "1 =2 - 101 =102 - 1 =2 ");
}

/// Binds the asker in variable 2 to nothing any more.
unsafe fn unbind(c: C) -> Next {
    let (path, interface) = ("Main.c".into(), "Adder".into());
    let rebind = Rebind { path, interface, slot: 1, binding: None };
    unsafe { drystone_runtime::binding::rebind(c.w, rebind, Box::new(|told| say(&format!("{told:?} ")))) };
    Go
}

#[test]
fn a_loan_ends_when_a_running_program_is_rebound() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { make(c, 0, *SERVER, Sums::default()) },
            |c| unsafe { make(c, 1, *SERVER, Sums { sum: 100, ..Sums::default() }) },
            |c| unsafe { make(c, 2, *ASKER, Asker) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(0), 0) },
            |c| unsafe { order(c, &[Call(1), Now(1)]) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { order(c, &[Now(1), Call(1), Now(1), Stop]) },
            |c| unsafe { unbind(c) },
            |c| unsafe { c.passivate(5) },
            |_| { say("| "); Go },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(1), 0) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "1 =2 Ok(()) - | 101 =102 ");
}

#[test]
fn a_server_that_is_being_deleted_serves_until_its_client_leaves() {
    once! {
        // While Main waits for the server's end, it has Main's client call, and leave.
        HELPER: Template = template("Helper").main(&[
            |c| unsafe { c.passivate(10) },
            |c| unsafe { order(c, &[Now(1), Call(1), Now(1)]) },
            |c| unsafe { c.passivate(10) },
            |c| unsafe {
                let main = std::ptr::with_exposed_provenance_mut((*c.me()).holder);
                c.disconnect(variable(main, 1), 0)
            },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { server_and_client(c) },
            |c| unsafe { order(c, &[Call(1), Now(1)]) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.create(c.container(2), *HELPER) },
            |c| unsafe { c.delete(c.container(0)) },
            |_| { say("| "); Go },
            // Now a call waits for another server.
            |c| unsafe { order(c, &[Now(1), Call(5)]) },
            |c| unsafe { c.passivate(5) },
            |_| { say("| "); Go },
            |c| unsafe { make(c, 0, *SERVER, Sums::default()) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { order(c, &[Now(1), Stop]) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "1 =2 =3 4 =5 | - | 5 =6 ");
}

#[test]
fn a_client_that_ends_gives_back_what_it_has_borrowed() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { server_and_client(c) },
            |c| unsafe { order(c, &[Call(1), Now(1), Stop]) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.delete(c.container(1)) },
            |c| unsafe { make(c, 1, *ASKER, Asker) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { order(c, &[Now(1), Call(1), Now(1), Stop]) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "1 =2 - 1 =2 ");
}

#[test]
fn a_method_that_waits_is_called_again_the_usual_way() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { make(c, 0, *SERVER, Patient) },
            |c| unsafe { make(c, 1, *ASKER, Asker) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            // Who may wait doesn't answer at once, but over the loan nevertheless.
            |c| unsafe { order(c, &[Call(1), Now(1), Call(2), Call(0)]) },
            |c| unsafe { c.passivate(5) },
            |_| { OPEN.set(true); say("| "); Go },
            |c| unsafe { order(c, &[Call(3), Stop]) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "2 - 3 | 1 4 ");
}

#[test]
fn a_method_that_fails_over_a_loan_ends_the_program() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).main(&[
            |c| unsafe { make(c, 0, *SERVER, Patient) },
            |c| unsafe { make(c, 1, *ASKER, Asker) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { order(c, &[Call(1), Call(2), Call(-1), Call(3), Stop]) },
            |c| unsafe { c.passivate(5) },
            |_| { say("not reached"); Go },
        ]).done();
    }
    let ran = run(*MAIN);
    assert_eq!(ran.errors, "it takes nothing away\n");
    assert_eq!(ran.outcome.status, 1);
    assert_eq!(SAID.take(), "2 3 ");
}

#[test]
fn a_server_that_goes_with_an_isolated_component_has_nothing_lent() {
    once! {
        HOLDER: Template = template("Holder").isolated().holds(0).main(&[
            |c| unsafe { make(c, 0, *SERVER, Sums::default()) },
            |c| unsafe { c.passivate(20) },
            |c| unsafe { c.fail(Fault::AssertionFailed, 1) },
        ]).done();
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { make(c, 1, *ASKER, Asker) },
            |c| unsafe { c.create(c.container(0), *HOLDER) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.connect(*c.container(1), 0, variable(*c.container(0), 0), 0) },
            |c| unsafe { order(c, &[Call(1), Now(1)]) },
            |c| unsafe { c.passivate(50) },
            |c| unsafe { order(c, &[Now(1), Call(1)]) },
            |c| unsafe { c.passivate(5) },
            |_| { say("| "); Go },
            |c| unsafe { make(c, 2, *SERVER, Sums::default()) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(2), 0) },
            |c| unsafe { order(c, &[Now(1), Call(5), Now(1), Stop]) },
        ]).done();
    }
    let ran = run(*MAIN);
    assert!(ran.errors.contains("in Main.a"), "{}", ran.errors);
    assert_eq!((ran.outcome.status, ran.outcome.live_processes, ran.outcome.live_bytes), (0, 0, 0));
    assert_eq!(SAID.take(), "1 =2 - closed | - 5 =6 ");
}

fn adder() -> &'static Interface {
    // SAFETY: it lies there for ever.
    unsafe { &*KNOWN.interfaces.get()[0] }
}

/// A server that says what it is told to add.
struct Aloud;

impl Component for Aloud {
    fn serve(&mut self, _: usize) -> Serving {
        adder::serve(Aloud)
    }
}

impl AddsAtOnce for Aloud {
    fn add(&mut self, x: i64) -> i64 {
        say(&format!("told {x} "));
        x
    }
}

#[test]
fn what_was_sent_before_halt_is_received() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).main(&[
            |c| unsafe { make(c, 0, *SERVER, Aloud) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), adder(), 0, &[5]) },
            |c| unsafe { c.halt(7) },
        ]).done();
    }
    assert_eq!(run(*MAIN).outcome.status, 7);
    assert_eq!(SAID.take(), "told 5 ");
}

#[test]
fn halt_waits_for_no_answer() {
    once! {
        MAIN: Template = template("Main").holds(0).main(&[
            |c| unsafe { make(c, 0, *SERVER, Patient) },
            |c| unsafe { c.send(c.reach_held(*c.container(0), 0), adder(), 0, &[0]) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.halt(7) },
        ]).done();
    }
    let begin = std::time::Instant::now();
    assert_eq!(run(*MAIN).outcome.status, 7);
    assert!(begin.elapsed().as_millis() < 900, "{:?}", begin.elapsed());
}

/// One that is woken by its like whenever it has woken that.
struct Restless;

thread_local! {
    static HOME: Cell<*mut Worker> = const { Cell::new(std::ptr::null_mut()) };
}

impl Component for Restless {
    fn serve(&mut self, _: usize) -> Serving {
        unreachable!("it offers nothing")
    }

    fn begin(&mut self, ports: Ports) -> Activity {
        Box::pin(async move {
            ports
                .until(|waiter| {
                    if let Some(other) = WAITER.replace(Some(waiter)) {
                        // SAFETY: both are alive until the program has ended.
                        unsafe { unpark(HOME.get(), other.process) };
                    }
                    Poll::<()>::Pending
                })
                .await;
        })
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes a second")]
fn halt_does_not_wait_long_for_those_that_never_end() {
    once! {
        MAIN: Template = template("Main").holds(0).holds(1).main(&[
            |c| { HOME.set(c.w); Go },
            |c| unsafe { make(c, 0, *ASKER, Restless) },
            |c| unsafe { make(c, 1, *ASKER, Restless) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.halt(7) },
        ]).done();
    }
    let begin = std::time::Instant::now();
    assert_eq!(run(*MAIN).outcome.status, 7);
    let taken = begin.elapsed().as_millis();
    assert!((900..5000).contains(&taken), "{taken} ms");
}
