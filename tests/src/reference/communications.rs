//! How communications begin, go on and end: what each side may send, receive and close.

use std::collections::VecDeque;

use drystone_language::program::{Interface, InterfaceId};
use drystone_language::source::Span;

use super::communication::{Communication, Message, Side, components, next_state};
use super::connections::Route;
use super::identity::{CommunicationId, Event, InstanceId, Role, SYSTEM};
use super::links::{End, Link};
use super::outcome::Kind;
use super::value::Value;
use super::world::World;

/// The result of an attempt that may have to wait.
pub(super) enum Attempt<T> {
    Done(T),
    Wait(Event),
    Failed(Kind),
}

impl World<'_> {
    /// The communication at a client's end, begun by its first use.
    pub fn begin(
        &self,
        client: InstanceId,
        end: End,
        interface: InterfaceId,
    ) -> Attempt<Option<CommunicationId>> {
        if let Some(&id) = self.state.borrow().ends.get(&end) {
            return Attempt::Done(Some(id));
        }
        match self.route(end) {
            Route::Unconnected => Attempt::Wait(Event::Connections),
            Route::Broken => Attempt::Done(None),
            Route::Served { server, path } => Attempt::Done(Some(self.open(Communication {
                end,
                client,
                server,
                interface,
                path,
                client_state: 0,
                server_state: 0,
                buffer: VecDeque::new(),
                client_closed: false,
                service_ended: false,
                broken: false,
                ending: false,
            }))),
        }
    }

    /// Enters a new communication into the tables and starts its service.
    fn open(&self, communication: Communication) -> CommunicationId {
        let mut state = self.state.borrow_mut();
        let id = CommunicationId(state.fresh());
        let server = communication.server;
        if !communication.client_closed {
            state.ends.insert(communication.end, id);
        }
        for on_the_way in communication.path.iter().map(|link| link.instance()).chain([server]) {
            if let Some(instance) = state.instances.get_mut(&on_the_way) {
                instance.communications.insert(id);
            }
        }
        state.communications.insert(id, communication);
        state.start(server, Role::Service(id));
        id
    }

    /// Forgets a communication that neither side uses any more.
    fn forget(&self, id: CommunicationId) {
        let mut state = self.state.borrow_mut();
        let Some(mut communication) = state.communications.remove(&id) else { return };
        state.orphans.extend(components(communication.buffer.drain(..)));
        if state.ends.get(&communication.end) == Some(&id) {
            state.ends.remove(&communication.end);
        }
        let links = communication.path.iter().map(|link| link.instance());
        for on_the_way in links.chain([communication.server]) {
            if let Some(instance) = state.instances.get_mut(&on_the_way) {
                instance.communications.remove(&id);
            }
            state.wake(Event::Instance(on_the_way));
        }
        state.wake(Event::Communication(id));
    }

    /// Sends from the client's end. `Done(Some(..))` asks the sender to put the message into that communication,
    /// `Done(None)` to drop it.
    pub fn may_send(
        &self,
        client: InstanceId,
        end: End,
        interface: InterfaceId,
        message: usize,
    ) -> Attempt<Option<CommunicationId>> {
        let id = match self.begin(client, end, interface) {
            Attempt::Done(Some(id)) => id,
            other => return other,
        };
        let protocol = &self.program.interfaces[interface.index()];
        let state = self.state.borrow();
        let communication = &state.communications[&id];
        let here = communication.client_state;
        let can_begin = next_state(protocol, 0, message).is_some();
        let can_end = protocol.states[here].may_end;
        if communication.broken {
            drop(state);
            self.drop_unheard(id);
            return Attempt::Done(None);
        }
        if communication.service_ended {
            let unread = communication.front(Side::Client, protocol).is_some();
            if !can_begin || (unread && !can_end) {
                return Attempt::Failed(Kind::ProtocolViolation);
            }
            drop(state);
            if let Ok(unread) = self.close(id) {
                self.state.borrow_mut().orphans.extend(unread);
            }
            self.forget(id);
            return self.may_send(client, end, interface, message);
        }
        if next_state(protocol, here, message).is_some() {
            if communication.buffer.len() < self.options.capacity {
                Attempt::Done(Some(id))
            } else {
                Attempt::Wait(Event::Communication(id))
            }
        } else if can_begin && can_end {
            Attempt::Wait(Event::Communication(id))
        } else {
            Attempt::Failed(Kind::ProtocolViolation)
        }
    }

    /// When a side sends to a lost peer, drops the messages that the side has not received.
    fn drop_unheard(&self, id: CommunicationId) {
        let mut state = self.state.borrow_mut();
        let state_ref = &mut *state;
        let communication = state_ref.communications.get_mut(&id).expect("just seen");
        state_ref.orphans.extend(components(communication.buffer.drain(..)));
    }

    /// Sends from the service's end, with results as for [`World::may_send`].
    pub fn may_answer(&self, id: CommunicationId, message: usize) -> Attempt<Option<CommunicationId>> {
        let state = self.state.borrow();
        let communication = &state.communications[&id];
        let protocol = &self.program.interfaces[communication.interface.index()];
        if communication.broken && !communication.ending {
            drop(state);
            self.drop_unheard(id);
            return Attempt::Done(None);
        }
        if communication.ending {
            return Attempt::Done(None);
        }
        match next_state(protocol, communication.server_state, message) {
            None => Attempt::Failed(Kind::ProtocolViolation),
            Some(next) if communication.client_closed => {
                drop(state);
                self.state.borrow_mut().communications.get_mut(&id).expect("just seen").server_state = next;
                Attempt::Done(None)
            }
            Some(_) if communication.buffer.len() < self.options.capacity => Attempt::Done(Some(id)),
            Some(_) => Attempt::Wait(Event::Communication(id)),
        }
    }

    /// Puts a message that may be sent into the buffer.
    pub fn put(&self, id: CommunicationId, side: Side, message: Message) {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let communication = state.communications.get_mut(&id).expect("a message goes into a communication");
        let protocol = &self.program.interfaces[communication.interface.index()];
        let next = next_state(protocol, communication.state(side), message.index);
        communication.advance(side, next.expect("the message may be sent"));
        let receiver = match side {
            Side::Client => communication.server,
            Side::Server => communication.client,
        };
        for value in &message.values {
            if let Value::Component(Some(component)) = value
                && let Some(component) = state.instances.get_mut(component)
            {
                component.parent = Some(receiver);
            }
        }
        communication.buffer.push_back(message);
        state.wake(Event::Communication(id));
    }

    /// Takes the next message, which must be the wanted one. The result is `Done(None)` if the client is lost.
    pub fn take(&self, id: CommunicationId, side: Side, wanted: usize) -> Attempt<Option<Vec<Value>>> {
        let mut state = self.state.borrow_mut();
        let communication =
            state.communications.get_mut(&id).expect("a service or client has its communication");
        let protocol = &self.program.interfaces[communication.interface.index()];
        let here = communication.state(side);
        if communication.front(side, protocol).is_none()
            && communication.leaves_service()
            && side == Side::Server
        {
            return Attempt::Done(None);
        }
        let Some(next) = next_state(protocol, here, wanted) else {
            return Attempt::Failed(Kind::ProtocolViolation);
        };
        match communication.front(side, protocol) {
            Some(message) if message.index != wanted => Attempt::Failed(Kind::ProtocolViolation),
            Some(_) => {
                let message = communication.buffer.pop_front().expect("there is a first");
                communication.advance(side, next);
                state.wake(Event::Communication(id));
                Attempt::Done(Some(message.values))
            }
            None if communication.closed(side) => Attempt::Failed(Kind::ProtocolViolation),
            None => Attempt::Wait(Event::Communication(id)),
        }
    }

    /// Whether a client's end may be closed now.
    pub fn may_close(&self, id: CommunicationId) -> bool {
        let state = self.state.borrow();
        state.communications.get(&id).is_none_or(|communication| {
            communication.may_close(&self.program.interfaces[communication.interface.index()])
        })
    }

    /// Closes a client's end, which its protocol must allow. The result is the components that no process will receive.
    pub fn close(&self, id: CommunicationId) -> Result<Vec<InstanceId>, Kind> {
        let mut state = self.state.borrow_mut();
        let state_ref = &mut *state;
        let Some(communication) = state_ref.communications.get_mut(&id) else { return Ok(Vec::new()) };
        if communication.client_closed {
            return Ok(Vec::new());
        }
        let protocol = &self.program.interfaces[communication.interface.index()];
        if !communication.may_close(protocol) {
            return Err(Kind::ProtocolViolation);
        }
        communication.client_closed = true;
        let unread = if communication.front(Side::Client, protocol).is_some() {
            components(communication.buffer.drain(..))
        } else {
            Vec::new()
        };
        let ended = communication.service_ended;
        let end = communication.end;
        if state_ref.ends.get(&end) == Some(&id) {
            state_ref.ends.remove(&end);
        }
        state_ref.wake(Event::Communication(id));
        drop(state);
        if ended {
            self.forget(id);
        }
        Ok(unread)
    }

    /// Begins the FINALLY of a service whose statements have ended. Fails if its protocol does not allow that.
    pub fn begin_ending(&self, id: CommunicationId) -> Result<(), ServiceEnd> {
        let mut state = self.state.borrow_mut();
        let communication = state.communications.get_mut(&id).expect("a service has its communication");
        let protocol = &self.program.interfaces[communication.interface.index()];
        if !communication.broken {
            if !protocol.states[communication.server_state].may_end {
                return Err(ServiceEnd::TooEarly);
            }
            if communication.front(Side::Server, protocol).is_some() {
                begun_by(&communication.buffer, protocol, communication.client)?;
            }
        }
        communication.ending = true;
        Ok(())
    }

    /// Loses the client of a communication, where the protocol does not allow it to close.
    pub fn lose_client(&self, id: CommunicationId) {
        let mut state = self.state.borrow_mut();
        let state_ref = &mut *state;
        let Some(communication) = state_ref.communications.get_mut(&id) else { return };
        (communication.broken, communication.client_closed) = (true, true);
        let (end, ended) = (communication.end, communication.service_ended);
        if state_ref.ends.get(&end) == Some(&id) {
            state_ref.ends.remove(&end);
        }
        state_ref.wake(Event::Communication(id));
        drop(state);
        if ended {
            self.forget(id);
        }
    }

    /// Ends a service, which its protocol must allow. Messages that it has not received begin the next communication.
    /// Fails with the place and the component of a message that cannot begin one.
    pub fn end_service(&self, id: CommunicationId) -> Result<(), ServiceEnd> {
        let mut state = self.state.borrow_mut();
        let communication = state.communications.get_mut(&id).expect("a service has its communication");
        let protocol = &self.program.interfaces[communication.interface.index()];
        if communication.broken {
            let gone = communication.client_closed;
            communication.service_ended = true;
            state.wake(Event::Communication(id));
            drop(state);
            if gone {
                self.forget(id);
            }
            return Ok(());
        }
        if !protocol.states[communication.server_state].may_end {
            return Err(ServiceEnd::TooEarly);
        }
        let server = communication.server;
        communication.service_ended = true;
        communication.ending = false;
        if communication.front(Side::Server, protocol).is_none() {
            let closed = communication.client_closed;
            let links: Vec<_> = communication.path.iter().map(|link| link.instance()).collect();
            state.wake(Event::Communication(id));
            for instance in links.into_iter().chain([server]) {
                state.wake(Event::Instance(instance));
            }
            drop(state);
            if closed {
                self.forget(id);
            }
            return Ok(());
        }
        let mut next = Communication {
            end: communication.end,
            client: communication.client,
            server,
            interface: communication.interface,
            path: communication.path.clone(),
            client_state: 0,
            server_state: 0,
            buffer: std::mem::take(&mut communication.buffer),
            client_closed: communication.client_closed,
            service_ended: false,
            broken: false,
            ending: false,
        };
        next.client_state = begun_by(&next.buffer, protocol, next.client)?;
        drop(state);
        self.forget(id);
        self.open(next);
        Ok(())
    }

    /// Ends the communication because an error has ended one of its sides, or a relay between them.
    pub fn break_communication(&self, id: CommunicationId) {
        let mut state = self.state.borrow_mut();
        let state_ref = &mut *state;
        let Some(communication) = state_ref.communications.get_mut(&id) else { return };
        communication.broken = true;
        let instances = &state_ref.instances;
        let dead = |instance: InstanceId| instances.get(&instance).is_none_or(|instance| instance.dead);
        communication.client_closed |= dead(communication.client);
        communication.service_ended |= dead(communication.server);
        let over = communication.client_closed && communication.service_ended;
        drop(state);
        if over {
            self.forget(id);
        }
    }

    /// Whether the instance still serves a client, itself or by a component inside it.
    pub fn serving(&self, instance: InstanceId) -> bool {
        let state = self.state.borrow();
        let Some(record) = state.instances.get(&instance) else { return false };
        record.communications.iter().any(|id| {
            let communication = &state.communications[id];
            let inward =
                || communication.path.iter().any(|link| matches!(link, Link::Inward(i, _) if *i == instance));
            let inside =
                || communication.server != SYSTEM && state.around(communication.server).contains(&instance);
            !communication.service_ended && (communication.server == instance || (inward() && inside()))
        })
    }
}

/// The state after these messages, with which a communication begins.
fn begun_by(
    messages: &VecDeque<Message>,
    protocol: &Interface,
    client: InstanceId,
) -> Result<usize, ServiceEnd> {
    messages.iter().try_fold(0, |state, message| {
        next_state(protocol, state, message.index).ok_or(ServiceEnd::Unreceived(client, message.span))
    })
}

/// The reason why a service must not end.
pub(super) enum ServiceEnd {
    /// Its protocol goes on.
    TooEarly,
    /// The next communication cannot begin with the message that this component sent there.
    Unreceived(InstanceId, Span),
}
