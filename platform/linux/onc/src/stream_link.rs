//! A client's connection to a server by TCP.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use super::link::{Link, MOST_OPEN, Target};
use super::message::reply_to;
use super::record::{self, Record, Records};
use drystone_net::dial::{Addresses, connect};
use drystone_net::place::Search;
use drystone_net::slot::Slot;
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::reason;
use drystone_reactor::{Expectation, Handler};
use drystone_runtime::far::Waker;

/// How long a connection may take to be made.
const PATIENCE: Duration = Duration::from_secs(10);

/// See the head of this file.
pub(super) struct StreamLink {
    me: Weak<StreamLink>,
    target: Target,
    state: RefCell<State>,
}

struct State {
    phase: Phase,
    /// When it is given up to make a connection.
    until: Instant,
    calls: HashMap<u32, Rc<Slot>>,
    records: Records,
    /// What is to be sent when there is a connection.
    early: Vec<u8>,
    waiting: Vec<Waker>,
    finishes: bool,
    /// While calls are unanswered, or a communication ends with this connection.
    expectation: Option<Expectation>,
}

enum Phase {
    Searching(Search),
    Connecting(Rc<Socket>, Addresses),
    Up(Rc<Socket>),
    Over(String),
}

/// A reply, and whose it is, if it is still waited for.
type Reply = (Option<Rc<Slot>>, Vec<u8>);

impl StreamLink {
    /// Begins to make a connection.
    pub(super) fn begin(target: Target) -> Rc<StreamLink> {
        let records = Records::new(target.limit);
        let link = Rc::new_cyclic(|me| StreamLink {
            me: me.clone(),
            target,
            state: RefCell::new(State {
                phase: Phase::Over(String::new()),
                until: Instant::now() + PATIENCE,
                calls: HashMap::new(),
                records,
                early: Vec::new(),
                waiting: Vec::new(),
                finishes: false,
                expectation: None,
            }),
        });
        let target = &link.target;
        match target.known() {
            Some(addresses) => link.dial(Addresses::new(addresses, "no address")),
            None => match target.search(link.clone()) {
                Ok(search) => link.state.borrow_mut().phase = Phase::Searching(search),
                Err(error) => link.lose(&reason(&error)),
            },
        }
        link
    }

    /// Tries the next address; if there is none, the last failure is why.
    fn dial(&self, mut addresses: Addresses) {
        let reactor = &self.target.reactor;
        let Some(socket) = addresses.next(|address| connect(reactor, address)) else {
            return self.lose(addresses.why());
        };
        let Some(me) = self.me.upgrade() else { return };
        reactor.handle(socket.source(), me.clone());
        let until = Instant::now() + PATIENCE;
        reactor.at(until, me);
        let state = &mut *self.state.borrow_mut();
        state.until = until;
        state.phase = Phase::Connecting(socket, addresses);
    }

    /// Goes on with what had to be waited for to have a connection; `None`: it has to wait on, or there will be none.
    fn connection(&self) -> Option<Rc<Socket>> {
        let (found, connected) = match &self.state.borrow().phase {
            Phase::Up(socket) => return Some(socket.clone()),
            Phase::Over(_) => return None,
            Phase::Searching(search) => (search.result(), None),
            Phase::Connecting(socket, _) => (None, socket.connected()),
        };
        match found {
            Some(Ok(addresses)) => {
                self.leave_phase();
                self.dial(Addresses::new(addresses, "no address"));
            }
            Some(Err(error)) => self.lose(&reason(&error)),
            None => {}
        }
        match connected {
            Some(Ok(())) => return self.is_up(),
            Some(Err(error)) => self.dial_next(error),
            None if self.state.borrow().is_late() => self.dial_next(io::ErrorKind::TimedOut.into()),
            None => {}
        }
        None
    }

    fn is_up(&self) -> Option<Rc<Socket>> {
        let early = {
            let state = &mut *self.state.borrow_mut();
            let Phase::Connecting(socket, _) = &state.phase else { return None };
            let socket = socket.clone();
            state.phase = Phase::Up(socket.clone());
            (socket, std::mem::take(&mut state.early))
        };
        early.0.write(&early.1);
        Some(early.0)
    }

    fn dial_next(&self, error: io::Error) {
        if let Phase::Connecting(socket, mut addresses) = self.leave_phase() {
            self.target.reactor.unhandle(socket.source());
            addresses.fail(reason(&error));
            self.dial(addresses);
        }
    }

    fn leave_phase(&self) -> Phase {
        std::mem::replace(&mut self.state.borrow_mut().phase, Phase::Over(String::new()))
    }

    /// There will be no more replies.
    fn lose(&self, why: &str) {
        let (phase, calls, waiting) = {
            let state = &mut *self.state.borrow_mut();
            let phase = std::mem::replace(&mut state.phase, Phase::Over(why.into()));
            state.expectation = None;
            state.early = Vec::new();
            (phase, std::mem::take(&mut state.calls), std::mem::take(&mut state.waiting))
        };
        if let Phase::Connecting(socket, _) | Phase::Up(socket) = phase {
            socket.close();
            self.target.reactor.unhandle(socket.source());
        }
        calls.values().for_each(|slot| slot.done(Err(self.target.about(why))));
        waiting.iter().for_each(Waker::wake);
    }

    /// Gives the replies that have come to those who wait for them.
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
    /// Nothing is expected if nothing is unanswered; but the server may end a communication that lasts.
    fn rest(&mut self, target: &Target) {
        if self.calls.is_empty() && !target.lasts {
            self.expectation = None;
        }
    }

    fn is_late(&self) -> bool {
        matches!(self.phase, Phase::Connecting(..)) && self.until <= Instant::now()
    }

    fn is_full(&self) -> bool {
        match &self.phase {
            Phase::Over(_) => false,
            Phase::Up(socket) => self.calls.len() >= MOST_OPEN || socket.unsent() >= FULL,
            _ => self.calls.len() >= MOST_OPEN,
        }
    }
}

impl Link for StreamLink {
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
            _ => state.early.extend_from_slice(&out),
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

impl Handler for StreamLink {
    fn ready(&self) {
        let Some(socket) = self.connection() else { return };
        if let Err(why) = self.read(&socket) {
            self.lose(&why);
        }
        self.end_if_finished();
        let waiting = {
            let state = &mut *self.state.borrow_mut();
            if state.is_full() { Vec::new() } else { std::mem::take(&mut state.waiting) }
        };
        waiting.iter().for_each(Waker::wake);
    }
}
