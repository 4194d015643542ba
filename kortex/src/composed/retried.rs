//! `Retried(messages: "Get, List", attempts: 3, pause: 100, deadline: 1000)`: retries the listed requests. If a request
//! or its answer is lost, it is made again after a pause, in milliseconds, which doubles each time. A request without
//! an answer within `deadline` counts as lost. The server may carry out a retried request more than once, so only a
//! program that knows the requests can say which to list.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::Any;
use core::cell::RefCell;

use drystone_component::Interface;
use drystone_component::calls::Calls;
use drystone_runtime::binding::Factory;
use drystone_runtime::far::{Arrival, Far, Filling, Letter, Outgoing, Reach, Waker};

use super::messages::listed;
use super::options::{ANY, MILLISECOND, SOME, count, only};
use super::services::Services;
use super::time::Time;

struct Rule {
    /// For each message: whether it is a request that may be retried.
    repeatable: Vec<bool>,
    attempts: u64,
    pause: u64,
    /// 0: there is none.
    deadline: u64,
    time: Rc<dyn Time>,
}

struct Retried {
    inner: Rc<RefCell<Box<dyn Reach>>>,
    rule: Rc<Rule>,
}

pub(super) fn put_before(
    inner: Box<dyn Reach>,
    interface: &'static Interface,
    factory: &Factory<'_>,
    services: &Services,
) -> Result<Box<dyn Reach>, String> {
    only(factory, &["messages", "attempts", "pause", "deadline"])?;
    let calls = Calls::of(interface).map_err(|why| "Retried: ".to_string() + &why.to_string())?;
    if interface.messages.get().iter().any(|message| message.has_component()) {
        return Err("Retried: there can't be two of a component that a message carries".into());
    }
    let repeatable = listed(factory, "messages", interface)?
        .ok_or("Retried needs messages: which requests may be carried out twice")?;
    if let Some(call) = calls.calls.iter().find(|call| repeatable[call.message] && call.answers.is_empty()) {
        let name = interface.messages.get()[call.message].name.get();
        return Err(format!("Retried: {name} has no answer, so nobody knows when it was lost"));
    }
    let rule = Rule {
        repeatable,
        attempts: count(factory, "attempts", SOME)?.unwrap_or(3),
        pause: count(factory, "pause", ANY)?.unwrap_or(100) * MILLISECOND,
        deadline: count(factory, "deadline", SOME)?.unwrap_or(0) * MILLISECOND,
        time: services.time.clone(),
    };
    Ok(Box::new(Retried { inner: Rc::new(RefCell::new(inner)), rule: Rc::new(rule) }))
}

impl Reach for Retried {
    fn begin(&mut self) -> Box<dyn Far> {
        let far = self.inner.borrow_mut().begin();
        let (reach, rule) = (self.inner.clone(), self.rule.clone());
        Box::new(Trying {
            far: Some(far),
            reach,
            rule,
            pump: None,
            request: None,
            unsent: false,
            timer: None,
        })
    }
}

/// A request that isn't answered yet.
struct Request {
    message: usize,
    letter: Letter,
    /// The number of attempts so far.
    tries: u64,
    /// When this attempt counts as lost.
    until: u64,
}

struct Trying {
    /// `None` between two attempts.
    far: Option<Box<dyn Far>>,
    reach: Rc<RefCell<Box<dyn Reach>>>,
    rule: Rc<Rule>,
    pump: Option<Waker>,
    request: Option<Request>,
    /// The request waits for room, for instance until a connection is established.
    unsent: bool,
    timer: Option<Box<dyn Any>>,
}

impl Trying {
    fn wake_at(&mut self, time: u64) {
        self.timer = self.pump.clone().map(|pump| self.rule.time.wake_at(time, pump));
    }

    fn begin(&mut self) -> &mut Box<dyn Far> {
        let mut far = self.reach.borrow_mut().begin();
        if let Some(pump) = &self.pump {
            far.attach(pump.clone());
        }
        self.far.insert(far)
    }

    /// Makes the request again, when there is room. Its pause is over.
    fn again(&mut self) {
        self.begin();
        let until = self.deadline();
        if let Some(request) = &mut self.request {
            request.until = until;
            self.unsent = true;
        }
        if until != u64::MAX {
            self.wake_at(until);
        }
    }

    /// Sends a request that waited for room, if there is room now.
    fn send_late(&mut self) {
        if let (true, Some(far), Some(request)) = (self.unsent, &mut self.far, &self.request)
            && far.has_room()
        {
            let mut letter = request.letter.copy();
            far.send(request.message, letter.as_outgoing());
            self.unsent = false;
        }
    }

    fn deadline(&self) -> u64 {
        match self.rule.deadline {
            0 => u64::MAX,
            deadline => self.rule.time.now().saturating_add(deadline),
        }
    }

    /// Handles a failed attempt. `why` is the error, if it was the last one.
    fn failed(&mut self, why: String) -> Arrival {
        (self.far, self.unsent) = (None, false);
        let Some(request) = &mut self.request else { return Arrival::Lost(why) };
        if request.tries >= self.rule.attempts {
            return Arrival::Lost(why);
        }
        let pause = self.rule.pause.saturating_mul(1 << (request.tries - 1).min(20));
        request.tries += 1;
        request.until = self.rule.time.now().saturating_add(pause);
        let until = request.until;
        self.wake_at(until);
        Arrival::Nothing
    }
}

impl Far for Trying {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump.clone());
        if let Some(far) = &mut self.far {
            far.attach(pump);
        }
    }

    fn has_room(&mut self) -> bool {
        self.send_late();
        !self.unsent && self.far.as_mut().is_none_or(|far| far.has_room())
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if self.far.is_none() {
            self.begin();
        }
        let Some(far) = &mut self.far else { return };
        if !self.rule.repeatable[message] {
            return far.send(message, values);
        }
        let letter = values.into_letter();
        far.send(message, letter.copy().as_outgoing());
        let until = self.deadline();
        self.request = Some(Request { message, letter, tries: 1, until });
        if until != u64::MAX {
            self.wake_at(until);
        }
    }

    fn receive(&mut self) -> Arrival {
        let late = self.request.as_ref().is_some_and(|request| request.until <= self.rule.time.now());
        self.send_late();
        let Some(far) = &mut self.far else {
            if !late {
                return Arrival::Nothing;
            }
            self.again();
            // The new communication may be lost already.
            return self.receive();
        };
        match far.receive() {
            Arrival::Lost(why) => self.failed(why),
            Arrival::Nothing if late => self.failed("there was no answer before the deadline".into()),
            other => other,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        self.request = None;
        self.timer = None;
        self.far.as_mut().ok_or("there is no message")?.take(values)
    }

    fn slot(&self) -> usize {
        1
    }

    fn close(&mut self) {
        if let Some(far) = &mut self.far {
            far.close();
        }
    }
}
