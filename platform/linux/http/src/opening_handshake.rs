//! The opening handshake of a WebSocket at the client's side. Messages wait until it is done.

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_component::Side;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};
use hyper::http::Uri;
use tungstenite::ClientRequestBuilder;
use tungstenite::client::client_with_config;
use tungstenite::handshake::client::ClientHandshake;
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::{Error, WebSocket};

use super::io::Io;
use super::service::Service;
use super::web_socket::{Conversation, Form, config};
use super::web_socket_frames::Framed;
use drystone_net::socket::Socket;
use drystone_net::stream_dial::StreamDial;
use drystone_reactor::{Expectation, Handler, weakly};

/// How long the handshake may take, once there is a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// See the head of this file.
pub(super) struct Opening {
    me: Weak<Opening>,
    service: Rc<Service>,
    state: RefCell<State>,
}

struct State {
    step: Step,
    pump: Option<Waker>,
    until: Instant,
}

enum Step {
    Dialing(#[expect(dead_code, reason = "dropped, it is given up")] Rc<StreamDial>),
    Asking(Rc<Socket>, MidHandshake<ClientHandshake<Framed>>),
    /// The communication itself.
    Talking(Box<dyn Far>),
    Lost(String),
}

type Asked = Result<WebSocket<Framed>, HandshakeError<ClientHandshake<Framed>>>;

impl Opening {
    pub(super) fn begin(service: Rc<Service>) -> Box<dyn Far> {
        let expectation = service.reactor.expect();
        let opening = Rc::new_cyclic(|me: &Weak<Opening>| {
            let dial = service.dial({
                let me = me.clone();
                move |io| {
                    if let Some(opening) = me.upgrade() {
                        opening.dialed(io);
                    }
                }
            });
            let state = State { step: Step::Dialing(dial), pump: None, until: Instant::now() };
            Opening { me: me.clone(), service, state: RefCell::new(state) }
        });
        Box::new(Visitor { opening, _expectation: expectation })
    }

    /// There is a connection, or there will be none.
    fn dialed(self: &Rc<Opening>, io: Result<Io, String>) {
        let asked = match io {
            Err(why) => return self.become_far(Step::Lost(self.service.about(why))),
            Ok(io) => {
                let reactor = &self.service.reactor;
                reactor.handle(io.socket.source(), self.clone());
                let until = Instant::now() + PATIENCE;
                reactor.at(until, weakly(&self.me, |opening| opening.look()));
                self.state.borrow_mut().until = until;
                (io.socket.clone(), self.ask(io))
            }
        };
        self.follow(asked.0, asked.1);
    }

    #[allow(clippy::result_large_err, reason = "as the crate has it; once for each connection")]
    fn ask(&self, io: Io) -> Asked {
        let service = &self.service;
        // `ws:` for `http:`, `wss:` for `https:`.
        let uri: Uri = service
            .url()
            .replacen("http", "ws", 1)
            .parse()
            .map_err(|_| HandshakeError::Failure(Error::Io(io::ErrorKind::InvalidInput.into())))?;
        let mut request = ClientRequestBuilder::new(uri);
        if let Some(token) = &service.options.token {
            request = request.with_header("Authorization", format!("Bearer {token}"));
        }
        client_with_config(request, Framed::begun(io), Some(config(service.options.limit)))
            .map(|(wire, _)| wire)
    }

    fn look(&self) {
        let (socket, handshake) = {
            let step = &mut self.state.borrow_mut().step;
            match std::mem::replace(step, Step::Lost(String::new())) {
                Step::Asking(socket, handshake) => (socket, handshake),
                other => return *step = other,
            }
        };
        self.follow(socket, handshake.handshake().map(|(wire, _)| wire));
    }

    /// The handshake has gone on.
    fn follow(&self, socket: Rc<Socket>, asked: Asked) {
        let service = &self.service;
        let why = match asked {
            Ok(wire) => {
                let form = Form::Json(service.interface, Side::Server);
                let far = Conversation::begin(&service.reactor, form, (service.url(), None), wire);
                return self.become_far(Step::Talking(far));
            }
            Err(HandshakeError::Interrupted(handshake)) => {
                let state = &mut *self.state.borrow_mut();
                if state.until > Instant::now() {
                    state.step = Step::Asking(socket, handshake);
                    return;
                }
                "no answer in ten seconds".into()
            }
            Err(HandshakeError::Failure(error)) => complaint(error),
        };
        socket.close();
        service.reactor.unhandle(socket.source());
        self.become_far(Step::Lost(service.about(why)));
    }

    /// The handshake is over: this is what messages go to from now on.
    fn become_far(&self, step: Step) {
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

/// Why a service has refused the handshake.
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

impl Handler for Opening {
    fn ready(&self) {
        self.look();
    }
}

struct Visitor {
    opening: Rc<Opening>,
    _expectation: Expectation,
}

impl Far for Visitor {
    fn attach(&mut self, pump: Waker) {
        let state = &mut *self.opening.state.borrow_mut();
        if let Step::Talking(far) = &mut state.step {
            far.attach(pump.clone());
        }
        state.pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        match &mut self.opening.state.borrow_mut().step {
            Step::Talking(far) => far.has_room(),
            Step::Lost(_) => true,
            _ => false,
        }
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if let Step::Talking(far) = &mut self.opening.state.borrow_mut().step {
            far.send(message, values);
        }
    }

    fn receive(&mut self) -> Arrival {
        match &mut self.opening.state.borrow_mut().step {
            Step::Talking(far) => far.receive(),
            Step::Lost(why) => Arrival::Lost(why.clone()),
            _ => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        match &mut self.opening.state.borrow_mut().step {
            Step::Talking(far) => far.take(values),
            _ => Err("there is no message".into()),
        }
    }

    fn close(&mut self) {
        if let Step::Talking(far) = &mut self.opening.state.borrow_mut().step {
            far.close();
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        let gone = "the client has gone".to_string();
        let step = std::mem::replace(&mut self.opening.state.borrow_mut().step, Step::Lost(gone));
        if let Step::Asking(socket, _) = step {
            socket.close();
            self.opening.service.reactor.unhandle(socket.source());
        }
    }
}
