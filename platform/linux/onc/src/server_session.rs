//! A communication of an RPC client with a service of this program: calls that are carried out one after another.
//!
//! If the interface's communications last, all calls over one TCP connection belong to one of them, until a call ends
//! it; the calls behind that one begin another. Otherwise, and over UDP, each call is a communication of its own.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::service::Service;
use drystone_net::datum::data;

/// A client's call.
pub(super) struct Call {
    pub(super) xid: u32,
    /// The index of its kind in the service.
    pub(super) call: usize,
    pub(super) arguments: Vec<u8>,
    pub(super) back: Rc<dyn Back>,
}

/// Writes a reply, or says why it can't be written.
pub(super) type Write<'a> = &'a mut dyn FnMut(&mut Vec<u8>) -> Result<(), String>;

/// Where replies go.
pub(super) trait Back {
    /// Whether a reply can be sent; if not, the pump is woken when it can.
    fn has_room(&self, pump: &Waker) -> bool;

    /// Sends the reply to a call; if it can't be written, the reply is that the call has failed.
    ///
    /// # Errors
    /// The reply can't be written.
    fn reply(&self, call: &Call, write: Write<'_>) -> Result<(), String>;

    /// Whether several calls may belong to one communication.
    fn lasts(&self) -> bool;

    /// A communication that [lasts](Self::lasts) has ended, and these calls have come behind it: they begin another.
    fn begin_anew(&self, calls: VecDeque<Call>);
}

/// See the head of this file.
pub(super) struct Session {
    service: Rc<Service>,
    state: RefCell<State>,
}

struct State {
    /// Calls that the service hasn't taken.
    calls: VecDeque<Call>,
    /// The call that it has taken and not answered.
    open: Option<Call>,
    end: End,
    /// The service has left the communication.
    over: bool,
    pump: Option<Waker>,
}

/// What follows the calls that have come.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// More calls may.
    More,
    /// Nothing: the client is done.
    Closed,
    /// Nothing, and the replies can't be sent.
    Lost,
}

impl Session {
    /// With its first calls; more may follow if it `lasts`.
    pub(super) fn new(service: Rc<Service>, calls: VecDeque<Call>, lasts: bool) -> Rc<Session> {
        let end = if lasts { End::More } else { End::Closed };
        Rc::new(Session {
            service,
            state: RefCell::new(State { calls, open: None, end, over: false, pump: None }),
        })
    }

    /// Whether the service has left it, so that no more calls can be added.
    pub(super) fn is_over(&self) -> bool {
        self.state.borrow().over
    }

    /// Adds a call.
    pub(super) fn add(&self, call: Call) {
        self.state.borrow_mut().calls.push_back(call);
        self.wake();
    }

    /// Adds calls before all others, as they have come first.
    pub(super) fn precede(&self, mut calls: VecDeque<Call>) {
        let state = &mut *self.state.borrow_mut();
        calls.append(&mut state.calls);
        state.calls = calls;
    }

    /// The connection has come to its end: if calls are unanswered, the communication is lost.
    pub(super) fn end(&self) {
        let calls = {
            let state = &mut *self.state.borrow_mut();
            let is_idle = state.open.is_none() && state.calls.is_empty();
            state.end = if is_idle { End::Closed } else { End::Lost };
            (std::mem::take(&mut state.calls), state.open.take())
        };
        // Without the borrow: the calls keep the connection, which may end with them.
        drop(calls);
        self.wake();
    }

    fn wake(&self) {
        let pump = self.state.borrow().pump.clone();
        if let Some(pump) = pump {
            pump.wake();
        }
    }
}

/// The session, as the runtime knows it.
pub(super) struct Served(pub(super) Rc<Session>);

impl Far for Served {
    fn attach(&mut self, pump: Waker) {
        self.0.state.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        let state = self.0.state.borrow();
        match (&state.open, &state.pump) {
            (Some(call), Some(pump)) => call.back.has_room(pump),
            _ => true,
        }
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let session = &self.0;
        // If there is none, the connection has gone meanwhile.
        let Some(call) = session.state.borrow_mut().open.take() else { return };
        let mut write = |out: &mut Vec<u8>| {
            let values = data(session.service.parameters(message), *values);
            session.service.reply(out, (call.xid, call.call), Some(message), values)
        };
        if call.back.reply(&call, &mut write).is_err() {
            session.state.borrow_mut().end = End::Lost;
        }
    }

    fn receive(&mut self) -> Arrival {
        let state = self.0.state.borrow();
        match state.end {
            End::Lost => Arrival::Lost("an RPC client has gone, or can't be answered".into()),
            _ if state.open.is_some() => Arrival::Nothing,
            End::Closed if state.calls.is_empty() => Arrival::Closed,
            _ => state.calls.front().map_or(Arrival::Nothing, |call| {
                Arrival::Message(self.0.service.calls.calls[call.call].message)
            }),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let session = &self.0;
        let call = session.state.borrow_mut().calls.pop_front().ok_or("there is no call")?;
        let arguments = session.service.arguments(call.call, &call.arguments).ok_or("they were looked at")?;
        arguments.iter().try_for_each(|argument| values.put(argument.value()))?;
        if session.service.calls.calls[call.call].answers.is_empty() {
            let mut nothing = |out: &mut Vec<u8>| {
                session.service.reply(out, (call.xid, call.call), None, std::iter::empty())
            };
            return call.back.reply(&call, &mut nothing);
        }
        drop(arguments);
        session.state.borrow_mut().open = Some(call);
        Ok(())
    }

    fn close(&mut self) {}
}

impl Drop for Served {
    /// A call that is unanswered fails; the calls behind it begin another communication.
    fn drop(&mut self) {
        let (open, calls) = {
            let state = &mut *self.0.state.borrow_mut();
            state.over = true;
            state.pump = None;
            (state.open.take(), std::mem::take(&mut state.calls))
        };
        if let Some(call) = open {
            fail(&call);
        }
        match calls.front().map(|call| call.back.clone()) {
            Some(back) if back.lasts() => back.begin_anew(calls),
            _ => calls.iter().for_each(fail),
        }
    }
}

/// The reply is that the call has failed.
fn fail(call: &Call) {
    let mut failed = |out: &mut Vec<u8>| {
        Service::failed(out, call.xid);
        Ok(())
    };
    let _ = call.back.reply(call, &mut failed);
}
