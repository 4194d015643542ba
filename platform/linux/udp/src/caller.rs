//! A communication of a client of this program with a server.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};

use super::link::Link;
use super::service::Service;
use drystone_net::datum::data;
use drystone_net::place::Place;
use drystone_net::slot::Slot;
use drystone_reactor::Reactor;

/// The sockets of this program's clients.
pub(super) struct Links {
    reactor: Rc<Reactor>,
    links: RefCell<HashMap<HostAndPort, Weak<Link>>>,
}

type HostAndPort = (String, Option<u16>);

impl Links {
    pub(super) fn new(reactor: &Rc<Reactor>) -> Rc<Links> {
        Rc::new(Links { reactor: reactor.clone(), links: RefCell::default() })
    }

    /// The one to a place; a new one if there is none any more.
    fn get(&self, place: &Place) -> Rc<Link> {
        let links = &mut *self.links.borrow_mut();
        let key = (place.host.clone(), place.port);
        if let Some(link) = links.get(&key).and_then(Weak::upgrade)
            && !link.is_over()
        {
            return link;
        }
        let link = Link::begin(&self.reactor, place);
        links.retain(|_, link| link.strong_count() > 0);
        links.insert(key, Rc::downgrade(&link));
        link
    }
}

/// What a name is bound to.
pub(super) struct Remote {
    pub(super) links: Rc<Links>,
    pub(super) place: Place,
    pub(super) server: Rc<Server>,
    /// The socket that was used last, so that it stays.
    pub(super) link: Option<Rc<Link>>,
}

/// What is said to it, and how long it may take to answer.
pub(super) struct Server {
    pub(super) service: Service,
    pub(super) patience: Duration,
    /// As the program wrote it.
    pub(super) name: String,
}

impl Reach for Remote {
    fn begin(&mut self) -> Box<dyn Far> {
        let link = self.links.get(&self.place);
        self.link = Some(link.clone());
        Box::new(Caller { server: self.server.clone(), link, pump: None, asked: None, step: Step::Idle })
    }
}

/// See the head of this file.
struct Caller {
    server: Rc<Server>,
    link: Rc<Link>,
    pump: Option<Waker>,
    /// The message that is to be answered.
    asked: Option<(usize, Rc<Slot>)>,
    step: Step,
}

/// What is known of the answer.
enum Step {
    Idle,
    /// Its message, the reply, and where in that its parameters begin.
    Answered(usize, Vec<u8>, usize),
    Lost(String),
}

impl Caller {
    fn ask(&mut self, message: usize, values: Outgoing<'_>) -> Result<(), String> {
        let Server { service, patience, .. } = &*self.server;
        let id = self.link.next_id();
        let values = data(service.parameters(message), *values);
        self.link.send(&service.datagram("request", id, message, values)?)?;
        if let Some(pump) = self.pump.clone()
            && service.is_answered(message)
        {
            self.asked = Some((message, self.link.expect(id, service.form, *patience, pump)));
        }
        Ok(())
    }

    /// Looks at what has come.
    fn look(&mut self) -> Result<(), String> {
        let Some((message, reply)) = self.asked.as_ref().and_then(|(m, slot)| Some((*m, slot.reply()?)))
        else {
            return Ok(());
        };
        self.asked = None;
        let reply = reply?;
        let (answer, parameters) = self.server.service.answer(message, &reply)?;
        let begin = reply.len() - parameters.len();
        self.step = Step::Answered(answer, reply, begin);
        Ok(())
    }

    fn lose(&mut self, why: &str) {
        self.step = Step::Lost(format!("{}: {why}", self.server.name));
    }
}

impl Far for Caller {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.pump.as_ref().is_none_or(|pump| self.link.has_room(pump))
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if let Err(why) = self.ask(message, values) {
            self.lose(&why);
        }
    }

    fn receive(&mut self) -> Arrival {
        if let Err(why) = self.look() {
            self.lose(&why);
        }
        match &self.step {
            Step::Answered(message, ..) => Arrival::Message(*message),
            Step::Lost(why) => Arrival::Lost(why.clone()),
            Step::Idle => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let Step::Answered(message, reply, begin) = std::mem::replace(&mut self.step, Step::Idle) else {
            return Err("there is no answer".into());
        };
        let carried = self.server.service.values(message, &reply[begin..]).ok_or("they were looked at")?;
        carried.iter().try_for_each(|value| values.put(value.value()))
    }

    fn close(&mut self) {}
}

impl Drop for Caller {
    fn drop(&mut self) {
        if let Some((_, slot)) = &self.asked {
            self.link.forget(slot.id);
        }
    }
}
