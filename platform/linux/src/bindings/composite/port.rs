//! What a program talks over. To the component that serves it, each of its communications is a far client; to the program it is
//! one of its services.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::take;
use std::rc::{Rc, Weak};

use drystone_component::{Interface, Type};
use drystone_extension::composite::{Answer, Arguments, Pattern, Results, Services, Value};
use drystone_runtime::far::{Arrival, Far, Filling, Letter, Outgoing, Waker};
use drystone_runtime::native;

use super::session::Session;
use crate::bindings::peer::Offer;
use crate::reactor::{Expectation, Reactor};

/// So many messages may have come that the program has not taken.
const CAPACITY: usize = 16;

/// So many communications of a run may be over for the program and not yet for who served it.
const LEFT: usize = 64;

/// The communications of a run.
pub(super) struct Ports {
    session: Weak<Session>,
    reactor: Rc<Reactor>,
    /// What each of them leads to, and for which slot of its client.
    offers: Vec<(Rc<Offer>, usize)>,
    /// Those that have begun.
    begun: Vec<Option<Port>>,
    /// Held by each whose server has not let it go.
    alive: Rc<()>,
}

type Port = Rc<RefCell<State>>;

/// A communication that has begun.
struct State {
    /// The protocol's, as the program knows it.
    state: u16,
    /// What the program has said and nobody has taken yet.
    said: Option<(usize, Vec<Value>)>,
    /// The program has more to say, and waits until that is taken.
    has_more: bool,
    /// What has come for the program.
    come: VecDeque<(usize, Letter)>,
    /// The program is done with it; an error: where the protocol goes on.
    done: Option<Result<(), String>>,
    /// The other side is; an error: why it is lost.
    ended: Option<Result<(), String>>,
    /// The program knows that it is lost.
    is_told: bool,
    pump: Option<Waker>,
    session: Weak<Session>,
}

impl State {
    fn wake_pump(&self) {
        self.pump.as_ref().inspect(|pump| pump.wake());
    }

    /// Whether the program may leave it now.
    fn may_end(&self, interface: &Interface) -> bool {
        self.ended.is_some() || interface.state(self.state) & Interface::MAY_END != 0
    }

    /// Why it is lost, where the program doesn't know yet.
    fn loss(&mut self) -> Result<(), String> {
        match &self.ended {
            Some(Err(why)) if !self.is_told => {
                self.is_told = true;
                Err(why.clone())
            }
            _ => Ok(()),
        }
    }

    /// The program is done with it.
    fn finish(&mut self, interface: &Interface) {
        self.done = Some(match self.may_end(interface) {
            true => Ok(()),
            false => Err("the program has ended where the protocol goes on".to_string()),
        });
        self.wake_pump();
    }

    /// What is known about the next message: its number, or that none comes.
    fn next(&self, interface: &Interface) -> Option<Option<usize>> {
        match self.come.front() {
            Some((message, _)) => Some(Some(*message)),
            None if self.ended.is_some() => Some(None),
            None if interface.state(self.state) & Interface::SERVER_SENDS == 0 => Some(None),
            None => None,
        }
    }
}

impl Ports {
    /// None has begun yet.
    pub(super) fn new(
        session: Weak<Session>,
        reactor: &Rc<Reactor>,
        offers: Vec<(Rc<Offer>, usize)>,
    ) -> Ports {
        let begun = offers.iter().map(|_| None).collect();
        Ports { session, reactor: reactor.clone(), offers, begun, alive: Rc::default() }
    }

