//! A client of this program with an HTTP service: each call is a `POST`, over a connection that is kept for the next one. A
//! protocol that is no requests and replies is a WebSocket.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use drystone_component::Interface;
use drystone_component::calls::Calls;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};
use hyper::StatusCode;

use super::context::Options;
use super::handshake::Knocking;
use super::json;
use super::line::{Line, Sent};
use crate::bindings::datum::{Datum, data};
use crate::bindings::place::Place;
use crate::bindings::secure::{Channel, Dialer};
use crate::reactor::Reactor;

/// What a name is bound to.
pub(super) struct Remote(Rc<Service>);

/// An HTTP service.
pub(super) struct Service {
    pub(super) reactor: Rc<Reactor>,
    pub(super) interface: &'static Interface,
    calls: Option<Calls>,
    pub(super) place: Place,
    pub(super) port: u16,
    /// `None`: without TLS.
    pub(super) dialer: Option<Dialer>,
    /// The place, as requests name it.
    pub(super) authority: String,
    pub(super) options: Options,
    /// Connections that nobody uses now.
    pub(super) idle: RefCell<Vec<Rc<Line>>>,
}

impl Remote {
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        interface: &'static Interface,
        calls: Option<Calls>,
        place: Place,
        dialer: Option<Dialer>,
        options: Options,
    ) -> Remote {
        let usual = port_of(dialer.is_some());
        let port = place.port.unwrap_or(usual);
        let host = match place.numeric() {
            Some(IpAddr::V6(address)) => format!("[{address}]"),
            Some(address) if place.host.is_empty() => address.to_string(),
            _ => place.host.clone(),
        };
        let authority = if port == usual { host } else { format!("{host}:{port}") };
        Remote(Rc::new(Service {
            reactor: reactor.clone(),
            interface,
            calls,
            place,
            port,
            dialer,
            authority,
            options,
            idle: RefCell::default(),
        }))
    }
}

/// The port of names that say none.
pub(super) fn port_of(is_secure: bool) -> u16 {
    if is_secure { 443 } else { 80 }
}

impl Service {
    /// Its name, as URLs have it.
    pub(super) fn url(&self) -> String {
        let scheme = if self.dialer.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.place.path)
    }

    /// Why there is nothing to be had from it.
    pub(super) fn about(&self, why: impl std::fmt::Display) -> String {
        format!("{}: {why}", self.url())
    }

    /// What a new connection is enciphered by, if it is.
    pub(super) fn channel(&self) -> Result<Option<Channel>, String> {
        self.dialer.as_ref().map(|dialer| dialer.dial(&self.place.host)).transpose()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.idle.take().iter().for_each(|line| line.hang_up());
    }
}

impl Reach for Remote {
    fn begin(&mut self) -> Box<dyn Far> {
        let service = self.0.clone();
        match service.calls {
            Some(_) => Box::new(Caller { service, pump: None, sent: None, step: Step::Idle }),
            None => Knocking::begin(service),
        }
    }
}

/// A communication, request by request.
struct Caller {
    service: Rc<Service>,
    pump: Option<Waker>,
    /// The request that is being answered, and its call.
    sent: Option<(usize, Rc<Sent>)>,
    step: Step,
}

enum Step {
    Idle,
    Answered(usize, Vec<Datum<'static>>),
    Lost(String),
}

impl Caller {
    fn message_name(&self, call: usize) -> &'static str {
        self.service.interface.messages.get()[call].name.get()
    }

    /// Looks whether the answer has come.
    fn look(&mut self) {
        if let Err(why) = self.try_look() {
            self.step = Step::Lost(why);
        }
    }

    fn try_look(&mut self) -> Result<(), String> {
        let Some((message, sent)) = &self.sent else { return Ok(()) };
        let Some(reply) = sent.reply() else { return Ok(()) };
        let message = *message;
        self.sent = None;
        let about = |why: String| self.service.about(why);
        let (status, body) = reply.map_err(about)?;
        let calls = self.service.calls.as_ref().expect("it consists of calls");
        let answers = &calls.with(message).expect("each message is a call").answers;
        if !status.is_success() {
            return Err(self.service.about(complaint(status, &body)));
        }
        if answers.is_empty() {
            return Ok(());
        }
        let server = drystone_component::Side::Server;
        let (answer, values) = json::read_message(&body, self.service.interface, server)
            .map_err(|why| self.service.about(why))?;
        self.step = Step::Answered(answer, values.into_iter().map(Datum::into_owned).collect());
        Ok(())
    }
}

/// What a service says that has not answered.
fn complaint(status: StatusCode, body: &[u8]) -> String {
    let said = serde_json::from_slice::<serde_json::Value>(body).ok();
    match said.as_ref().and_then(|said| said.get("error")?.as_str()) {
        Some(error) => format!("{status}: {error}"),
        None => status.to_string(),
    }
}

impl Far for Caller {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump);
    }

    /// A message that isn't answered has been taken before the next one goes: they keep their order.
    fn has_room(&mut self) -> bool {
        self.look();
        self.sent.is_none()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let Some(pump) = self.pump.clone().filter(|_| !matches!(self.step, Step::Lost(_))) else { return };
        let parameters = self.service.interface.messages.get()[message].parameters.get();
        let mut body = Vec::with_capacity(128);
        json::write_values(&mut body, parameters, data(parameters, *values));
        let sent = Line::send(&self.service, self.message_name(message), body.into(), pump);
        self.sent = Some((message, sent));
    }

    fn receive(&mut self) -> Arrival {
        if matches!(self.step, Step::Idle) {
            self.look();
        }
        match &self.step {
            Step::Idle => Arrival::Nothing,
            Step::Answered(message, _) => Arrival::Message(*message),
            Step::Lost(why) => Arrival::Lost(why.clone()),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Answered(_, arrived) => arrived.iter().try_for_each(|value| values.put(value.value())),
            _ => Err("there is no answer".into()),
        }
    }

    fn close(&mut self) {}
}
