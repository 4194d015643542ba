//! An RPC client over a TCP connection.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::mem::take;
use std::rc::Rc;

use drystone_net::dial::Dial;
use drystone_net::slot::Slot;
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::{Expectation, Handler, reason};
use drystone_runtime::far::Waker;
use mio::net::TcpStream;

use super::client::{Client, MOST_OPEN, Target};
use super::message::reply_to;
use super::record::{self, Record, Records};

/// See the head of this file.
pub(super) struct ClientStream {
    target: Target,
    state: RefCell<State>,
}

struct State {
    phase: Phase,
    calls: HashMap<u32, Rc<Slot>>,
    records: Records,
    /// Bytes to be sent when there is a connection.
    early: Vec<u8>,
    /// Pumps that wait for room for a call.
    waiting: Vec<Waker>,
    finishes: bool,
    /// While calls are unanswered, or a communication ends with this connection.
    expectation: Option<Expectation>,
}

enum Phase {
    Dialling(#[expect(dead_code, reason = "dropped, it is given up")] Rc<Dial>),
    Up(Rc<Socket>),
    Over(String),
}

/// A reply, and its call, if that is still waited for.
type Reply = (Option<Rc<Slot>>, Vec<u8>);

impl ClientStream {
    /// Begins to dial the server.
    pub(super) fn begin(target: Target) -> Rc<ClientStream> {
        let records = Records::new(target.limit);
        let client = Rc::new(ClientStream {
            target,
            state: RefCell::new(State {
                phase: Phase::Over(String::new()),
                calls: HashMap::new(),
                records,
                early: Vec::new(),
                waiting: Vec::new(),
                finishes: false,
                expectation: None,
            }),
        });
        let Target { reactor, .. } = &client.target;
        let dial = Dial::begin(reactor, client.target.addresses(), |_| Ok(()), {
            // It keeps the client, whose calls are to be made though nobody else may wait for them.
            let client = client.clone();
            move |dialled| client.dialled(dialled)
        });
        client.state.borrow_mut().phase = Phase::Dialling(dial);
        client
    }

    fn dialled(self: &Rc<ClientStream>, dialled: Result<TcpStream, String>) {
        let reactor = &self.target.reactor;
        let socket =
            dialled.and_then(|stream| Socket::new(reactor.clone(), stream).map_err(|error| reason(&error)));
        match socket {
            Ok(socket) => {
                reactor.handle(socket.source(), self.clone());
                let early = {
                    let state = &mut *self.state.borrow_mut();
                    state.phase = Phase::Up(socket.clone());
                    take(&mut state.early)
                };
                socket.write(&early);
            }
            Err(why) => self.lose(&why),
        }
    }

    fn connection(&self) -> Option<Rc<Socket>> {
        match &self.state.borrow().phase {
            Phase::Up(socket) => Some(socket.clone()),
            Phase::Dialling(_) | Phase::Over(_) => None,
        }
    }

    /// The server can't be reached any more, for this reason.
    fn lose(&self, why: &str) {
        let (phase, calls, waiting) = {
            let state = &mut *self.state.borrow_mut();
            let phase = std::mem::replace(&mut state.phase, Phase::Over(why.into()));
            state.expectation = None;
            state.early = Vec::new();
            (phase, take(&mut state.calls), take(&mut state.waiting))
        };
        if let Phase::Up(socket) = phase {
            socket.close();
            self.target.reactor.unhandle(socket.source());
        }
        calls.values().for_each(|slot| slot.done(Err(self.target.about(why))));
        waiting.iter().for_each(Waker::wake);
    }

    /// Takes the replies that have come.
    fn read(&self, socket: &Socket) -> Result<(), String> {
        loop {
            while let Some((slot, reply)) = self.next()? {
                if let Some(slot) = slot {
                    slot.done(Ok(reply));
                }
            }
            let bytes = &mut *self.target.reactor.scratch.borrow_mut();
            match socket.read_in_turn(bytes) {
                Ok(0) => return Err("the server has closed the connection".into()),
                Ok(length) => self.state.borrow_mut().records.feed(&bytes[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(reason(&error)),
            }
        }
    }

    /// The next reply.
    fn next(&self) -> Result<Option<Reply>, String> {
        let state = &mut *self.state.borrow_mut();
        match state.records.next() {
            Record::Incomplete => Ok(None),
            Record::TooLarge => {
                let limit = self.target.limit;
                Err(format!(
                    "the server sends more than {limit} bytes at once: BY Onc(limit: BYTES) allows more"
                ))
            }
            Record::Whole(record) => {
                let xid = reply_to(record).ok_or("what the server sends is no reply")?;
                let reply = record.to_vec();
                let slot = state.calls.remove(&xid);
                state.rest(&self.target);
                Ok(Some((slot, reply)))
            }
        }
    }

    fn end_if_finished(&self) {
        let is_finished = {
            let state = self.state.borrow();
            state.finishes && state.calls.is_empty() && !matches!(state.phase, Phase::Over(_))
        };
        if is_finished {
            self.lose("it is finished");
        }
    }
}

impl State {
    /// If no call is unanswered, nothing is expected; but the server may end a communication that lasts.
    fn rest(&mut self, target: &Target) {
        if self.calls.is_empty() && !target.lasts {
            self.expectation = None;
        }
    }

    fn is_full(&self) -> bool {
        match &self.phase {
            Phase::Dialling(_) => self.calls.len() >= MOST_OPEN,
            Phase::Up(socket) => self.calls.len() >= MOST_OPEN || socket.unsent() >= FULL,
            Phase::Over(_) => false,
        }
    }
}

impl Client for ClientStream {
    fn has_room(&self, pump: &Waker) -> bool {
        let state = &mut *self.state.borrow_mut();
        let is_full = state.is_full();
        if is_full {
            state.waiting.push(pump.clone());
        }
        !is_full
    }

    fn call(&self, slot: Rc<Slot>, write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), String>) {
        let mut out = Vec::new();
        let begun = record::begin(&mut out);
        if let Err(why) = write(&mut out).and_then(|()| record::end(&mut out, begun, self.target.limit)) {
            return slot.done(Err(self.target.about(why)));
        }
        let state = &mut *self.state.borrow_mut();
        match &state.phase {
            Phase::Over(why) => return slot.done(Err(self.target.about(why))),
            Phase::Up(socket) => socket.write(&out),
            Phase::Dialling(_) => state.early.extend_from_slice(&out),
        }
        state.calls.insert(slot.id, slot);
        state.expectation.get_or_insert_with(|| self.target.reactor.expect());
    }

    fn forget(&self, xid: u32) {
        let state = &mut *self.state.borrow_mut();
        state.calls.remove(&xid);
        state.rest(&self.target);
    }

    fn is_over(&self) -> bool {
        matches!(self.state.borrow().phase, Phase::Over(_))
    }

    fn finish(&self) {
        self.state.borrow_mut().finishes = true;
        self.end_if_finished();
    }
}

impl Handler for ClientStream {
    fn ready(&self) {
        let Some(socket) = self.connection() else { return };
        if let Err(why) = self.read(&socket) {
            self.lose(&why);
        }
        self.end_if_finished();
        let waiting = {
            let state = &mut *self.state.borrow_mut();
            if state.is_full() { Vec::new() } else { take(&mut state.waiting) }
        };
        waiting.iter().for_each(Waker::wake);
    }
}
