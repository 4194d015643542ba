//! `Restricted(messages: "Open, Read", rate: 100, burst: 10)`: access control and rate limiting. Clients may send only
//! these messages, `rate` of them a second, in bursts of at most `burst`. A client that sends another message loses its
//! communication; a client that is too fast waits.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::Any;
use core::cell::RefCell;

use drystone_component::{Interface, Side};
use drystone_runtime::binding::Factory;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::messages::listed;
use super::options::{SOME, count, only};
use super::services::Services;
use super::time::Time;
use super::wrap::Wrap;

struct Rule {
    interface: &'static Interface,
    /// For each message: whether it may be sent. `None`: all may.
    allowed: Option<Vec<bool>>,
    /// Nanoseconds between two messages; 0: no limit.
    pause: u64,
    /// Nanoseconds that a message may be early, in a burst.
    ahead: u64,
    time: Rc<dyn Time>,
    /// When the next message is due, over all clients of the binding.
    next: RefCell<u64>,
}

/// Wraps the halves of a binding in restricted ones.
struct Guarding(Rc<Rule>);

pub(super) fn guarding(
    interface: &'static Interface,
    factory: &Factory<'_>,
    services: &Services,
) -> Result<Box<dyn Wrap>, String> {
    only(factory, &["messages", "rate", "burst"])?;
    let pause = count(factory, "rate", SOME)?.map_or(0, |rate| 1_000_000_000 / rate);
    if pause == 0 && factory.option("burst").is_some() {
        return Err("Restricted: burst says nothing without rate".into());
    }
    let ahead = (count(factory, "burst", SOME)?.unwrap_or(1) - 1) * pause;
    let allowed = listed(factory, "messages", interface)?;
    let time = services.time.clone();
    let rule = Rule { interface, allowed, pause, ahead, time, next: RefCell::new(0) };
    Ok(Box::new(Guarding(Rc::new(rule))))
}

impl Wrap for Guarding {
    fn wrap(&self, inner: Box<dyn Far>, near: Side) -> Box<dyn Far> {
        Box::new(Guarded { inner, near, rule: self.0.clone(), pump: None, timer: None, refused: None })
    }
}

impl Rule {
    /// Why a message may not be sent; `None`: it may.
    fn refuse(&self, message: usize) -> Option<String> {
        let is_allowed = self.allowed.as_ref().is_none_or(|allowed| allowed.get(message) == Some(&true));
        let messages = self.interface.messages.get();
        (!is_allowed && message < messages.len())
            .then(|| format!("this client may not send {}", messages[message].name.get()))
    }

    /// When the next message may be sent, if not now.
    fn wait(&self) -> Option<u64> {
        let next = self.next.borrow().saturating_sub(self.ahead);
        (self.pause != 0 && next > self.time.now()).then_some(next)
    }

    /// Counts a message.
    fn count(&self) {
        if self.pause != 0 {
            let next = self.time.now().max(*self.next.borrow()) + self.pause;
            *self.next.borrow_mut() = next;
        }
    }
}

struct Guarded {
    inner: Box<dyn Far>,
    /// The side on which this half stands. Restrictions apply to the client.
    near: Side,
    rule: Rc<Rule>,
    pump: Option<Waker>,
    timer: Option<Box<dyn Any>>,
    /// Why the client was refused.
    refused: Option<String>,
}

impl Guarded {
    /// Whether the client has to wait. The pump is woken when the wait is over.
    fn has_to_wait(&mut self) -> bool {
        let Some(next) = self.rule.wait() else { return false };
        self.timer = self.pump.clone().map(|pump| self.rule.time.wake_at(next, pump));
        true
    }
}

impl Far for Guarded {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump.clone());
        self.inner.attach(pump);
    }

    fn has_room(&mut self) -> bool {
        self.inner.has_room() && !(self.near == Side::Client && self.has_to_wait())
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if self.near == Side::Client {
            if self.refused.is_none() {
                self.refused = self.rule.refuse(message);
                if let (Some(_), Some(pump)) = (&self.refused, &self.pump) {
                    pump.wake();
                }
            }
            if self.refused.is_some() {
                return;
            }
            self.rule.count();
        }
        self.inner.send(message, values);
    }

    fn receive(&mut self) -> Arrival {
        if let Some(reason) = self.refused.clone() {
            return Arrival::Lost(reason);
        }
        let arrival = self.inner.receive();
        let Arrival::Message(message) = arrival else { return arrival };
        if self.near == Side::Client {
            return arrival;
        }
        match self.rule.refuse(message) {
            Some(reason) => Arrival::Lost(reason),
            None if self.has_to_wait() => Arrival::Nothing,
            None => arrival,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        if self.near == Side::Server {
            self.rule.count();
        }
        self.inner.take(values)
    }

    fn slot(&self) -> usize {
        self.inner.slot()
    }

    fn close(&mut self) {
        self.inner.close();
    }
}
