//! A communication of this program with an RPC server.
//!
//! If the interface's communications last, each has an RPC client of its own, with a connection or socket, so that the
//! server can tell them apart; otherwise all share one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};

use super::client::{Client, Target};
use super::client_datagrams::ClientDatagrams;
use super::client_stream::ClientStream;
use super::portmap::Transport;
use super::service::Service;
use drystone_net::datum::data;
use drystone_net::slot::{Slot, first_id};

/// A server to which a name is bound.
pub(super) struct Remote(Rc<Bound>);

struct Bound {
    service: Service,
    target: Target,
    shared: RefCell<Option<Rc<dyn Client>>>,
    xid: Cell<u32>,
}

impl Remote {
    pub(super) fn new(service: Service, target: Target) -> Remote {
        Remote(Rc::new(Bound { service, target, shared: RefCell::default(), xid: Cell::new(first_id()) }))
    }
}

impl Reach for Remote {
    fn begin(&mut self) -> Box<dyn Far> {
        let server = self.0.clone();
        Box::new(Caller {
            server,
            client: None,
            pump: None,
            asked: None,
            unanswered: VecDeque::new(),
            step: Step::Idle,
        })
    }
}

impl Bound {
    /// A client that isn't over.
    fn client(&self) -> Rc<dyn Client> {
        if self.service.calls.lasting {
            return self.new_client();
        }
        let shared = &mut *self.shared.borrow_mut();
        match shared {
            Some(client) if !client.is_over() => client.clone(),
            _ => shared.insert(self.new_client()).clone(),
        }
    }

    fn new_client(&self) -> Rc<dyn Client> {
        let target = self.target.clone();
        match target.transport {
            Transport::Tcp => ClientStream::begin(target),
            Transport::Udp => ClientDatagrams::begin(target),
        }
    }

    fn next_xid(&self) -> u32 {
        self.xid.replace(self.xid.get().wrapping_add(1))
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Some(client) = self.shared.take() {
            client.finish();
        }
    }
}

/// See the head of this file.
struct Caller {
    server: Rc<Bound>,
    client: Option<Rc<dyn Client>>,
    pump: Option<Waker>,
    /// The call that waits for an answer.
    asked: Option<(usize, Rc<Slot>)>,
    /// Calls without an answer in the interface. Their replies only say that they were carried out.
    unanswered: VecDeque<(usize, Rc<Slot>)>,
    step: Step,
}

/// What is known of the answer.
enum Step {
    Idle,
    /// The answer's message, the reply, and the place of its values in the reply.
    Answered(usize, Vec<u8>, usize),
    Lost(String),
}

impl Caller {
    fn client(&mut self) -> Rc<dyn Client> {
        let usable =
            self.client.clone().filter(|client| self.server.service.calls.lasting || !client.is_over());
        usable.unwrap_or_else(|| self.client.insert(self.server.client()).clone())
    }

    /// Looks at the replies that have come.
    fn look(&mut self) -> Result<(), String> {
        let server = &self.server;
        while let Some((call, slot)) = self.unanswered.front() {
            let Some(reply) = slot.reply() else { break };
            server.service.answer(*call, &reply?).map_err(|why| server.target.about(why))?;
            self.unanswered.pop_front();
        }
        if let Some((call, slot)) = &self.asked
            && let Some(reply) = slot.reply()
        {
            let (call, reply) = (*call, reply?);
            self.asked = None;
            let answer = server.service.answer(call, &reply).map_err(|why| server.target.about(why))?;
            if let Some((message, values)) = answer {
                let begin = reply.len() - values.len();
                self.step = Step::Answered(message, reply, begin);
            }
        }
        Ok(())
    }
}

impl Far for Caller {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        let Some(pump) = self.pump.clone() else { return true };
        self.client().has_room(&pump)
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let Some(pump) = self.pump.clone() else { return };
        let (server, client) = (self.server.clone(), self.client());
        let call = server.service.call_of(message);
        let slot = Slot::new(server.next_xid(), pump);
        let parameters = server.service.parameters(message);
        let mut write =
            |out: &mut Vec<u8>| server.service.ask(out, (slot.id, call), data(parameters, *values));
        client.call(slot.clone(), &mut write);
        if server.service.calls.calls[call].answers.is_empty() {
            self.unanswered.push_back((call, slot));
        } else {
            self.asked = Some((call, slot));
        }
    }

    fn receive(&mut self) -> Arrival {
        if matches!(self.step, Step::Idle)
            && let Err(why) = self.look()
        {
            self.step = Step::Lost(why);
        }
        match &self.step {
            Step::Answered(message, ..) => Arrival::Message(*message),
            Step::Lost(why) => Arrival::Lost(why.clone()),
            Step::Idle => {
                let is_idle = self.asked.is_none() && self.unanswered.is_empty();
                let lasting = self.server.service.calls.lasting;
                match &self.client {
                    Some(client) if lasting && is_idle && client.is_over() => Arrival::Closed,
                    _ => Arrival::Nothing,
                }
            }
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let Step::Answered(message, reply, begin) = std::mem::replace(&mut self.step, Step::Idle) else {
            return Err("there is no answer".into());
        };
        let results = self.server.service.results(message, &reply[begin..]).ok_or("they were looked at")?;
        results.iter().try_for_each(|result| values.put(result.value()))
    }

    fn close(&mut self) {}
}

impl Drop for Caller {
    /// Calls without an answer are still carried out.
    fn drop(&mut self) {
        let Some(client) = &self.client else { return };
        if let Some((_, slot)) = &self.asked {
            client.forget(slot.id);
        }
        if self.server.service.calls.lasting {
            client.finish();
        }
    }
}
