//! `deadline: 1000`, an option of whatever reaches a name: where the protocol lets only the server go on, it may take so many
//! milliseconds. A server that takes longer counts as lost.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use core::any::Any;

use drystone_component::Interface;
use drystone_runtime::binding::Hints;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};

use super::{MILLISECOND, SOME, Services, Time, count};

struct Rule {
    interface: &'static Interface,
    /// In nanoseconds.
    patience: u64,
    time: Rc<dyn Time>,
    /// What a client is told.
    complaint: String,
}

struct Impatient {
    inner: Box<dyn Reach>,
    rule: Rc<Rule>,
}

/// Puts it before what reaches a name, if a BY says so.
pub(super) fn put_before(
    reach: Box<dyn Reach>,
    interface: &'static Interface,
    name: &str,
    hints: &Hints<'_>,
    services: &Services,
) -> Result<Box<dyn Reach>, String> {
    let mut reaching = hints.factories.iter().filter(|factory| !services.is_composed(factory));
    let milliseconds = reaching.find_map(|factory| count(factory, "deadline", SOME).transpose());
    let Some(milliseconds) = milliseconds.transpose()? else { return Ok(reach) };
    let rule = Rule {
        interface,
        patience: milliseconds * MILLISECOND,
        time: services.time.clone(),
        complaint: format!("{name}: there was no answer in {milliseconds} ms"),
    };
    Ok(Box::new(Impatient { inner: reach, rule: Rc::new(rule) }))
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
    /// Of the protocol.
    state: u16,
    /// The message that was told last.
    arrived: usize,
    /// When the server has to have gone on.
    until: Option<u64>,
    timer: Option<Box<dyn Any>>,
}

impl Awaited {
    /// One side has sent this.
    fn step(&mut self, message: usize) {
        let interface = self.rule.interface;
        // What can't come now may begin the protocol anew.
        let next = interface.next(self.state, message).or_else(|| interface.next(0, message));
        self.state = next.unwrap_or(0);
        self.look_at_the_clock();
    }

    fn look_at_the_clock(&mut self) {
        let sends = self.rule.interface.state(self.state);
        let is_servers = sends & Interface::SERVER_SENDS != 0 && sends & Interface::CLIENT_SENDS == 0;
        self.until = is_servers.then(|| self.rule.time.now().saturating_add(self.rule.patience));
        self.timer = match (self.until, &self.pump) {
            (Some(until), Some(pump)) => Some(self.rule.time.wake_at(until, pump.clone())),
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
            Arrival::Nothing if self.until.is_some_and(|until| until <= self.rule.time.now()) => {
                Arrival::Lost(self.rule.complaint.clone())
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
