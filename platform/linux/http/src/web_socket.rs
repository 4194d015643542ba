//! A communication over a WebSocket: each of its messages is one of the interface, as JSON. The next message is read
//! when the last one was taken, so that a slow receiver slows its sender down.

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_component::{Interface, Side};
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use super::export::Export;
use super::held::{Held, Holdings};
use super::io::Io;
use super::json;
use super::web_socket_frames::Framed;
use drystone_net::datum::{Datum, data};
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::{Handler, Reactor, weakly};

/// How long the other side may take to answer a close.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a message may take from its first to its last byte.
const MESSAGE: Duration = Duration::from_secs(30);

/// Bytes that the other side may still send when this side has closed.
const MOST_UNHEARD: usize = 64 << 20;

/// Bytes that are read at once.
const BUFFER: usize = 16 * 1024;

/// See the head of this file.
pub(super) struct Conversation {
    me: Weak<Conversation>,
    reactor: Rc<Reactor>,
    interface: &'static Interface,
    /// The side at the other end.
    other: Side,
    name: String,
    socket: Rc<Socket>,
    state: RefCell<State>,
}

struct State {
    wire: WebSocket<Framed>,
    /// Bytes of the longest message since the buffers were new.
    longest: usize,
    /// At a server: the share of memory for an unfinished message, and for output that isn't taken.
    held: Option<Held>,
    /// When the unfinished message began.
    begun: Option<Instant>,
    /// The message that has come and wasn't taken.
    arrived: Option<(usize, Vec<Datum<'static>>)>,
    end: Option<End>,
    pump: Option<Waker>,
    /// This side has closed; when it stops waiting for the other side's answer.
    leaves: Option<Instant>,
    /// Bytes that the other side may still send, which are ignored.
    unheard: usize,
}

enum End {
    Closed,
    Lost(String),
}

/// The limits of messages and buffers. An idle conversation has a buffer of `BUFFER` bytes.
pub(super) fn config(limit: usize) -> WebSocketConfig {
    let config = WebSocketConfig::default().read_buffer_size(BUFFER);
    config.max_message_size(Some(limit)).max_frame_size(Some(limit))
}

/// A client's connection has become a WebSocket.
pub(super) fn accept(export: &Export, io: Io, holdings: &Holdings) {
    let reactor = io.reactor.clone();
    let wire = WebSocket::from_raw_socket(Framed::new(io), Role::Server, Some(config(export.limit)));
    let name = format!("a client of {}", export.path);
    let held = Some(holdings.hold());
    export.bring(Conversation::begin(&reactor, export.interface, Side::Client, (name, held), wire));
}

/// The code by which a conversation is closed that can't be read.
fn code(error: &Error) -> CloseCode {
    match error {
        Error::Utf8(_) => CloseCode::Invalid,
        Error::Capacity(_) => CloseCode::Size,
        _ => CloseCode::Protocol,
    }
}

impl State {
    /// Frees the buffers of long messages, if none is on its way.
    fn shrink(&mut self, other: Side) {
        if self.longest <= BUFFER || !self.wire.get_ref().is_between() || !self.wire.can_write() {
            return;
        }
        if self.wire.flush().is_err() {
            return;
        }
        self.longest = 0;
        let role = if other == Side::Client { Role::Server } else { Role::Client };
        let config = *self.wire.get_config();
        self.wire = WebSocket::from_raw_socket(self.wire.get_ref().clone(), role, Some(config));
    }
}

impl Conversation {
    /// A conversation whose handshake is done.
    pub(super) fn begin(
        reactor: &Rc<Reactor>,
        interface: &'static Interface,
        other: Side,
        (name, held): (String, Option<Held>),
        wire: WebSocket<Framed>,
    ) -> Box<dyn Far> {
        let socket = wire.get_ref().socket();
        let (arrived, end, pump, leaves) = (None, None, None, None);
        let (begun, unheard) = (None, MOST_UNHEARD);
        let state = State { wire, longest: 0, held, begun, arrived, end, pump, leaves, unheard };
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

    /// Reads the next message, if none waits to be taken.
    fn read(&self, state: &mut State) {
        while state.arrived.is_none() && state.end.is_none() {
            let json = match state.wire.read() {
                Ok(Message::Text(json)) => json,
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
                Ok(Message::Close(_)) => return state.end = Some(End::Closed),
                Ok(Message::Binary(_)) => {
                    return self.refuse(state, CloseCode::Unsupported, "a text is expected");
                }
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    state.shrink(self.other);
                    return self.count(state);
                }
                Err(Error::ConnectionClosed) => return state.end = Some(End::Closed),
                Err(error) => return self.refuse(state, code(&error), &error.to_string()),
            };
            state.longest = state.longest.max(json.len());
            match json::read_message(json.as_bytes(), self.interface, self.other) {
                Ok((message, values)) => {
                    state.arrived = Some((message, values.into_iter().map(Datum::into_owned).collect()));
                }
                Err(why) => self.refuse(state, CloseCode::Invalid, &why),
            }
        }
    }

