//! `nats://host:port/name`: Drystone's own protocol (docs/src/wire.md) over NATS, an engine for messages that others
//! run. A name is a subject. All who export it share its clients, for they are one queue group; whom a client is given
//! first it stays with, over two private subjects, until that is lost.
//!
//! `access` is what a name and its BY say of the way to NATS, `engine` is what runs `async-nats` while the program
//! waits, and `session` what a program has at one NATS. There, `link` is a line between two programs, made of
//! `envelope`s, `stay` how a client keeps to one of them, `partner` how each knows that the other is still there,
//! `export` what is offered, and `register` the key-value store in which that is listed. `event` is what comes to all,
//! as `saying`s.

mod access;
mod bell;
mod engine;
mod envelope;
mod event;
mod export;
mod link;
mod partner;
mod register;
mod saying;
mod session;
mod stay;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use drystone_component::{Interface, Name};
use drystone_kortex::peer::{Brought, Composites, Wanted, check};
use drystone_runtime::binding::{BindingFactory, Edge, Hints, NamingContext};
use drystone_runtime::far::{Exported, Far, Harbour, Reach, Shipment};

use self::access::Access;
use self::engine::Engines;
pub(super) use self::event::Events;
use self::export::Export;
use self::session::Session;
use self::stay::Stay;
use super::composite::{Ships, service};
use crate::reactor::Reactor;

/// A message of NATS or an entry in its store from a stranger.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn read(bytes: &[u8]) {
    if let Some(envelope) = envelope::Envelope::read(bytes) {
        assert_eq!(envelope.to(&"there".into(), &"here".into()).payload, bytes);
    }
    if let Some(saying) = saying::Saying::read(bytes) {
        assert_eq!([&saying.head(), saying.bytes].concat(), bytes);
    }
    if let Some(subject) = register::subject(bytes) {
        assert_eq!(access::fit(&subject), Ok(subject));
    }
}

/// What stands behind the scheme of a name, and BY, as somebody has written them.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn read_name(rest: &str, hints: &Hints<'_>) {
    if let Ok((_, subject)) = Access::read(rest, hints) {
        assert_eq!(access::fit(&subject), Ok(subject));
    }
}

/// The naming context, and its binding factory.
pub(super) struct Nats {
    sessions: Rc<Sessions>,
}

impl Nats {
    pub(super) fn new(sessions: &Rc<Sessions>) -> Nats {
        Nats { sessions: sessions.clone() }
    }
}

/// What the program has with each NATS, by the way to it.
pub(super) struct Sessions {
    reactor: Rc<Reactor>,
    engines: Engines,
    composites: Rc<dyn Composites>,
    sessions: RefCell<HashMap<Access, Rc<Session>>>,
}

impl Sessions {
    pub(super) fn new(reactor: &Rc<Reactor>, composites: &Rc<dyn Composites>) -> Rc<Sessions> {
        Rc::new(Sessions {
            reactor: reactor.clone(),
            engines: Engines::default(),
            composites: composites.clone(),
            sessions: RefCell::default(),
        })
    }

    fn get(&self, access: Access) -> Rc<Session> {
        let Sessions { reactor, engines, composites, sessions } = self;
        let sessions = &mut *sessions.borrow_mut();
        let session = sessions
            .entry(access)
            .or_insert_with_key(|access| Session::new(reactor, engines, composites, access.clone()));
        session.clone()
    }
}

impl Drop for Sessions {
    /// The program has ended: what it said last is on its way.
    fn drop(&mut self) {
        for session in self.sessions.get_mut().values() {
            session.end();
        }
    }
}

impl BindingFactory for Nats {
    fn bind(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        let (access, wanted) = wanted(interface, name, hints)?;
        let stay = Stay::new(self.sessions.get(access), &wanted.there);
        Ok(Box::new(Bound { stay, wanted }))
    }
}

impl NamingContext for Nats {
    fn export(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        let (access, wanted) = wanted(interface, name, hints)?;
        let session = self.sessions.get(access);
        let (export, offer) = Export::open(&session, &wanted)?;
        let names = export.names.clone();
        Ok(Box::new(Brought::new(&names, offer, export, self.sessions.reactor.expected())))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

/// What a name and its hints mean.
fn wanted(
    interface: &'static Interface,
    name: Name<'_>,
    hints: &Hints<'_>,
) -> Result<(Access, Wanted), String> {
    check(interface)?;
    let (access, subject) = Access::read(name.rest(), hints)?;
    let capacity = hints.capacity()?.unwrap_or(0);
    Ok((access, Wanted { interface, name: name.to_string().into(), there: subject.into(), capacity }))
}

/// A name as a client has it.
struct Bound {
    stay: Rc<Stay>,
    wanted: Wanted,
}

impl Reach for Bound {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(self.stay.begin(&self.wanted))
    }

    fn harbour(&self) -> Option<Harbour<'_>> {
        let Wanted { name, there, .. } = &self.wanted;
        let program = name.strip_suffix(&**there)?.strip_suffix('/')?;
        Some(Harbour { program, number: self.stay.number(), name: there, is_open: true })
    }

    fn ship(&self, shipment: Shipment<'_>) -> Option<Box<dyn Reach>> {
        let taker = Bound { stay: self.stay.clone(), wanted: service().wanted(&self.wanted.name) };
        Some(Box::new(Ships::new(Box::new(taker), self.harbour()?, shipment)))
    }
}
