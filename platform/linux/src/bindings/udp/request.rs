//! A request, at the server's side: a communication with a service of this program, which ends with the reply.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::port::Port;
use crate::bindings::datum::data;

/// A request that has come. If it goes unanswered, its client is told.
pub(super) struct Request {
    port: Rc<Port>,
    client: SocketAddr,
    id: u32,
    message: usize,
    parameters: Vec<u8>,
    /// The client waits for a reply.
    is_awaited: bool,
}

impl Request {
    pub(super) fn new(
        port: Rc<Port>,
        client: SocketAddr,
        id: u32,
        message: usize,
        parameters: &[u8],
    ) -> Request {
        let is_awaited = port.service.is_answered(message);
        Request { port, client, id, message, parameters: parameters.to_vec(), is_awaited }
    }

    fn answer(&mut self, message: usize, values: Outgoing<'_>) -> Result<(), String> {
        let service = &self.port.service;
        let values = data(service.parameters(message), *values);
        let reply = service.datagram("reply", self.id, message, values)?;
        self.port.send(self.client, &reply);
        self.is_awaited = false;
        Ok(())
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.is_awaited {
            self.port.send(self.client, &self.port.service.refusal(self.id));
        }
        self.port.forget();
    }
}

/// A request as the runtime knows it.
pub(super) struct Served(Step);

enum Step {
    /// The service hasn't got it yet.
    Came(Request),
    /// It is to answer it.
    Open(Request),
    Over,
    /// It could not be answered.
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
    /// Nothing comes behind the request.
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
        let carried = request.port.service.values(request.message, &request.parameters);
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
