//! A communication over a WebSocket: each of its messages is one of the protocol, as JSON. Nothing is read before the pump has
//! taken what was read before, so that a slow receiver slows its sender down.

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_component::{Interface, Side};
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use super::export::{Export, Exports};
use super::io::Io;
use super::json;
use super::requests::{Refusal, may_enter};
use crate::bindings::datum::{Datum, data};
use crate::network::socket::{FULL, Socket};
use crate::reactor::{Handler, Reactor};

/// How long the other side may take to close, too.
const PATIENCE: Duration = Duration::from_secs(5);

/// See the head of this file.
pub(super) struct Conversation {
    me: Weak<Conversation>,
    reactor: Rc<Reactor>,
    interface: &'static Interface,
    /// Who the other side is.
    other: Side,
    name: String,
    socket: Rc<Socket>,
    state: RefCell<State>,
}

struct State {
    wire: WebSocket<Io>,
    /// What has come and was not taken.
    arrived: Option<(usize, Vec<Datum<'static>>)>,
    end: Option<End>,
    pump: Option<Waker>,
    /// Closed by this side, and when it will be closed if the other side doesn't answer.
    leaves: Option<Instant>,
}

enum End {
    Closed,
    Lost(String),
}

/// How large messages may be.
pub(super) fn config(limit: usize) -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(limit)).max_frame_size(Some(limit))
}

/// A client asks for a WebSocket; all of its request's head has come.
#[allow(clippy::result_large_err, reason = "as the crate has it; once for each connection")]
pub(super) fn accept(exports: &Exports, io: Io) {
    let (reactor, socket) = (io.reactor.clone(), io.socket.clone());
    let mut found = None;
    let ask = |request: &Request, response: Response| match admitted(exports, request) {
        Ok(export) => {
            found = Some(export);
            Ok(response)
        }
        Err(refusal) => Err(refused(&refusal)),
    };
    let accepted = tungstenite::accept_hdr(io, ask).ok();
    match (accepted, found) {
        (Some(mut wire), Some(export)) => {
            wire.set_config(|other| *other = config(export.limit));
            let name = format!("a client of {}", export.path);
            export.bring(Conversation::begin(&reactor, export.interface, Side::Client, name, wire));
        }
        // It was refused, and has been told why.
        _ => {
            socket.close();
            reactor.unhandle(socket.source());
        }
    }
}

fn admitted(exports: &Exports, request: &Request) -> Result<Rc<Export>, Refusal> {
    let path = request.uri().path();
    let nothing = || Refusal::new(hyper::StatusCode::NOT_FOUND, format!("there is nothing at {path}"));
    let (export, _) = exports.find(path).filter(|(_, rest)| rest.is_empty()).ok_or_else(nothing)?;
    may_enter(&export, request.headers(), request.uri())?;
    Ok(export)
}

fn refused(refusal: &Refusal) -> ErrorResponse {
    let mut response = ErrorResponse::new(String::from_utf8(refusal.body()).ok());
    *response.status_mut() = refusal.status;
    response
}

impl Conversation {
    /// Over a connection on which the handshake is done.
    pub(super) fn begin(
        reactor: &Rc<Reactor>,
        interface: &'static Interface,
        other: Side,
        name: String,
        wire: WebSocket<Io>,
    ) -> Box<dyn Far> {
        let socket = wire.get_ref().socket.clone();
        let state = State { wire, arrived: None, end: None, pump: None, leaves: None };
        let conversation = Rc::new_cyclic(|me| Conversation {
            me: me.clone(),
            reactor: reactor.clone(),
            interface,
            other,
            name,
            socket,
            state: RefCell::new(state),
        });
        reactor.handle(conversation.socket.source(), conversation.clone());
        Box::new(Half(conversation))
    }

