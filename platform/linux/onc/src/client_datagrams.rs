//! An RPC client over a UDP socket. A call is sent again, with exponential back-off, until it is answered or its time
//! is over. A server without a duplicate request cache may carry it out more than once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_runtime::far::Waker;
use mio::net::UdpSocket;

use super::client::{Client, MOST_OPEN, Target};
use super::message::reply_to;
use drystone_net::datagram::{connected, fits};
use drystone_net::place::{Addresses, Search, search};
use drystone_net::slot::Slot;
use drystone_reactor::reason;
use drystone_reactor::{Expectation, Handler};

/// The pause before a call is sent again: at first, and at most; and the time after which it is given up.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_secs(30);

/// Datagrams that are taken in a row, before others have a turn.
const BATCH: usize = 64;

/// See the head of this file.
pub(super) struct ClientDatagrams {
    me: Weak<ClientDatagrams>,
    target: Target,
    state: RefCell<State>,
}

struct State {
    phase: Phase,
    calls: HashMap<u32, Call>,
    waiting: Vec<Waker>,
    /// When the handler runs next.
    alarm: Option<Instant>,
    finishes: bool,
    expectation: Option<Expectation>,
}

enum Phase {
    Searching(Search),
    Up(UdpSocket, usize),
    Over(String),
}

struct Call {
    slot: Rc<Slot>,
    bytes: Vec<u8>,
    /// When it is sent again.
    next: Instant,
    pause: Duration,
    until: Instant,
}

impl ClientDatagrams {
    pub(super) fn begin(target: Target) -> Rc<ClientDatagrams> {
        let client = Rc::new_cyclic(|me| ClientDatagrams {
            me: me.clone(),
            target,
            state: RefCell::new(State {
                phase: Phase::Over(String::new()),
                calls: HashMap::new(),
                waiting: Vec::new(),
                alarm: None,
                finishes: false,
                expectation: None,
            }),
        });
        match client.target.addresses() {
            Addresses::Known(addresses) => client.open(&addresses),
            Addresses::Unknown(look_up) => match search(&client.target.reactor, client.clone(), look_up) {
                Ok(search) => client.state.borrow_mut().phase = Phase::Searching(search),
                Err(error) => client.lose(&reason(&error)),
            },
        }
        client
    }

    fn open(&self, addresses: &[SocketAddr]) {
        let socket = addresses.first().ok_or(io::Error::other("no address")).and_then(|&address| {
            let mut socket = connected(address)?;
            let source = self.target.reactor.watch(&mut socket)?;
            Ok((socket, source))
        });
        match socket {
            Ok((socket, source)) => {
                let Some(me) = self.me.upgrade() else { return };
                self.target.reactor.handle(source, me);
                let state = &mut *self.state.borrow_mut();
                state.calls.values().for_each(|call| send(&socket, &call.bytes));
                state.phase = Phase::Up(socket, source);
            }
            Err(error) => self.lose(&reason(&error)),
        }
    }

    /// The server can't be reached any more, for this reason.
    fn lose(&self, why: &str) {
        let (phase, calls, waiting) = {
            let state = &mut *self.state.borrow_mut();
            let phase = std::mem::replace(&mut state.phase, Phase::Over(why.into()));
            state.expectation = None;
            (phase, std::mem::take(&mut state.calls), std::mem::take(&mut state.waiting))
        };
        if let Phase::Up(mut socket, source) = phase {
            self.target.reactor.unwatch(source, &mut socket);
        }
        calls.values().for_each(|call| call.slot.done(Err(self.target.about(why))));
        waiting.iter().for_each(Waker::wake);
    }

    fn found(&self) -> Option<io::Result<Vec<SocketAddr>>> {
        match &self.state.borrow().phase {
            Phase::Searching(search) => search.result(),
            _ => None,
        }
    }

    /// Takes the replies that have come.
    fn read(&self) -> io::Result<()> {
        for _ in 0..BATCH {
            let bytes = &mut *self.target.reactor.scratch.borrow_mut();
            let slot = {
                let state = &mut *self.state.borrow_mut();
                let Phase::Up(socket, _) = &state.phase else { return Ok(()) };
                let length = match socket.recv(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                    received => received?,
                };
                let call = reply_to(&bytes[..length]).and_then(|xid| state.calls.remove(&xid));
                state.rest();
                call.map(|call| (call.slot, length))
            };
            if let Some((slot, length)) = slot {
                slot.done(Ok(bytes[..length].to_vec()));
            }
        }
        if let Phase::Up(_, source) = self.state.borrow().phase {
            self.target.reactor.come_back(source);
        }
        Ok(())
    }

