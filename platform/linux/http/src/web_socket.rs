//! A communication over a WebSocket: each of its messages is one of the interface, as JSON; or two communications, with
//! the halves of the library's `Http`, whose texts and bytes go as they are. The next message is read when the last one
//! was taken, so that a slow receiver slows its sender down.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use std::mem::take;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_component::{Interface, Side};
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use super::held::{Held, Holdings};
use super::io::Io;
use super::json;
use super::style::{MESSAGE, OPEN};
use super::upgrade::{Agreed, Halves};
use super::web_socket_frames::Framed;
use drystone_net::datum::{Datum, data};
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::{Handler, Reactor, weakly};

/// How long the other side may take to answer a close.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a message may take from its first to its last byte.
const WHOLE: Duration = Duration::from_secs(30);

/// Bytes that the other side may still send when this side has closed.
const MOST_UNHEARD: usize = 64 << 20;

/// Bytes that are read at once.
const BUFFER: usize = 16 * 1024;

/// See the head of this file.
pub(super) struct Conversation {
    me: Weak<Conversation>,
    reactor: Rc<Reactor>,
    form: Form,
    name: String,
    socket: Rc<Socket>,
    state: RefCell<State>,
}

/// What its messages are.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Messages of an interface; those of this side come.
    Json(&'static Interface, Side),
    /// Any texts and bytes from a client, and whether somebody hears them.
    Plain { is_heard: bool },
}

impl Form {
    fn role(self) -> Role {
        match self {
            Form::Json(_, Side::Server) => Role::Client,
            _ => Role::Server,
        }
    }

    /// What has come: the number of a message, and its values.
    fn read(self, message: Message) -> Result<(usize, Vec<Datum<'static>>), (CloseCode, String)> {
        let plain = |bytes: Vec<u8>, is_binary| {
            (MESSAGE, vec![Datum::Text(Cow::Owned(bytes)), Datum::Boolean(is_binary)])
        };
        match (self, message) {
            (Form::Json(interface, other), Message::Text(json)) => {
                let read = json::read_message(json.as_bytes(), interface, other);
                let (message, values) = read.map_err(|why| (CloseCode::Invalid, why))?;
                Ok((message, values.into_iter().map(Datum::into_owned).collect()))
            }
            (Form::Plain { .. }, Message::Text(text)) => Ok(plain(text.as_bytes().into(), false)),
            (Form::Plain { .. }, Message::Binary(bytes)) => Ok(plain(bytes.into(), true)),
            _ => Err((CloseCode::Unsupported, "a text is expected".into())),
        }
    }
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
    /// That of the communication; of the halves: what hears, and what tells.
    pumps: [Option<Waker>; 2],
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
pub(super) fn accept(agreed: Agreed, io: Io, holdings: &Holdings) {
    let Agreed { export, halves } = agreed;
    let reactor = io.reactor.clone();
    let wire = WebSocket::from_raw_socket(Framed::new(io), Role::Server, Some(config(export.limit)));
    let name = (format!("a client of {}", export.path), Some(holdings.hold()));
    let Some(Halves { incoming, outgoing, request }) = halves else {
        let form = Form::Json(export.interface, Side::Client);
        return export.bring(Conversation::begin(&reactor, form, name, wire));
    };
    let form = Form::Plain { is_heard: incoming.is_some() };
    let conversation = Conversation::new(&reactor, form, name, wire);
    let halves = [(incoming, true), (outgoing, false)];
    for (export, hears) in halves.into_iter().filter_map(|(export, hears)| Some((export?, hears))) {
        let open = Some(request.clone());
        export.bring(Box::new(PlainHalf { conversation: conversation.clone(), open, hears }));
    }
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
    fn shrink(&mut self, role: Role) {
        if self.longest <= BUFFER || !self.wire.get_ref().is_between() || !self.wire.can_write() {
            return;
        }
        if self.wire.flush().is_err() {
            return;
        }
        self.longest = 0;
        let config = *self.wire.get_config();
        self.wire = WebSocket::from_raw_socket(self.wire.get_ref().clone(), role, Some(config));
    }
}

impl Conversation {
    /// A conversation whose handshake is done.
    pub(super) fn begin(
        reactor: &Rc<Reactor>,
        form: Form,
        name: (String, Option<Held>),
        wire: WebSocket<Framed>,
    ) -> Box<dyn Far> {
        Box::new(Half(Conversation::new(reactor, form, name, wire)))
    }

    fn new(
        reactor: &Rc<Reactor>,
        form: Form,
        (name, held): (String, Option<Held>),
        wire: WebSocket<Framed>,
    ) -> Rc<Conversation> {
        let socket = wire.get_ref().socket();
        let (arrived, end, pumps, leaves) = (None, None, [None, None], None);
        let (begun, unheard) = (None, MOST_UNHEARD);
        let state = State { wire, longest: 0, held, begun, arrived, end, pumps, leaves, unheard };
        let conversation = Rc::new_cyclic(|me| Conversation {
            me: me.clone(),
            reactor: reactor.clone(),
            form,
            name,
            socket,
            state: RefCell::new(state),
        });
        reactor.handle(conversation.socket.source(), conversation.clone());
        conversation
    }

