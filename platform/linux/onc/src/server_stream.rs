//! A client's TCP connection, at the server's side. Its calls are carried out concurrently, and answered as each is
//! done; if the interface's communications last, one after another.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::rc::{Rc, Weak};

use drystone_runtime::far::Waker;

use super::record::{self, Record, Records};
use super::server::Server;
use super::server_session::{Back, Call, Session, Write};
use super::service::{Asked, Service};
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::Handler;

/// Most calls of a connection that are unanswered: no more are read. Nor are they once the arguments of these take as
/// many bytes as the largest record.
const MOST_OPEN: usize = 64;

/// The connections to one address, by their sources.
pub(super) type ServerStreams = RefCell<HashMap<usize, Weak<ServerStream>>>;

/// See the head of this file.
pub(super) struct ServerStream {
    me: Weak<ServerStream>,
    server: Rc<Server>,
    all: Rc<ServerStreams>,
    socket: Rc<Socket>,
    state: RefCell<State>,
}

struct State {
    records: Records,
    /// The communication to which all calls belong, if communications last.
    session: Option<Rc<Session>>,
    /// How many calls are unanswered.
    open: usize,
    /// Bytes of their arguments.
    kept: usize,
    /// Who has an answer for which there is no room.
    waiting: Vec<Waker>,
    over: bool,
}

/// What has to be done next.
enum Step {
    /// More bytes are needed.
    Read,
    Reply(Vec<u8>),
    Call {
        xid: u32,
        call: usize,
        arguments: Vec<u8>,
    },
    /// The client doesn't keep to the format.
    End,
}

impl ServerStream {
    /// Serves a client that has connected.
    pub(super) fn begin_at(server: &Rc<Server>, all: &Rc<ServerStreams>, socket: Rc<Socket>) {
        let source = socket.source();
        let state = State {
            records: Records::new(server.service.limit),
            session: None,
            open: 0,
            kept: 0,
            waiting: Vec::new(),
            over: false,
        };
        let connection = Rc::new_cyclic(|me| ServerStream {
            me: me.clone(),
            server: server.clone(),
            all: all.clone(),
            socket,
            state: RefCell::new(state),
        });
        all.borrow_mut().insert(source, Rc::downgrade(&connection));
        server.reactor.handle(source, connection);
    }

    fn begin(&self, calls: VecDeque<Call>) {
        let lasts = self.server.service.calls.lasting;
        let session = Session::new(self.server.service.clone(), calls, lasts);
        if lasts {
            self.state.borrow_mut().session = Some(session.clone());
        }
        self.server.arrivals.bring(session);
    }

    fn carry_out(&self, call: Call) {
        let session = self.state.borrow().session.clone();
        match session.filter(|session| !session.is_over()) {
            Some(session) => session.add(call),
            None => self.begin(VecDeque::from([call])),
        }
    }

    /// Reads, and carries out calls, until it would block or there are too many calls.
    fn serve(&self) {
        while !self.is_full() {
            match self.next() {
                Step::Read => match self.read() {
                    Ok(true) => {}
                    Ok(false) => return self.end(),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                    Err(_) => return self.end(),
                },
                Step::Reply(reply) => {
                    let mut out = Vec::with_capacity(reply.len() + 4);
                    let begun = record::begin(&mut out);
                    out.extend_from_slice(&reply);
                    record::end(&mut out, begun, usize::MAX).expect("it is short");
                    self.socket.write(&out);
                }
                Step::Call { xid, call, arguments } => {
                    let Some(me) = self.me.upgrade() else { return };
                    self.state.borrow_mut().keep(arguments.len());
                    self.carry_out(Call { xid, call, arguments, back: me });
                }
                Step::End => return self.end(),
            }
        }
    }

    fn is_full(&self) -> bool {
        let state = self.state.borrow();
        state.over || state.has_enough(self.server.service.limit) || self.socket.unsent() >= FULL
    }

    fn next(&self) -> Step {
        match self.state.borrow_mut().records.next() {
            Record::Incomplete => Step::Read,
            Record::TooLarge => Step::End,
            Record::Whole(record) => match self.server.service.asked(record) {
                Asked::Nothing => Step::End,
                Asked::Reply(reply) => Step::Reply(reply),
                Asked::Call { xid, call, arguments } => {
                    Step::Call { xid, call, arguments: arguments.to_vec() }
                }
            },
        }
    }

    /// Reads once; `false`: the client has closed the connection.
    fn read(&self) -> io::Result<bool> {
        let bytes = &mut *self.server.reactor.scratch.borrow_mut();
        let length = self.socket.read_in_turn(bytes)?;
        self.state.borrow_mut().records.feed(&bytes[..length]);
        Ok(length > 0)
    }

    /// Ends the connection.
    pub(super) fn end(&self) {
        let (session, waiting) = {
            let state = &mut *self.state.borrow_mut();
            if std::mem::replace(&mut state.over, true) {
                return;
            }
            (state.session.take(), std::mem::take(&mut state.waiting))
        };
        self.socket.close();
        self.all.borrow_mut().remove(&self.socket.source());
        waiting.iter().for_each(Waker::wake);
        if let Some(session) = session {
            session.end();
        }
        self.server.reactor.unhandle(self.socket.source());
    }
}

impl State {
    /// One more call, with so many bytes.
    fn keep(&mut self, bytes: usize) {
        self.open += 1;
        self.kept += bytes;
    }

    /// Whether calls have to be answered before more are read.
    fn has_enough(&self, limit: usize) -> bool {
        self.open >= MOST_OPEN || self.kept >= limit
    }
}

impl Back for ServerStream {
    fn has_room(&self, pump: &Waker) -> bool {
        let is_full = self.socket.unsent() >= FULL && !self.state.borrow().over;
        if is_full {
            self.state.borrow_mut().waiting.push(pump.clone());
        }
        !is_full
    }

    fn reply(&self, call: &Call, write: Write<'_>) -> Result<(), String> {
        let limit = self.server.service.limit;
        let mut out = Vec::new();
        let begun = record::begin(&mut out);
        let written = write(&mut out).and_then(|()| record::end(&mut out, begun, limit));
        if written.is_err() {
            out.truncate(begun);
            let begun = record::begin(&mut out);
            Service::failed(&mut out, call.xid);
            record::end(&mut out, begun, usize::MAX)?;
        }
        self.socket.write(&out);
        let was_full = {
            let state = &mut *self.state.borrow_mut();
            let had_enough = state.has_enough(limit);
            state.open -= 1;
            state.kept -= call.arguments.len();
            had_enough && !state.has_enough(limit)
        };
        if was_full {
            self.serve();
        }
        written
    }

    fn lasts(&self) -> bool {
        self.server.service.calls.lasting
    }

    fn begin_anew(&self, calls: VecDeque<Call>) {
        if self.state.borrow().over {
            return;
        }
        // A session may have begun already, with a call that was read since the failed one was answered.
        let session = self.state.borrow().session.clone();
        match session.filter(|session| !session.is_over()) {
            Some(session) => session.precede(calls),
            None => self.begin(calls),
        }
    }
}

impl Handler for ServerStream {
    fn ready(&self) {
        if self.socket.unsent() < FULL {
            let waiting = std::mem::take(&mut self.state.borrow_mut().waiting);
            waiting.iter().for_each(Waker::wake);
        }
        self.serve();
    }
}
