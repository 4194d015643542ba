//! A communication of this program with a server over UDP.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};

use super::client_socket::ClientSocket;
use super::service::Service;
use drystone_net::datum::data;
use drystone_net::place::Place;
use drystone_net::slot::Slot;
use drystone_reactor::Reactor;

/// The sockets of this program to servers.
pub(super) struct ClientSockets {
    reactor: Rc<Reactor>,
    sockets: RefCell<HashMap<HostAndPort, Weak<ClientSocket>>>,
}

type HostAndPort = (String, Option<u16>);

impl ClientSockets {
    pub(super) fn new(reactor: &Rc<Reactor>) -> Rc<ClientSockets> {
        Rc::new(ClientSockets { reactor: reactor.clone(), sockets: RefCell::default() })
    }

    /// The socket to a place; a new one if there is none, or it is over.
    fn get(&self, place: &Place) -> Rc<ClientSocket> {
        let sockets = &mut *self.sockets.borrow_mut();
        let key = (place.host.clone(), place.port);
        if let Some(socket) = sockets.get(&key).and_then(Weak::upgrade)
            && !socket.is_over()
        {
            return socket;
        }
        let socket = ClientSocket::begin(&self.reactor, place);
        sockets.retain(|_, socket| socket.strong_count() > 0);
        sockets.insert(key, Rc::downgrade(&socket));
        socket
    }
}

/// A server to which a name is bound.
pub(super) struct Remote {
    pub(super) sockets: Rc<ClientSockets>,
    pub(super) place: Place,
    pub(super) server: Rc<Server>,
    /// The socket that was used last, so that it stays.
    pub(super) socket: Option<Rc<ClientSocket>>,
}

/// The server's interface, and how long it may take to answer.
pub(super) struct Server {
    pub(super) service: Service,
    pub(super) patience: Duration,
    /// As the program wrote it.
    pub(super) name: String,
}

impl Reach for Remote {
    fn begin(&mut self) -> Box<dyn Far> {
        let socket = self.sockets.get(&self.place);
        self.socket = Some(socket.clone());
        Box::new(Caller { server: self.server.clone(), socket, pump: None, asked: None, step: Step::Idle })
    }
}

/// See the head of this file.
struct Caller {
    server: Rc<Server>,
    socket: Rc<ClientSocket>,
    pump: Option<Waker>,
    /// The message that waits for an answer.
    asked: Option<(usize, Rc<Slot>)>,
    step: Step,
}

/// What is known of the answer.
enum Step {
    Idle,
    /// The answer's message, the reply, and the place of its parameters in the reply.
    Answered(usize, Vec<u8>, usize),
    Lost(String),
}

impl Caller {
    fn ask(&mut self, message: usize, values: Outgoing<'_>) -> Result<(), String> {
        let Server { service, patience, .. } = &*self.server;
        let id = self.socket.next_id();
        let values = data(service.parameters(message), *values);
        self.socket.send(&service.datagram("request", id, message, values)?)?;
        if let Some(pump) = self.pump.clone()
            && service.is_answered(message)
        {
            self.asked = Some((message, self.socket.expect(id, service.form, *patience, pump)));
        }
        Ok(())
    }

    /// Looks whether the reply has come.
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
        self.pump.as_ref().is_none_or(|pump| self.socket.has_room(pump))
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
            self.socket.forget(slot.id);
        }
    }
}