    /// Reads the next message, if none waits to be taken.
    fn read(&self, state: &mut State) {
        while state.arrived.is_none() && state.end.is_none() {
            let message = match state.wire.read() {
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
                Ok(Message::Close(_)) => return state.end = Some(End::Closed),
                Ok(message) => message,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    state.shrink(self.form.role());
                    return self.count(state);
                }
                Err(Error::ConnectionClosed) => return state.end = Some(End::Closed),
                Err(error) => return self.refuse(state, code(&error), &error.to_string()),
            };
            state.longest = state.longest.max(message.len());
            if matches!(self.form, Form::Plain { is_heard: false }) {
                state.begun = None;
                continue;
            }
            match self.form.read(message) {
                Ok(arrived) => state.arrived = Some(arrived),
                Err((code, why)) => self.refuse(state, code, &why),
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
            Some(begun) if begun.elapsed() >= WHOLE => {
                self.refuse(state, CloseCode::Policy, "a message took too long");
            }
            Some(_) => {}
            None => {
                let begun = Instant::now();
                state.begun = Some(begun);
                self.look_again(begun + WHOLE);
            }
        }
    }

    fn look_again(&self, when: Instant) {
        self.reactor.at(when, weakly(&self.me, |conversation| conversation.ready()));
    }

    fn send(&self, message: Message) {
        let state = &mut *self.state.borrow_mut();
        let most = state.wire.get_config().max_message_size.unwrap_or(usize::MAX);
        let length = message.len();
        if length > most {
            let why = format!("a message of {length} bytes; there may be {most}");
            return self.refuse(state, CloseCode::Size, &why);
        }
        state.longest = state.longest.max(length);
        // An error of sending shows when it is read.
        let _ = state.wire.send(message);
        self.count(state);
        if length > BUFFER {
            // If nothing comes, this is the only place that frees buffers.
            self.read(state);
            if state.arrived.is_some() || state.end.is_some() {
                wake(&state.pumps);
            }
        }
    }

    /// What has come, for what `hears`; else only whether it is over.
    fn receive(&self, hears: bool) -> Arrival {
        let state = &mut *self.state.borrow_mut();
        if state.leaves.is_some() {
            return Arrival::Closed;
        }
        let had_none = state.arrived.is_none();
        self.read(state);
        if !hears && had_none && state.arrived.is_some() {
            wake(&state.pumps);
        }
        match (&state.arrived, &state.end) {
            (Some((message, _)), _) if hears => Arrival::Message(*message),
            (_, None) => Arrival::Nothing,
            (_, Some(End::Closed)) => Arrival::Closed,
            (_, Some(End::Lost(why))) => Arrival::Lost(why.clone()),
        }
    }

    fn take(&self, values: &mut Filling<'_>) -> Result<(), String> {
        let state = &mut *self.state.borrow_mut();
        // The next message may have come already.
        state.begun = None;
        let arrived = state.arrived.take();
        let (_, arrived) = arrived.ok_or("there is no message")?;
        arrived.iter().try_for_each(|value| values.put(value.value()))
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
        let (pumps, is_over) = {
            let state = &mut *self.state.borrow_mut();
            if state.leaves.is_some() {
                return;
            }
            state.leaves = Some(Instant::now() + PATIENCE);
            if state.end.is_none() {
                self.say_goodbye(state, code, why);
            }
            (take(&mut state.pumps), matches!(state.end, Some(End::Closed)))
        };
        // The other half ends, too.
        wake(&pumps);
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
        let (pumps, is_over) = {
            let state = &mut *self.state.borrow_mut();
            // Output for which there is no room is sent later.
            let _ = state.wire.flush();
            if state.leaves.is_none() && state.arrived.is_none() && state.end.is_none() {
                self.count(state);
            }
            if let Some(until) = state.leaves {
                ([None, None], self.hear_out(state) || until <= Instant::now())
            } else {
                (state.pumps.clone(), false)
            }
        };
        wake(&pumps);
        if is_over {
            self.end();
        }
    }
}

fn wake(pumps: &[Option<Waker>]) {
    pumps.iter().flatten().for_each(Waker::wake);
}

/// A communication whose messages are JSON.
struct Half(Rc<Conversation>);

impl Far for Half {
    fn attach(&mut self, pump: Waker) {
        self.0.state.borrow_mut().pumps[0] = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.0.socket.unsent() < FULL
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let Form::Json(interface, _) = self.0.form else { unreachable!("it is a half's otherwise") };
        let message = &interface.messages.get()[message];
        let mut out = Vec::with_capacity(128);
        json::write(&mut out, message, data(message.parameters.get(), *values));
        self.0.send(Message::text(String::from_utf8(out).expect("JSON is UTF-8")));
    }

    fn receive(&mut self) -> Arrival {
        self.0.receive(true)
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        self.0.take(values)
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

/// A half of the library's `Http`: it begins with the request.
struct PlainHalf {
    conversation: Rc<Conversation>,
    open: Option<Vec<Datum<'static>>>,
    /// `Http.Incoming`; else `Http.Outgoing`.
    hears: bool,
}

impl Far for PlainHalf {
    fn attach(&mut self, pump: Waker) {
        self.conversation.state.borrow_mut().pumps[usize::from(!self.hears)] = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.conversation.socket.unsent() < FULL
    }

    fn send(&mut self, _: usize, values: Outgoing<'_>) {
        let (bytes, is_binary) = (values.text(0), values.byte(1) != 0);
        self.conversation.send(match is_binary {
            true => Message::binary(bytes.to_vec()),
            false => Message::text(String::from_utf8_lossy(bytes).into_owned()),
        });
    }

    fn receive(&mut self) -> Arrival {
        match self.open {
            Some(_) => Arrival::Message(OPEN),
            None => self.conversation.receive(self.hears),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        match self.open.take() {
            Some(request) => request.iter().try_for_each(|value| values.put(value.value())),
            None => self.conversation.take(values),
        }
    }

    fn close(&mut self) {
        self.conversation.leave(CloseCode::Normal, "");
    }
}

impl Drop for PlainHalf {
    fn drop(&mut self) {
        self.conversation.leave(CloseCode::Error, "the service has ended");
    }
}
