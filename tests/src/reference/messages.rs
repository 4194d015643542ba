//! Sending, receiving and testing: the operations of a process on a communication.

use std::rc::Rc;

use drystone_language::program::{Argument, Arrival, Channel, ChannelKind, InterfaceId, Pattern, Place};
use drystone_language::source::Span;

use super::communication::{Message, Side};
use super::communications::Attempt;
use super::identity::{CommunicationId, InstanceId, Role};
use super::links::End;
use super::outcome::Kind;
use super::process::{Process, Step, Stop};
use super::scope::{Location, Scope};
use super::value::Value;

/// Whether a test waits until its answer is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Waits,
    AsksNow,
    /// Waits until this time.
    Until(i64),
}

/// The communication of a channel, as the process finds it.
#[derive(Clone, Copy)]
pub(super) enum Use {
    Service(CommunicationId),
    Client(End),
}

enum Part {
    Value(Value),
    Component(Location, Span),
}

impl<'p> Process<'_, 'p> {
    /// `channel!message(arguments)`
    pub async fn send(
        &self,
        scope: &Rc<Scope>,
        channel: &'p Channel,
        message: usize,
        arguments: &'p [Argument],
        span: Span,
    ) -> Step<()> {
        let used = self.channel(scope, channel, span).await?;
        let mut parts = Vec::new();
        for argument in arguments {
            parts.push(match argument {
                Argument::Value(value) => Part::Value(self.evaluate(scope, value).await?),
                Argument::Place(place) => Part::Component(self.locate(scope, place).await?, place.span),
            });
        }
        let target = loop {
            let attempt = match used {
                Use::Service(id) => self.world.may_answer(id, message),
                Use::Client(end) => self.world.may_send(self.instance, end, channel.interface, message),
            };
            match attempt {
                Attempt::Done(target) => break target,
                Attempt::Wait(event) => self.wait(event).await,
                Attempt::Failed(kind) => return Err(self.fail(kind, span)),
            }
        };
        let mut values = Vec::new();
        for part in parts {
            values.push(match part {
                Part::Value(value) => value,
                Part::Component(location, place) => {
                    let component = self.content(&location, place)?;
                    self.close_held(component, span)?;
                    location.clear_container();
                    Value::Component(Some(component))
                }
            });
        }
        match (target, used) {
            (Some(id), Use::Service(_)) => {
                self.world.put(id, Side::Server, Message { index: message, values, span })
            }
            (Some(id), _) => self.world.put(id, Side::Client, Message { index: message, values, span }),
            (None, _) => {
                let dropped = values.into_iter().filter_map(|value| match value {
                    Value::Component(content) => content,
                    _ => None,
                });
                self.world.state.borrow_mut().orphans.extend(dropped);
            }
        }
        self.delete_orphans(span).await?;
        match used {
            Use::Service(id) if self.is_left(id) && self.held_lock().is_none() => Err(self.stop()),
            _ => Ok(()),
        }
    }

    /// Whether the client of this service is lost.
    pub(super) fn is_left(&self, id: CommunicationId) -> bool {
        self.world.state.borrow().communications[&id].leaves_service()
    }

    /// This service ends at this point.
    pub(super) fn stop(&self) -> Stop {
        if self.held_lock().is_some() {
            self.unlock();
        }
        Stop::Quiet
    }

    /// `channel?message(targets)`
    pub async fn receive(
        &self,
        scope: &Rc<Scope>,
        channel: &'p Channel,
        message: usize,
        targets: &'p [Place],
        span: Span,
    ) -> Step<()> {
        let used = self.channel(scope, channel, span).await?;
        self.receive_over(scope, used, channel.interface, message, targets, span).await
    }

    /// Waits until the next message is there, or the other side has closed. Takes the message if it has a branch, and
    /// gives the branch; `None` is for ELSE.
    pub async fn arrival<'b>(
        &self,
        scope: &Rc<Scope>,
        channel: &'p Channel,
        branches: &'p [Arrival],
        has_else: bool,
        span: Span,
    ) -> Step<Option<&'b Arrival>>
    where
        'p: 'b,
    {
        let used = self.channel(scope, channel, span).await?;
        let mut chosen = None;
        for branch in branches {
            let pattern = branch.message.map_or(Pattern::Finish, Pattern::Message);
            if self.test_over(used, channel.interface, pattern, Patience::Waits, span).await? {
                chosen = Some(branch);
            }
        }
        if chosen.is_none() && !has_else {
            chosen = branches.iter().rfind(|branch| branch.message.is_some());
        }
        let Some(branch) = chosen else { return Ok(None) };
        if let Some(message) = branch.message {
            let interface = channel.interface;
            self.receive_over(scope, used, interface, message, &branch.targets, branch.span).await?;
        }
        Ok(Some(branch))
    }

    pub(super) async fn receive_over(
        &self,
        scope: &Rc<Scope>,
        used: Use,
        interface: InterfaceId,
        message: usize,
        targets: &'p [Place],
        span: Span,
    ) -> Step<()> {
        let values = loop {
            let attempt = match used {
                Use::Service(id) => self.world.take(id, Side::Server, message),
                Use::Client(end) => match self.world.begin(self.instance, end, interface) {
                    Attempt::Done(Some(id)) => self.world.take(id, Side::Client, message),
                    Attempt::Done(None) => Attempt::Failed(Kind::ProtocolViolation),
                    Attempt::Wait(event) => Attempt::Wait(event),
                    Attempt::Failed(kind) => Attempt::Failed(kind),
                },
            };
            match attempt {
                Attempt::Done(Some(values)) => break values,
                Attempt::Done(None) => return Err(self.stop()),
                Attempt::Wait(event) => self.wait(event).await,
                Attempt::Failed(kind) => return Err(self.fail(kind, span)),
            }
        };
        for (value, target) in values.into_iter().zip(targets) {
            let location = self.locate(scope, target).await?;
            match value {
                Value::Component(content) => {
                    let component = content.expect("a message carries a component, not a container");
                    self.place(&location, component, target.span)?;
                }
                value => self.check(location.write(value), target.span)?,
            }
        }
        Ok(())
    }

    /// `channel?pattern` as an expression, and `INPUT(channel, pattern)`.
    pub async fn test(
        &self,
        scope: &Rc<Scope>,
        channel: &'p Channel,
        pattern: Pattern,
        patience: Patience,
        span: Span,
    ) -> Step<bool> {
        let used = self.channel(scope, channel, span).await?;
        self.test_over(used, channel.interface, pattern, patience, span).await
    }

    pub(super) async fn test_over(
        &self,
        used: Use,
        interface: InterfaceId,
        pattern: Pattern,
        patience: Patience,
        span: Span,
    ) -> Step<bool> {
        loop {
            let attempt = match used {
                Use::Service(id) => Attempt::Done(Some((id, Side::Server))),
                Use::Client(end) => match self.world.begin(self.instance, end, interface) {
                    Attempt::Done(id) => Attempt::Done(id.map(|id| (id, Side::Client))),
                    Attempt::Wait(event) => Attempt::Wait(event),
                    Attempt::Failed(kind) => Attempt::Failed(kind),
                },
            };
            let event = match attempt {
                Attempt::Done(None) => return Ok(pattern == Pattern::Finish),
                Attempt::Failed(kind) => return Err(self.fail(kind, span)),
                Attempt::Wait(event) => event,
                Attempt::Done(Some((id, side))) => {
                    let state = self.world.state.borrow();
                    let communication = &state.communications[&id];
                    let interface = &self.world.program.interfaces[communication.interface.index()];
                    match communication.test(side, interface, pattern) {
                        Some(answer) => return Ok(answer),
                        None => super::identity::Event::Communication(id),
                    }
                }
            };
            match patience {
                Patience::Waits => self.wait(event).await,
                Patience::Until(deadline) if self.world.state.borrow().time < deadline => {
                    self.wait_until(event, deadline).await
                }
                Patience::AsksNow | Patience::Until(_) => return Ok(false),
            }
        }
    }

    /// The communication of a channel.
    pub(super) async fn channel(&self, scope: &Rc<Scope>, channel: &'p Channel, span: Span) -> Step<Use> {
        match &channel.kind {
            ChannelKind::Service => match self.world.state.borrow().processes[&self.id].role {
                Role::Service(id) => Ok(Use::Service(id)),
                other => unreachable!("checked: only a service has a client, {other:?} has none"),
            },
            ChannelKind::Required(index, k) => {
                let k = self.slot(scope, *index, k.as_deref(), span).await?;
                Ok(Use::Client(End::Required(self.instance, *index, k)))
            }
            ChannelKind::Held(place) => {
                let location = self.locate(scope, place).await?;
                match self.check(location.container(), place.span)? {
                    None => Err(self.fail(Kind::EmptyContainer, place.span)),
                    Some(component) => Ok(Use::Client(End::Held(component, channel.interface))),
                }
            }
        }
    }

    /// Closes the holder's communications with a component, which their protocols must allow.
    pub fn close_held(&self, component: InstanceId, span: Span) -> Step<()> {
        self.close_all(self.held_with(component), span)
    }

    fn held_with(&self, component: InstanceId) -> Vec<CommunicationId> {
        let state = self.world.state.borrow();
        let ends = state.ends.iter().filter(|(end, _)| matches!(end, End::Held(of, _) if *of == component));
        ends.map(|(_, &id)| id).collect()
    }

    /// If this service's own client is lost, the communications of the service with the deleted component are lost too:
    /// then they may end anywhere.
    pub fn leave_held(&self, component: InstanceId) {
        let role = self.world.state.borrow().processes.get(&self.id).map(|record| record.role);
        let Some(Role::Service(id)) = role else { return };
        if self.world.state.borrow().communications[&id].broken {
            let unfinished = self.held_with(component).into_iter().filter(|&id| !self.world.may_close(id));
            unfinished.for_each(|id| self.world.lose_client(id));
        }
    }

    /// The end of a `{COMPOSITE}` block, which ends the block's communications.
    pub async fn leave(&self, scope: &Rc<Scope>, channels: &'p [Channel], span: Span) -> Step<()> {
        for channel in channels {
            if let Use::Client(end) = self.channel(scope, channel, span).await? {
                let id = self.world.state.borrow().ends.get(&end).copied();
                self.close_all(id.into_iter().collect(), span)?;
            }
        }
        Ok(())
    }

    /// Closes communications on the client's side, which their protocols must allow.
    pub fn close_all(&self, ids: Vec<CommunicationId>, span: Span) -> Step<()> {
        for id in ids {
            let unread = self.check(self.world.close(id), span)?;
            self.world.state.borrow_mut().orphans.extend(unread);
        }
        Ok(())
    }
}
