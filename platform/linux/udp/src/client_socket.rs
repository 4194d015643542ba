//! A client's UDP socket: all requests of the program to one server go out by it, and replies come back in any order.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_runtime::far::Waker;
use mio::net::UdpSocket;

use super::datagram::Head;
use super::unanswered::{Asked, Unanswered};
use drystone_net::datagram::connected;
use drystone_net::place::{Addresses, Place, Search, search};
use drystone_net::slot::{Slot, first_id};
use drystone_reactor::reason;
use drystone_reactor::{Expectation, Handler, Reactor};

/// Most requests that are unanswered: about as many small datagrams fit into a socket's default receive buffer.
const MOST_OPEN: usize = 256;

/// Datagrams that are taken in a row, before others have a turn.
const BATCH: usize = 64;

/// See the head of this file.
pub(super) struct ClientSocket {
    me: Weak<ClientSocket>,
    reactor: Rc<Reactor>,
    state: RefCell<State>,
}

struct State {
    phase: Phase,
    /// The number of the last request.
    last: u32,
    unanswered: Unanswered,
    /// Pumps that wait for room for a request.
    waiting: VecDeque<Waker>,
    /// When the handler runs next.
    alarm: Option<Instant>,
    /// While something may come.
    expectation: Option<Expectation>,
}

enum Phase {
    Searching(Search),
    Up(UdpSocket, usize),
    Over(String),
}

impl ClientSocket {
    pub(super) fn begin(reactor: &Rc<Reactor>, place: &Place) -> Rc<ClientSocket> {
        let socket = Rc::new_cyclic(|me| ClientSocket {
            me: me.clone(),
            reactor: reactor.clone(),
            state: RefCell::new(State {
                phase: Phase::Over(String::new()),
                last: first_id(),
                unanswered: Unanswered::default(),
                waiting: VecDeque::new(),
                alarm: None,
                expectation: None,
            }),
        });
        match place.addresses(place.port.unwrap_or_default()) {
            Addresses::Known(addresses) => socket.open(Ok(addresses)),
            Addresses::Unknown(look_up) => socket.search(look_up),
        }
        socket
    }

    fn search(&self, look_up: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static) {
        match search(&self.reactor, self.handler(), look_up) {
            Ok(search) => {
                let state = &mut *self.state.borrow_mut();
                state.phase = Phase::Searching(search);
                state.expectation = Some(self.reactor.expect());
            }
            Err(error) => self.give_up(&error),
        }
    }

    fn open(&self, addresses: io::Result<Vec<SocketAddr>>) {
        let first = addresses.and_then(|all| all.first().copied().ok_or(io::Error::other("no address")));
        let opened = first.and_then(|address| {
            let mut socket = connected(address)?;
            let source = self.reactor.watch(&mut socket)?;
            Ok((socket, source))
        });
        match opened {
            Ok((socket, source)) => {
                self.reactor.handle(source, self.handler());
                let state = &mut *self.state.borrow_mut();
                state.phase = Phase::Up(socket, source);
                state.rest();
            }
            Err(error) => self.give_up(&error),
        }
    }

    fn give_up(&self, error: &io::Error) {
        let state = &mut *self.state.borrow_mut();
        state.phase = Phase::Over(reason(error));
        state.rest();
    }

    /// The addresses that were looked up.
    fn found(&self) -> Option<io::Result<Vec<SocketAddr>>> {
        match &self.state.borrow().phase {
            Phase::Searching(search) => search.result(),
            _ => None,
        }
    }