    fn interface(&self, communication: u32) -> &'static Interface {
        self.offers[communication as usize].0.interface()
    }

    /// The communication, which begins if it hasn't; none: it can't yet. An error: there is nothing any more with which it could.
    fn port(&mut self, communication: u32) -> Result<Option<Port>, String> {
        let (offer, slot) = &self.offers[communication as usize];
        let begun = &mut self.begun[communication as usize];
        if let Some(port) = begun {
            return Ok(Some(port.clone()));
        }
        if offer.is_over() {
            return Err(format!("{} is not exported any more", offer.name()));
        }
        if Rc::strong_count(&self.alive) > self.offers.len() + LEFT {
            return Ok(None);
        }
        let port = Rc::new(RefCell::new(State {
            state: 0,
            said: None,
            has_more: false,
            come: VecDeque::new(),
            done: None,
            ended: None,
            is_told: false,
            pump: None,
            session: self.session.clone(),
        }));
        *begun = Some(port.clone());
        let (may_come, alive) = (self.reactor.expect(), self.alive.clone());
        offer.come(Box::new(FarPort {
            port: port.clone(),
            slot: *slot,
            _may_come: may_come,
            alive: Some(alive),
        }));
        Ok(Some(port))
    }

    /// The program is done with this communication, if it has begun.
    fn end(&mut self, communication: usize) {
        if let Some(port) = self.begun[communication].take() {
            port.borrow_mut().finish(self.offers[communication].0.interface());
        }
    }

    fn may_end(&self, communication: u32) -> bool {
        let interface = self.interface(communication);
        self.begun[communication as usize].as_ref().is_none_or(|port| port.borrow().may_end(interface))
    }

    /// As [`Services`] say; an error: it is lost.
    fn say(
        &mut self,
        communication: u32,
        message: usize,
        values: Arguments<'_>,
    ) -> Result<Answer<()>, String> {
        let interface = self.interface(communication);
        // What can begin the protocol begins another communication where this one is over.
        let begins = interface.next(0, message).is_some();
        let Some(port) = self.port(communication)? else { return Ok(Answer::Waits) };
        port.borrow_mut().loss()?;
        let goes_on = port.borrow().ended.is_none() && interface.next(port.borrow().state, message).is_some();
        if !goes_on && begins && self.may_end(communication) {
            self.end(communication as usize);
        }
        let Some(port) = self.port(communication)? else { return Ok(Answer::Waits) };
        let port = &mut *port.borrow_mut();
        if let Some(ended) = &port.ended {
            return ended.clone().map(Answer::Ready);
        }
        let name = interface.messages.get()[message].name.get();
        let next = interface.next(port.state, message);
        let next = next.ok_or_else(|| format!("{name} is sent where the protocol doesn't allow that"))?;
        if port.said.is_some() {
            port.has_more = true;
            return Ok(Answer::Waits);
        }
        port.said = Some((message, values.values().collect()));
        port.state = next;
        port.wake_pump();
        Ok(Answer::Ready(()))
    }

    /// The same.
    fn hear(
        &mut self,
        communication: u32,
        message: usize,
        results: &mut Results<'_>,
    ) -> Result<Answer<()>, String> {
        let interface = self.interface(communication);
        let name = |message: usize| interface.messages.get()[message].name.get();
        let Some(port) = self.port(communication)? else { return Ok(Answer::Waits) };
        let port = &mut *port.borrow_mut();
        if port.come.is_empty() {
            port.loss()?;
        }
        match port.next(interface) {
            None => Ok(Answer::Waits),
            Some(Some(next)) if next == message => {
                let Some((_, letter)) = port.come.pop_front() else { return Ok(Answer::Waits) };
                if port.come.len() + 1 == CAPACITY {
                    port.wake_pump();
                }
                port.state = interface.next(port.state, message).unwrap_or(port.state);
                hand_over(letter, results).map(Answer::Ready)
            }
            Some(Some(next)) => Err(format!("{} is received where {} has come", name(message), name(next))),
            Some(None) => Err(match &port.ended {
                Some(Err(why)) => why.clone(),
                Some(Ok(())) => format!("{} is received where the server has ended", name(message)),
                None => format!("{} is received where nothing can come", name(message)),
            }),
        }
    }

    /// The same.
    fn ask(&mut self, communication: u32, pattern: Pattern) -> Result<Answer<bool>, String> {
        let interface = self.interface(communication);
        // A test begins nothing where the server has nothing to say first.
        let is_begun = self.begun[communication as usize].is_some();
        if !is_begun && interface.state(0) & Interface::SERVER_SENDS == 0 {
            return Ok(Answer::Ready(false));
        }
        let Some(port) = self.port(communication)? else { return Ok(Answer::Waits) };
        let port = port.borrow();
        let Some(next) = port.next(interface) else { return Ok(Answer::Waits) };
        Ok(Answer::Ready(match pattern {
            Pattern::Message(message) => next == Some(message as usize),
            Pattern::Any => next.is_some(),
            Pattern::Finish => next.is_none() && port.ended.is_some(),
        }))
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        (0..self.begun.len()).for_each(|communication| self.end(communication));
    }
}

