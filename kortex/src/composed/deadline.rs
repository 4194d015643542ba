//! `deadline: 1000`, an option of the factory that reaches a name: when the protocol waits for the server, it may take
//! so many milliseconds. A server that takes longer counts as lost.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use core::any::Any;

use drystone_component::{Interface, Template};
use drystone_runtime::binding::Hints;
use drystone_runtime::far::{Arrival, Domain, Exported, Far, Filling, Outgoing, Reach, State, Waker};

use super::options::{MILLISECOND, SOME, count};
use super::services::Services;
use super::time::Time;
use crate::domain::offered_interface;

#[derive(Clone)]
struct Patience {
    /// In nanoseconds.
    length: u64,
    time: Rc<dyn Time>,
    /// The error that a client gets.
    complaint: String,
}

struct Rule {
    interface: &'static Interface,
    patience: Patience,
}

struct Impatient {
    inner: Box<dyn Reach>,
    rule: Rc<Rule>,
}

impl Patience {
    /// The deadline that a BY sets; `None`: it sets none.
    fn new(name: &str, hints: &Hints<'_>, services: &Services) -> Result<Option<Patience>, String> {
        let mut reaching = hints.factories.iter().filter(|factory| !services.is_composed(factory));
        let milliseconds = reaching.find_map(|factory| count(factory, "deadline", SOME).transpose());
        Ok(milliseconds.transpose()?.map(|milliseconds| Patience {
            length: milliseconds * MILLISECOND,
            time: services.time.clone(),
            complaint: format!("{name}: there was no answer in {milliseconds} ms"),
        }))
    }

    /// The deadline, for a wait that begins now.
    fn end(&self) -> u64 {
        self.time.now().saturating_add(self.length)
    }

    fn before(self, inner: Box<dyn Reach>, interface: &'static Interface) -> Box<dyn Reach> {
        Box::new(Impatient { inner, rule: Rc::new(Rule { interface, patience: self }) })
    }
}

/// Puts a deadline in front of the binding that reaches a name, if its BY sets one.
pub(super) fn put_before(
    reach: Box<dyn Reach>,
    interface: &'static Interface,
    name: &str,
    hints: &Hints<'_>,
    services: &Services,
) -> Result<Box<dyn Reach>, String> {
    Ok(match Patience::new(name, hints, services)? {
        Some(patience) => patience.before(reach, interface),
        None => reach,
    })
}

/// Puts a deadline in front of all that a component elsewhere offers, if its BY sets one.
pub(crate) fn put_before_domain(
    domain: Box<dyn Domain>,
    template: &'static Template,
    name: &str,
    hints: &Hints<'_>,
    services: &Services,
) -> Result<Box<dyn Domain>, String> {
    Ok(match Patience::new(name, hints, services)? {
        Some(patience) => Box::new(Hurried { inner: domain, template, patience }),
        None => domain,
    })
}

struct Hurried {
    inner: Box<dyn Domain>,
    template: &'static Template,
    patience: Patience,
}

impl Domain for Hurried {
    fn attach(&mut self, waiter: Waker) {
        self.inner.attach(waiter);
    }

    fn offered(&mut self, index: usize) -> Box<dyn Reach> {
        self.patience.clone().before(self.inner.offered(index), offered_interface(self.template, index))
    }

    fn required(&mut self, index: usize) -> Box<dyn Exported> {
        self.inner.required(index)
    }

    fn state(&mut self) -> State {
        self.inner.state()
    }

    fn delete(&mut self) {
        self.inner.delete();
    }

    fn ended(&self) -> Option<String> {
        self.inner.ended()
    }
}

impl Reach for Impatient {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(Awaited {
            inner: self.inner.begin(),
            rule: self.rule.clone(),
            pump: None,
            state: 0,
            arrived: 0,
            until: None,
            timer: None,
        })
    }
}

struct Awaited {
    inner: Box<dyn Far>,
    rule: Rc<Rule>,
    pump: Option<Waker>,
    /// The protocol's state.
    state: u16,
    /// The message that was last announced.
    arrived: usize,
    /// The deadline for the server's next message.
    until: Option<u64>,
    timer: Option<Box<dyn Any>>,
}

impl Awaited {
    /// Follows the protocol: one side has sent this message.
    fn step(&mut self, message: usize) {
        let interface = self.rule.interface;
        // A message that isn't possible now may begin the protocol again.
        let next = interface.next(self.state, message).or_else(|| interface.next(0, message));
        self.state = next.unwrap_or(0);
        self.look_at_the_clock();
    }

    fn look_at_the_clock(&mut self) {
        let sends = self.rule.interface.state(self.state);
        let is_servers = sends & Interface::SERVER_SENDS != 0 && sends & Interface::CLIENT_SENDS == 0;
        self.until = is_servers.then(|| self.rule.patience.end());
        self.timer = match (self.until, &self.pump) {
            (Some(until), Some(pump)) => Some(self.rule.patience.time.wake_at(until, pump.clone())),
            _ => None,
        };
    }
}

impl Far for Awaited {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump.clone());
        self.inner.attach(pump);
        self.look_at_the_clock();
    }

    fn has_room(&mut self) -> bool {
        self.inner.has_room()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        self.inner.send(message, values);
        self.step(message);
    }

    fn receive(&mut self) -> Arrival {
        match self.inner.receive() {
            Arrival::Nothing if self.until.is_some_and(|until| until <= self.rule.patience.time.now()) => {
                Arrival::Lost(self.rule.patience.complaint.clone())
            }
            Arrival::Message(message) => {
                self.arrived = message;
                Arrival::Message(message)
            }
            other => other,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        self.inner.take(values)?;
        self.step(self.arrived);
        Ok(())
    }

    fn slot(&self) -> usize {
        self.inner.slot()
    }

    fn close(&mut self) {
        self.inner.close();
    }
}
