//! The beginning of a WebSocket at the client's side: until it is there, the near side's messages wait.

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_component::Side;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};
use hyper::http::Uri;
use mio::net::TcpStream;
use tungstenite::ClientRequestBuilder;
use tungstenite::client::client_with_config;
use tungstenite::handshake::client::ClientHandshake;
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::{Error, WebSocket};

use super::caller::Service;
use super::io::Io;
use super::socket::{Conversation, config};
use crate::network::socket::Socket;
use crate::reactor::{Expectation, Handler};
use crate::reason::reason;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// See the head of this file.
pub(super) struct Knocking {
    me: Weak<Knocking>,
    service: Rc<Service>,
    state: RefCell<State>,
}

struct State {
    step: Step,
    pump: Option<Waker>,
    until: Instant,
}

enum Step {
    Connecting(Rc<Socket>),
    Asking(Rc<Socket>, MidHandshake<ClientHandshake<Io>>),
    /// The communication itself.
    Talking(Box<dyn Far>),
    Lost(String),
}

impl Knocking {
    pub(super) fn begin(service: Rc<Service>) -> Box<dyn Far> {
        let until = Instant::now() + PATIENCE;
        let reactor = service.reactor.clone();
        let expectation = reactor.expect();
        let socket =
            TcpStream::connect(service.address).and_then(|stream| Socket::new(reactor.clone(), stream));
        let step = match &socket {
            Ok(socket) => Step::Connecting(socket.clone()),
            Err(error) => Step::Lost(service.about(reason(error))),
        };
        let knocking = Rc::new_cyclic(|me| Knocking {
            me: me.clone(),
            service,
            state: RefCell::new(State { step, pump: None, until }),
        });
        if let Ok(socket) = socket {
            reactor.handle(socket.source(), knocking.clone());
            reactor.at(until, Rc::new(Late(knocking.me.clone())));
        }
        Box::new(Visitor { knocking, _expectation: expectation })
    }

    /// Goes on; `None`: it has to wait.
    fn go_on(&self, step: &mut Step, is_late: bool) -> Option<Result<WebSocket<Io>, String>> {
        let asked = match std::mem::replace(step, Step::Lost(String::new())) {
            Step::Connecting(socket) => match socket.connected() {
                Some(Ok(())) => self.ask(socket),
                Some(Err(error)) => return Some(Err(reason(&error))),
                None => {
                    *step = Step::Connecting(socket);
                    return is_late.then(|| Err("no connection in ten seconds".into()));
                }
            },
            Step::Asking(_, handshake) => handshake.handshake().map(|(wire, _)| wire),
            other => {
                *step = other;
                return None;
            }
        };
        match asked {
            Ok(wire) => Some(Ok(wire)),
            Err(HandshakeError::Interrupted(handshake)) => {
                let socket = handshake.get_ref().get_ref().socket.clone();
                *step = Step::Asking(socket, handshake);
                is_late.then(|| Err("no answer in ten seconds".into()))
            }
            Err(HandshakeError::Failure(error)) => Some(Err(complaint(error))),
        }
    }

    #[allow(clippy::result_large_err, reason = "as the crate has it; once for each connection")]
    fn ask(&self, socket: Rc<Socket>) -> Result<WebSocket<Io>, HandshakeError<ClientHandshake<Io>>> {
        let service = &self.service;
        let uri: Uri = format!("ws://{}{}", service.address, service.path)
            .parse()
            .map_err(|_| HandshakeError::Failure(Error::Io(io::ErrorKind::InvalidInput.into())))?;
        let mut request = ClientRequestBuilder::new(uri);
        if let Some(token) = &service.options.token {
            request = request.with_header("Authorization", format!("Bearer {token}"));
        }
        let io = Io::new(&service.reactor, socket, Vec::new());
        client_with_config(request, io, Some(config(service.options.limit))).map(|(wire, _)| wire)
    }

    fn look(&self) {
        let (done, socket) = {
            let state = &mut *self.state.borrow_mut();
            let socket = match &state.step {
                Step::Connecting(socket) | Step::Asking(socket, _) => socket.clone(),
                _ => return,
            };
            let is_late = state.until <= Instant::now();
            (self.go_on(&mut state.step, is_late), socket)
        };
        let Some(done) = done else { return };
        let service = &self.service;
        let step = match done {
            Ok(wire) => {
                let name = format!("http://{}{}", service.address, service.path);
                Step::Talking(Conversation::begin(
                    &service.reactor,
                    service.interface,
                    Side::Server,
                    name,
                    wire,
                ))
            }
            Err(why) => {
                socket.close();
                service.reactor.unhandle(socket.source());
                Step::Lost(service.about(why))
            }
        };
        let pump = {
            let state = &mut *self.state.borrow_mut();
            state.step = step;
            if let (Step::Talking(far), Some(pump)) = (&mut state.step, &state.pump) {
                far.attach(pump.clone());
            }
            state.pump.clone()
        };
        if let Some(pump) = pump {
            pump.wake();
        }
    }
}

/// What a service says that doesn't let one in.
fn complaint(error: Error) -> String {
    match error {
        Error::Http(response) => {
            let said = response.body().as_deref().and_then(|body| serde_json::from_slice(body).ok());
            let said: Option<serde_json::Value> = said;
            match said.as_ref().and_then(|said| said.get("error")?.as_str()) {
                Some(error) => format!("{}: {error}", response.status()),
                None => response.status().to_string(),
            }
        }
        other => other.to_string(),
    }
}

impl Handler for Knocking {
    fn ready(&self) {
        self.look();
    }
}

/// Gives up a service that doesn't answer.
struct Late(Weak<Knocking>);

impl Handler for Late {
    fn ready(&self) {
        if let Some(knocking) = self.0.upgrade() {
            knocking.look();
        }
    }
}

struct Visitor {
    knocking: Rc<Knocking>,
    _expectation: Expectation,
}

impl Far for Visitor {
    fn attach(&mut self, pump: Waker) {
        let state = &mut *self.knocking.state.borrow_mut();
        if let Step::Talking(far) = &mut state.step {
            far.attach(pump.clone());
        }
        state.pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        match &mut self.knocking.state.borrow_mut().step {
            Step::Talking(far) => far.has_room(),
            Step::Lost(_) => true,
            _ => false,
        }
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if let Step::Talking(far) = &mut self.knocking.state.borrow_mut().step {
            far.send(message, values);
        }
    }

    fn receive(&mut self) -> Arrival {
        match &mut self.knocking.state.borrow_mut().step {
            Step::Talking(far) => far.receive(),
            Step::Lost(why) => Arrival::Lost(why.clone()),
            _ => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        match &mut self.knocking.state.borrow_mut().step {
            Step::Talking(far) => far.take(values),
            _ => Err("there is no message".into()),
        }
    }

    fn close(&mut self) {
        if let Step::Talking(far) = &mut self.knocking.state.borrow_mut().step {
            far.close();
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        let gone = "the client has gone".to_string();
        let step = std::mem::replace(&mut self.knocking.state.borrow_mut().step, Step::Lost(gone));
        if let Step::Connecting(socket) | Step::Asking(socket, _) = &step {
            socket.close();
            self.knocking.service.reactor.unhandle(socket.source());
        }
    }
}