impl Services for Ports {
    fn send(&mut self, communication: u32, message: u32, values: Arguments<'_>) -> Answer<()> {
        self.say(communication, message as usize, values).unwrap_or_else(Answer::Lost)
    }

    fn receive(&mut self, communication: u32, message: u32, results: &mut Results<'_>) -> Answer<()> {
        self.hear(communication, message as usize, results).unwrap_or_else(Answer::Lost)
    }

    fn test(&mut self, communication: u32, pattern: Pattern) -> Answer<bool> {
        self.ask(communication, pattern).unwrap_or_else(Answer::Lost)
    }

    fn input(&mut self, communication: u32, pattern: Pattern) -> bool {
        self.test(communication, pattern) == Answer::Ready(true)
    }

    fn close(&mut self, communication: u32) -> Answer<()> {
        if !self.may_end(communication) {
            return Answer::Lost("it is closed where the protocol goes on".into());
        }
        self.end(communication as usize);
        Answer::Ready(())
    }
}

/// A communication as the component knows it that serves it.
struct FarPort {
    port: Port,
    slot: usize,
    _may_come: Expectation,
    alive: Option<Rc<()>>,
}

impl FarPort {
    /// The program may be able to go on.
    fn tell(&self) {
        let session = self.port.borrow().session.upgrade();
        if let Some(session) = session {
            session.go_on();
        }
    }

    fn end(&self, how: Result<(), String>) {
        self.port.borrow_mut().ended.get_or_insert(how);
        self.tell();
    }
}

/// The values of a message that has come, of which texts are copied.
fn hand_over(mut letter: Letter, results: &mut Results<'_>) -> Result<(), String> {
    let values = letter.as_outgoing();
    for index in 0..results.types().len() {
        results.put(match results.types()[index] {
            Type::Boolean => Value::Boolean(values.byte(index) != 0),
            Type::Character => Value::Character(values.byte(index)),
            Type::Integer => Value::Integer(values.integer(index)),
            Type::Real => Value::Real(values.real(index)),
            Type::Text => Value::Text(values.text(index).into()),
            Type::Component => return Err("a component has come, which no program can hold".into()),
        })?;
    }
    Ok(())
}

/// A program's value as its server has values.
fn as_the_programs(value: &Value) -> native::Value<'_> {
    match value {
        Value::Boolean(value) => native::Value::Byte((*value).into()),
        Value::Character(value) => native::Value::Byte(*value),
        Value::Integer(value) => native::Value::Integer(*value),
        Value::Real(value) => native::Value::Real(*value),
        Value::Text(text) => native::Value::Text(text),
    }
}

impl Far for FarPort {
    fn attach(&mut self, pump: Waker) {
        self.port.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        let port = self.port.borrow();
        // What comes when the program is done is dropped.
        port.done.is_some() || port.come.len() < CAPACITY
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if self.port.borrow().done.is_some() {
            return;
        }
        self.port.borrow_mut().come.push_back((message, values.into_letter()));
        self.tell();
    }

    fn receive(&mut self) -> Arrival {
        let port = self.port.borrow();
        match (&port.said, &port.done) {
            (Some((message, _)), _) => Arrival::Message(*message),
            (None, None) => Arrival::Nothing,
            (None, Some(Ok(()))) => Arrival::Closed,
            (None, Some(Err(why))) => Arrival::Lost(why.clone()),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let said = self.port.borrow_mut().said.take();
        let (_, said) = said.ok_or("there is no message")?;
        let taken = said.iter().try_for_each(|value| values.put(as_the_programs(value)));
        if take(&mut self.port.borrow_mut().has_more) {
            self.tell();
        }
        taken
    }

    fn slot(&self) -> usize {
        self.slot
    }

    fn close(&mut self) {
        self.end(Ok(()));
    }
}

impl Drop for FarPort {
    fn drop(&mut self) {
        self.alive = None;
        self.end(Err("the server has ended it, or the protocol was violated".into()));
    }
}
