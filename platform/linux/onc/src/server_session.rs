//! A communication with a service of this program, at the server's side: the calls that belong to it, one after
//! another.
//!
//! Over TCP, calls over one connection are one communication if the interface's communications last; all others are one
//! each. A call that ends the communication leaves those behind it to a next one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::service::Service;
use drystone_net::datum::data;

/// A call that came.
pub(super) struct Call {
    pub(super) xid: u32,
    /// Its index.
    pub(super) call: usize,
    pub(super) arguments: Vec<u8>,
    pub(super) back: Rc<dyn Back>,
}

/// What writes a reply; an error if it can't be written.
pub(super) type Write<'a> = &'a mut dyn FnMut(&mut Vec<u8>) -> Result<(), String>;

/// Where replies go.
pub(super) trait Back {
    /// Whether a reply can be sent; if not, the pump is woken when it can.
    fn has_room(&self, pump: &Waker) -> bool;

    /// Sends the reply to a call; if it can't be written, that the call failed.
    fn reply(&self, call: &Call, write: Write<'_>) -> Result<(), String>;

    /// Whether calls that come there may belong together.
    fn lasts(&self) -> bool;

    /// A communication that [lasts](Self::lasts) has ended with calls behind it.
    fn begin_anew(&self, calls: VecDeque<Call>);
}

/// See the head of this file.
pub(super) struct Session {
    service: Rc<Service>,
    state: RefCell<State>,
}

struct State {
    /// Calls that the near side hasn't got yet.
    calls: VecDeque<Call>,
    /// The call that it is to answer.
    open: Option<Call>,
    end: End,
    /// The near side has done with it.
    over: bool,
    pump: Option<Waker>,
}

/// What comes behind the calls that have come.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Others.
    More,
    /// Nothing.
    Closed,
    /// Nothing, and nobody waits for the replies any more.
    Lost,
}

impl Session {
    /// With its first calls; whether others may follow.
    pub(super) fn new(service: Rc<Service>, calls: VecDeque<Call>, lasts: bool) -> Rc<Session> {
        let end = if lasts { End::More } else { End::Closed };
        Rc::new(Session {
            service,
            state: RefCell::new(State { calls, open: None, end, over: false, pump: None }),
        })
    }

    /// Whether no more calls can be added.
    pub(super) fn is_over(&self) -> bool {
        self.state.borrow().over
    }

    /// One more call.
    pub(super) fn add(&self, call: Call) {
        self.state.borrow_mut().calls.push_back(call);
        self.wake();
    }

    /// Calls that came before all those that are here.
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
        // They keep the connection, whose end this may be.
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

/// A session as the runtime knows it.
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
        // Without one the connection has gone meanwhile.
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
    /// A call that is unanswered fails; those behind it begin anew.
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

/// What can be said of it is said.
fn fail(call: &Call) {
    let mut failed = |out: &mut Vec<u8>| {
        Service::failed(out, call.xid);
        Ok(())
    };
    let _ = call.back.reply(call, &mut failed);
}
