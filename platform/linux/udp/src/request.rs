//! A client's request, at the server's side: a communication with a service of this program, which ends with the reply.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::replies::Replies;
use drystone_net::datum::data;

/// A request that has come. If it is dropped unanswered, the client gets a refusal.
pub(super) struct Request {
    replies: Rc<Replies>,
    client: SocketAddr,
    id: u32,
    message: usize,
    parameters: Vec<u8>,
    /// The client waits for a reply.
    is_awaited: bool,
}

impl Request {
    pub(super) fn new(
        replies: Rc<Replies>,
        client: SocketAddr,
        id: u32,
        message: usize,
        parameters: &[u8],
    ) -> Request {
        let is_awaited = replies.service.is_answered(message);
        Request { replies, client, id, message, parameters: parameters.to_vec(), is_awaited }
    }

    fn answer(&mut self, message: usize, values: Outgoing<'_>) -> Result<(), String> {
        let service = &self.replies.service;
        let values = data(service.parameters(message), *values);
        let reply = service.datagram("reply", self.id, message, values)?;
        self.replies.send(self.client, &reply);
        self.is_awaited = false;
        Ok(())
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.is_awaited {
            self.replies.send(self.client, &self.replies.service.refusal(self.id));
        }
        self.replies.end();
    }
}

/// The request, as the runtime knows it.
pub(super) struct Served(Step);

enum Step {
    /// The service hasn't taken it.
    Came(Request),
    /// The service has taken it, and is to answer.
    Open(Request),
    Over,
    /// The answer can't be sent.
    Lost(String),
}

impl Served {
    pub(super) fn new(request: Request) -> Served {
        Served(Step::Came(request))
    }

    fn step(&mut self) -> Step {
        std::mem::replace(&mut self.0, Step::Over)
    }
}

impl Far for Served {
    /// Nothing follows the request.
    fn attach(&mut self, _: Waker) {}

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let Step::Open(mut request) = self.step() else { return };
        if let Err(why) = request.answer(message, values) {
            self.0 = Step::Lost(format!("a client by UDP can't be answered: {why}"));
        }
    }

    fn receive(&mut self) -> Arrival {
        match &self.0 {
            Step::Came(request) => Arrival::Message(request.message),
            Step::Open(_) => Arrival::Nothing,
            Step::Over => Arrival::Closed,
            Step::Lost(why) => Arrival::Lost(why.clone()),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let Step::Came(request) = self.step() else { return Err("there is no request".into()) };
        let carried = request.replies.service.values(request.message, &request.parameters);
        let carried = carried.ok_or("they were looked at")?;
        carried.iter().try_for_each(|value| values.put(value.value()))?;
        drop(carried);
        if request.is_awaited {
            self.0 = Step::Open(request);
        }
        Ok(())
    }

    fn close(&mut self) {}
}
