//! A communication of this program with an HTTP service: each call is a `POST`, over a connection that is kept for the
//! next one. Protocols other than requests and replies go over a WebSocket, the library's as they are.

use std::rc::Rc;
use std::time::{Duration, Instant};

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::http::Error;
use hyper::{Request, StatusCode};

use super::client_connection::{ClientConnections, Sent};
use super::json;
use super::opening_handshake::Opening;
use super::plain_caller::PlainCaller;
use super::service::Service;
use super::style::Style;
use drystone_net::datum::{Datum, data};

/// How long a request may still take when its communication has ended.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service to which a name is bound.
pub(super) struct Remote(Rc<ClientConnections>);

impl Remote {
    pub(super) fn new(service: Rc<Service>) -> Remote {
        Remote(ClientConnections::new(service))
    }
}

impl Reach for Remote {
    fn begin(&mut self) -> Box<dyn Far> {
        let connections = self.0.clone();
        match connections.service.style {
            Style::Calls(_) => Box::new(Caller { connections, pump: None, sent: None, step: Step::Idle }),
            Style::Plain => Box::new(PlainCaller::new(connections)),
            _ => Opening::begin(connections.service.clone()),
        }
    }
}

/// A communication, request by request.
struct Caller {
    connections: Rc<ClientConnections>,
    pump: Option<Waker>,
    /// The call that waits for its answer, and its request.
    sent: Option<(usize, Rc<Sent>)>,
    step: Step,
}

enum Step {
    Idle,
    Answered(usize, Vec<Datum<'static>>),
    Lost(String),
}

impl Caller {
    fn service(&self) -> &Service {
        &self.connections.service
    }

    fn message_name(&self, call: usize) -> &'static str {
        self.service().interface.messages.get()[call].name.get()
    }

    fn request(&self, name: &str, body: Bytes) -> Result<Request<Full<Bytes>>, Error> {
        let service = self.service();
        let mut request = Request::post(format!("{}/{name}", service.place.path));
        request = request.header(HOST, &service.authority).header(CONTENT_TYPE, "application/json");
        if let Some(token) = &service.options.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        request.body(Full::new(body))
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
        let about = |why: String| self.service().about(why);
        let (head, body) = reply.map_err(about)?;
        let status = head.status;
        let calls = self.service().style.calls().expect("it consists of calls");
        let answers = &calls.with(message).expect("each message is a call").answers;
        let server = drystone_component::Side::Server;
        let read = || json::read_message(&body, self.service().interface, server);
        let (answer, values) = match (status.is_success(), read()) {
            (true, _) if answers.is_empty() => return Ok(()),
            (true, read) => read.map_err(|why| self.service().about(why))?,
            // A service may send an answer with another status than success.
            (false, Ok((answer, values))) if answers.contains(&answer) => (answer, values),
            (false, _) => return Err(self.service().about(complaint(status, &body))),
        };
        self.step = Step::Answered(answer, values.into_iter().map(Datum::into_owned).collect());
        Ok(())
    }
}

/// The error in a response that is no answer.
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

    /// One request at a time, so that messages without answers keep their order.
    fn has_room(&mut self) -> bool {
        self.look();
        self.sent.is_none()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let Some(pump) = self.pump.clone().filter(|_| !matches!(self.step, Step::Lost(_))) else { return };
        let parameters = self.service().interface.messages.get()[message].parameters.get();
        let mut body = Vec::with_capacity(128);
        json::write_values(&mut body, parameters, data(parameters, *values));
        let limit = self.service().options.limit;
        if body.len() > limit {
            let why = format!("the request has {} bytes, and may have {limit}", body.len());
            self.step = Step::Lost(self.service().about(why));
            return pump.wake();
        }
        let request =
            self.request(self.message_name(message), body.into()).map_err(|error| error.to_string());
        let sent = self.connections.send(request, false, pump);
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

    /// A request under way still goes on, as it may need no answer.
    fn close(&mut self) {
        if let Some((_, sent)) = self.sent.take() {
            self.service().reactor.at(Instant::now() + PATIENCE, sent);
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if let Some((_, sent)) = &self.sent {
            sent.give_up();
        }
    }
}