    /// Reads what comes next, if nothing waits to be taken.
    fn read(&self, state: &mut State) {
        while state.arrived.is_none() && state.end.is_none() {
            let json = match state.wire.read() {
                Ok(Message::Text(json)) => json,
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
                Ok(Message::Close(_)) => return state.end = Some(End::Closed),
                Ok(Message::Binary(_)) => {
                    return self.refuse(state, CloseCode::Unsupported, "a text is expected");
                }
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(Error::ConnectionClosed) => return state.end = Some(End::Closed),
                Err(error) => return self.refuse(state, CloseCode::Protocol, &error.to_string()),
            };
            match json::read_message(json.as_bytes(), self.interface, self.other) {
                Ok((message, values)) => {
                    state.arrived = Some((message, values.into_iter().map(Datum::into_owned).collect()));
                }
                Err(why) => self.refuse(state, CloseCode::Invalid, &why),
            }
        }
    }

    fn refuse(&self, state: &mut State, code: CloseCode, why: &str) {
        self.say_goodbye(state, code, why);
        state.end = Some(End::Lost(format!("{}: {why}", self.name)));
    }

    fn say_goodbye(&self, state: &mut State, code: CloseCode, why: &str) {
        // A frame of control has room for so much.
        let reason: String = why.chars().take(30).collect();
        // It may be closed already.
        let _ = state.wire.close(Some(CloseFrame { code, reason: reason.into() }));
        let _ = state.wire.flush();
    }

    /// This side has ended.
    fn leave(&self, code: CloseCode, why: &str) {
        let is_over = {
            let state = &mut *self.state.borrow_mut();
            if state.leaves.is_some() {
                return;
            }
            state.pump = None;
            state.leaves = Some(Instant::now() + PATIENCE);
            if state.end.is_none() {
                self.say_goodbye(state, code, why);
            }
            matches!(state.end, Some(End::Closed))
        };
        if let Some(me) = self.me.upgrade()
            && !is_over
        {
            self.reactor.at(Instant::now() + PATIENCE, me);
        }
        self.ready();
    }

    /// The other side has closed too, or takes too long.
    fn end(&self) {
        self.state.borrow_mut().wire.get_mut().finish();
        self.socket.close();
        self.reactor.unhandle(self.socket.source());
    }
}

impl Handler for Conversation {
    fn ready(&self) {
        let (pump, is_over) = {
            let state = &mut *self.state.borrow_mut();
            // What it can't send now is sent when there is room.
            let _ = state.wire.flush();
            if let Some(until) = state.leaves {
                while state.end.is_none() {
                    state.arrived = None;
                    self.read(state);
                    if state.arrived.is_none() {
                        break;
                    }
                }
                (None, state.end.is_some() || until <= Instant::now())
            } else {
                (state.pump.clone(), false)
            }
        };
        if let Some(pump) = pump {
            pump.wake();
        }
        if is_over {
            self.end();
        }
    }
}

struct Half(Rc<Conversation>);

impl Far for Half {
    fn attach(&mut self, pump: Waker) {
        self.0.state.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.0.socket.unsent() < FULL
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let message = &self.0.interface.messages.get()[message];
        let mut out = Vec::with_capacity(128);
        json::write(&mut out, message, data(message.parameters.get(), *values));
        let text = String::from_utf8(out).expect("JSON is UTF-8");
        // What can't be sent shows when it is read.
        let _ = self.0.state.borrow_mut().wire.send(Message::text(text));
    }

    fn receive(&mut self) -> Arrival {
        let state = &mut *self.0.state.borrow_mut();
        self.0.read(state);
        match (&state.arrived, &state.end) {
            (Some((message, _)), _) => Arrival::Message(*message),
            (None, None) => Arrival::Nothing,
            (None, Some(End::Closed)) => Arrival::Closed,
            (None, Some(End::Lost(why))) => Arrival::Lost(why.clone()),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let arrived = self.0.state.borrow_mut().arrived.take();
        let (_, arrived) = arrived.ok_or("there is no message")?;
        arrived.iter().try_for_each(|value| values.put(value.value()))
    }

    fn close(&mut self) {
        self.0.leave(CloseCode::Normal, "");
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        self.0.leave(CloseCode::Policy, "the conversation was broken off");
    }
}