    /// The handler, which doesn't keep the socket.
    fn handler(&self) -> Rc<dyn Handler> {
        Rc::new(Hearing(self.me.clone()))
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state.borrow().phase, Phase::Over(_))
    }

    /// Whether one more request can be made; if not, the pump is woken when it can.
    pub(super) fn has_room(&self, pump: &Waker) -> bool {
        let state = &mut *self.state.borrow_mut();
        let has_room = state.room() > 0;
        if !has_room {
            state.waiting.push_back(pump.clone());
        }
        has_room
    }

    /// A number for a request.
    pub(super) fn next_id(&self) -> u32 {
        let last = &mut self.state.borrow_mut().last;
        *last = last.wrapping_add(1);
        *last
    }

    /// Sends a request.
    pub(super) fn send(&self, datagram: &[u8]) -> Result<(), String> {
        let mut sent = self.try_to_send(datagram);
        if let Err(error) = &sent
            && error.kind() == io::ErrorKind::ConnectionRefused
        {
            // An ICMP error, about an earlier request.
            self.lose(&reason(error));
            sent = self.try_to_send(datagram);
        }
        sent.map_err(|error| reason(&error))
    }

    fn try_to_send(&self, datagram: &[u8]) -> io::Result<()> {
        match &self.state.borrow().phase {
            Phase::Up(socket, _) => socket.send(datagram).map(|_| ()),
            Phase::Searching(_) => Err(io::ErrorKind::NotConnected.into()),
            Phase::Over(why) => Err(io::Error::other(why.clone())),
        }
    }

    /// Waits for the reply to a request that was sent, of this form, for so long.
    pub(super) fn expect(&self, id: u32, form: u32, patience: Duration, pump: Waker) -> Rc<Slot> {
        let (slot, until) = (Slot::new(id, pump), Instant::now() + patience);
        {
            let state = &mut *self.state.borrow_mut();
            state.unanswered.add(Asked { form, slot: slot.clone(), patience, until });
            state.expectation.get_or_insert_with(|| self.reactor.expect());
        }
        self.run_at(until);
        slot
    }

    /// Nobody waits for the reply any more.
    pub(super) fn forget(&self, id: u32) {
        {
            let state = &mut *self.state.borrow_mut();
            state.unanswered.forget(id);
            state.rest();
        }
        self.let_in();
    }

    /// No unanswered request will be answered.
    fn lose(&self, why: &str) {
        let all = {
            let state = &mut *self.state.borrow_mut();
            let all = state.unanswered.all();
            state.rest();
            all
        };
        all.iter().for_each(|asked| asked.slot.done(Err(why.into())));
    }

    /// Takes the replies that have come; whether these are all.
    fn read(&self) -> bool {
        for _ in 0..BATCH {
            let bytes = &mut *self.reactor.scratch.borrow_mut();
            let received = match &self.state.borrow().phase {
                Phase::Up(socket, _) => socket.recv(bytes),
                _ => return true,
            };
            match received {
                Ok(length) => self.take(&bytes[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(error) => self.lose(&reason(&error)),
            }
        }
        if let Phase::Up(_, source) = self.state.borrow().phase {
            self.reactor.come_back(source);
        }
        false
    }

    fn take(&self, bytes: &[u8]) {
        let asked = Head::read(bytes).and_then(|(head, _)| {
            let state = &mut *self.state.borrow_mut();
            let asked = state.unanswered.take(head);
            state.rest();
            asked
        });
        asked.inspect(|asked| asked.slot.done(Ok(bytes.to_vec())));
    }

    /// Gives up the requests whose time is over.
    fn expire(&self) {
        let now = Instant::now();
        let (late, next) = {
            let state = &mut *self.state.borrow_mut();
            if state.alarm.is_none_or(|alarm| alarm > now) {
                return;
            }
            state.alarm = None;
            let late = state.unanswered.late(now);
            state.rest();
            (late, state.unanswered.first())
        };
        for Asked { slot, patience, .. } in late {
            slot.done(Err(format!("there was no answer in {} ms", patience.as_millis())));
        }
        next.inspect(|&next| self.run_at(next));
    }

    /// The handler runs at that time, if not before.
    fn run_at(&self, time: Instant) {
        let alarm = &mut self.state.borrow_mut().alarm;
        if alarm.is_none_or(|alarm| alarm > time) {
            *alarm = Some(time);
            self.reactor.at(time, self.handler());
        }
    }

    /// Wakes as many pumps that wait as there is room for. Some may have nothing to send any more: if none has, more
    /// are woken.
    fn let_in(&self) {
        let (woken, comes_back) = {
            let state = &mut *self.state.borrow_mut();
            let some = state.room().min(state.waiting.len());
            let woken: Vec<Waker> = state.waiting.drain(..some).collect();
            (woken, some > 0 && state.unanswered.is_empty() && !state.waiting.is_empty())
        };
        woken.iter().for_each(Waker::wake);
        if comes_back {
            self.reactor.at(Instant::now(), self.handler());
        }
    }
}

impl State {
    /// How many more requests can be made. If the socket is over, they fail at once.
    fn room(&self) -> usize {
        match self.phase {
            Phase::Searching(_) => 0,
            Phase::Up(..) => MOST_OPEN.saturating_sub(self.unanswered.len()),
            Phase::Over(_) => usize::MAX,
        }
    }

    /// If no request is unanswered, nothing is expected.
    fn rest(&mut self) {
        if self.unanswered.is_empty() && !matches!(self.phase, Phase::Searching(_)) {
            self.expectation = None;
        }
    }
}

impl Drop for ClientSocket {
    fn drop(&mut self) {
        if let Phase::Up(socket, source) = &mut self.state.get_mut().phase {
            self.reactor.unwatch(*source, socket);
        }
    }
}

/// Runs when something has come, or it is time.
struct Hearing(Weak<ClientSocket>);

impl Handler for Hearing {
    fn ready(&self) {
        let Some(socket) = self.0.upgrade() else { return };
        if let Some(addresses) = socket.found() {
            socket.open(addresses);
        }
        if socket.read() {
            socket.expire();
        }
        socket.let_in();
    }
}