    /// Sends again the calls that are due, and gives up those whose time is over.
    fn repeat(&self) {
        let now = Instant::now();
        let late: Vec<Rc<Slot>> = {
            let state = &mut *self.state.borrow_mut();
            if state.alarm.is_none_or(|alarm| alarm > now) {
                return;
            }
            state.alarm = None;
            let late: Vec<u32> =
                state.calls.iter().filter(|(_, call)| call.until <= now).map(|(xid, _)| *xid).collect();
            let late =
                late.into_iter().filter_map(|xid| state.calls.remove(&xid)).map(|call| call.slot).collect();
            for call in state.calls.values_mut().filter(|call| call.next <= now) {
                if let Phase::Up(socket, _) = &state.phase {
                    send(socket, &call.bytes);
                }
                call.pause = (call.pause * 2).min(LONGEST_PAUSE);
                call.next = call.until.min(now + call.pause);
            }
            state.rest();
            late
        };
        late.iter().for_each(|slot| slot.done(Err(self.target.about("no answer"))));
        self.wait();
    }

    /// Has the handler run when the next call is due.
    fn wait(&self) {
        let state = &mut *self.state.borrow_mut();
        let Some(next) = state.calls.values().map(|call| call.next).min() else { return };
        if state.alarm.is_none_or(|alarm| alarm > next)
            && let Some(me) = self.me.upgrade()
        {
            state.alarm = Some(next);
            self.target.reactor.at(next, me);
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

/// A call that can't be sent now is lost, like any datagram, and is sent again.
fn send(socket: &UdpSocket, bytes: &[u8]) {
    let _ = socket.send(bytes);
}

impl State {
    /// If no call is unanswered, nothing is expected.
    fn rest(&mut self) {
        if self.calls.is_empty() {
            self.expectation = None;
        }
    }
}

impl Client for ClientDatagrams {
    fn has_room(&self, pump: &Waker) -> bool {
        let state = &mut *self.state.borrow_mut();
        let is_full = state.calls.len() >= MOST_OPEN;
        if is_full {
            state.waiting.push(pump.clone());
        }
        !is_full
    }

    fn call(&self, slot: Rc<Slot>, write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), String>) {
        let mut bytes = Vec::new();
        let written = write(&mut bytes).and_then(|()| fits("call", &bytes));
        if let Err(why) = written {
            return slot.done(Err(self.target.about(why)));
        }
        {
            let state = &mut *self.state.borrow_mut();
            match &state.phase {
                Phase::Over(why) => return slot.done(Err(self.target.about(why))),
                Phase::Up(socket, _) => send(socket, &bytes),
                Phase::Searching(_) => {}
            }
            let now = Instant::now();
            let (next, until) = (now + FIRST_PAUSE, now + PATIENCE);
            state.calls.insert(slot.id, Call { slot, bytes, next, pause: FIRST_PAUSE, until });
            state.expectation.get_or_insert_with(|| self.target.reactor.expect());
            // That of an earlier call, which is due before this one.
            if state.alarm.is_some() {
                return;
            }
        }
        self.wait();
    }

    fn forget(&self, xid: u32) {
        let state = &mut *self.state.borrow_mut();
        state.calls.remove(&xid);
        state.rest();
    }

    fn is_over(&self) -> bool {
        matches!(self.state.borrow().phase, Phase::Over(_))
    }

    fn finish(&self) {
        self.state.borrow_mut().finishes = true;
        self.end_if_finished();
    }
}

impl Handler for ClientDatagrams {
    fn ready(&self) {
        match self.found() {
            Some(Ok(addresses)) => self.open(&addresses),
            Some(Err(error)) => self.lose(&reason(&error)),
            None => {}
        }
        if let Err(error) = self.read() {
            self.lose(&reason(&error));
        }
        self.repeat();
        self.end_if_finished();
        let waiting = std::mem::take(&mut self.state.borrow_mut().waiting);
        waiting.iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portmap::Transport;
    use drystone_net::place::Place;
    use drystone_reactor::Reactor;

    #[test]
    fn a_server_that_sends_without_a_pause_leaves_others_their_turn() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").expect("there are ports");
        let address = server.local_addr().expect("it has one");
        let target = Target {
            reactor: Reactor::new().expect("there are descriptors"),
            place: Place::parse(&format!("//{address}")).expect("it is one"),
            transport: Transport::Udp,
            program: (1, 1),
            lasts: false,
            limit: 1,
            name: "onc+udp:here".into(),
        };
        let client = ClientDatagrams::begin(target);
        let socket = |use_it: &dyn Fn(&UdpSocket)| match &client.state.borrow().phase {
            Phase::Up(socket, _) => use_it(socket),
            _ => panic!("it is up"),
        };
        socket(&|socket| {
            let client = socket.local_addr().expect("it has one");
            for _ in 0..=BATCH {
                server.send_to(b"no reply", client).expect("there is room");
            }
        });
        client.read().expect("it is up");
        socket(&|socket| assert!(socket.recv(&mut [0; 9]).is_ok(), "all was read in one turn"));
    }
}