    /// Ends a conversation for which too much is held, or whose message takes too long.
    fn count(&self, state: &mut State) {
        let unfinished = state.wire.get_ref().unfinished();
        let Some(held) = &mut state.held else { return };
        if !held.set(unfinished + self.socket.unsent()) {
            return self.refuse(state, CloseCode::Again, "the server holds too much for its clients");
        }
        if unfinished == 0 {
            state.begun = None;
            return;
        }
        match state.begun {
            Some(begun) if begun.elapsed() >= MESSAGE => {
                self.refuse(state, CloseCode::Policy, "a message took too long");
            }
            Some(_) => {}
            None => {
                let begun = Instant::now();
                state.begun = Some(begun);
                self.look_again(begun + MESSAGE);
            }
        }
    }

    fn look_again(&self, when: Instant) {
        self.reactor.at(when, weakly(&self.me, |conversation| conversation.ready()));
    }

    fn refuse(&self, state: &mut State, code: CloseCode, why: &str) {
        self.say_goodbye(state, code, why);
        state.end = Some(End::Lost(format!("{}: {why}", self.name)));
    }

    fn say_goodbye(&self, state: &mut State, code: CloseCode, why: &str) {
        // The most that a control frame has room for.
        let reason = &why[..why.floor_char_boundary(123)];
        // It may be closed already.
        let _ = state.wire.close(Some(CloseFrame { code, reason: reason.into() }));
        let _ = state.wire.flush();
    }

    /// This side closes.
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
        if !is_over {
            self.look_again(Instant::now() + PATIENCE);
        }
        self.ready();
    }

    /// Waits for the other side to close, too; whether it has, or takes too long. If a connection is closed with
    /// something unread, the kernel resets it, and a client that still sends would not get to know why.
    fn hear_out(&self, state: &mut State) -> bool {
        while state.end.is_none() {
            state.arrived = None;
            self.read(state);
            if state.arrived.is_none() {
                break;
            }
        }
        match state.end {
            None => return false,
            Some(End::Closed) => return true,
            Some(End::Lost(_)) => {}
        }
        if state.wire.flush().is_ok() {
            state.wire.get_ref().finish();
        }
        while state.unheard > 0 {
            match self.socket.read_in_turn(&mut self.reactor.scratch.borrow_mut()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Ok(0) | Err(_) => return true,
                Ok(length) => state.unheard = state.unheard.saturating_sub(length),
            }
        }
        true
    }

    /// The other side has closed too, or takes too long.
    fn end(&self) {
        self.state.borrow_mut().wire.get_ref().finish();
        self.socket.close();
        self.reactor.unhandle(self.socket.source());
    }
}

impl Handler for Conversation {
    fn ready(&self) {
        let (pump, is_over) = {
            let state = &mut *self.state.borrow_mut();
            // Output for which there is no room is sent later.
            let _ = state.wire.flush();
            if state.leaves.is_none() && state.arrived.is_none() && state.end.is_none() {
                self.count(state);
            }
            if let Some(until) = state.leaves {
                (None, self.hear_out(state) || until <= Instant::now())
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
        let state = &mut *self.0.state.borrow_mut();
        let most = state.wire.get_config().max_message_size.unwrap_or(usize::MAX);
        if text.len() > most {
            let why = format!("a message of {} bytes; there may be {most}", text.len());
            return self.0.refuse(state, CloseCode::Size, &why);
        }
        state.longest = state.longest.max(text.len());
        let is_long = text.len() > BUFFER;
        // An error of sending shows when it is read.
        let _ = state.wire.send(Message::text(text));
        self.0.count(state);
        if is_long {
            // If nothing comes, this is the only place that frees buffers.
            self.0.read(state);
            if let (true, Some(pump)) = (state.arrived.is_some() || state.end.is_some(), &state.pump) {
                pump.wake();
            }
        }
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
        let state = &mut *self.0.state.borrow_mut();
        // The next message may have come already.
        state.begun = None;
        let arrived = state.arrived.take();
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
