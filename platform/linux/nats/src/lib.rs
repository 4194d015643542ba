//! `nats://host:port/name`: Drystone's own protocol (docs/src/wire.md) over NATS, a message broker. A name is a
//! subject. All programs that export it share its clients, as they are one queue group. A client stays with the program
//! that it is given first, over two private subjects, until that is lost.
//!
//! * `access` is the way to NATS, as a name and its BY say; `engine` runs `async-nats` while the program waits, and a
//!   `bell` wakes the session that it has something for.
//! * `session` is what a program has at one NATS (`sessions`: at all), with a connection that is `open` while it is
//!   needed. `users` is what a session knows of those that use it.
//! * `peer_stream` is a line between two programs, made of `envelope`s. `affinity` keeps a client at one program,
//!   `partner` finds out that a program has gone.
//! * `export` is an exported name, and `register` the key-value store in which it is listed.
//! * `event` are names whose events come to many programs: `event_topic`, `event_publisher`, `event_subscription`, and
//!   `event_message`, which are the bytes.

mod access;
mod affinity;
mod bell;
mod engine;
mod envelope;
mod event;
mod event_message;
mod event_publisher;
mod event_subscription;
mod event_topic;
mod export;
mod open;
mod partner;
mod peer_stream;
mod register;
mod session;
mod sessions;
mod users;

use std::rc::Rc;

use drystone_component::Name;
use drystone_kortex::peer::{Brought, Wanted, check};
use drystone_kortex::{Addition, Context};
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, Hints, NamingContext};
use drystone_runtime::far::{Exported, Far, Harbour, Reach, Shipment};

use self::access::Access;
use self::affinity::Affinity;
use self::event::Events;
use self::export::Export;
use self::sessions::Sessions;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    contexts: &[
        Context { scheme: "event+nats", begin: |host| Box::new(Events(Sessions::of(host))) },
        Context { scheme: "nats", begin: |host| Box::new(Nats(Sessions::of(host))) },
    ],
    ..Addition::NOTHING
};

/// Reads bytes that may be anything as a message of NATS and as an entry of its store, for fuzzing.
///
/// # Panics
/// What was read is written otherwise.
pub fn read(bytes: &[u8]) {
    if let Some(envelope) = envelope::Envelope::read(bytes) {
        assert_eq!(envelope.to(&"there".into(), &"here".into()).payload, bytes);
    }
    if let Some(message) = event_message::EventMessage::read(bytes) {
        assert_eq!([&message.head(), message.values].concat(), bytes);
    }
    if let Some(subject) = register::subject(bytes) {
        assert_eq!(access::fit(&subject), Ok(subject));
    }
}

/// Reads what stands behind the scheme of a name, and BY, for fuzzing.
///
/// # Panics
/// A subject was read that is none.
pub fn read_name(rest: &str, hints: &Hints<'_>) {
    if let Ok((_, subject)) = Access::read(rest, hints) {
        assert_eq!(access::fit(&subject), Ok(subject));
    }
}

/// The naming context, and its binding factory.
struct Nats(Rc<Sessions>);

impl BindingFactory for Nats {
    fn bind(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        let (access, wanted) = wanted(endpoint)?;
        let affinity = Affinity::new(self.0.get(access), &wanted.there);
        Ok(Box::new(Bound { affinity, wanted }))
    }
}

impl NamingContext for Nats {
    fn export(&mut self, endpoint: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        let (access, wanted) = wanted(endpoint)?;
        let (export, offer) = Export::open(&self.0.get(access), &wanted)?;
        let names = export.names.clone();
        Ok(Box::new(Brought::new(&names, offer, export, self.0.reactor.expected())))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

/// What a name and its hints mean.
fn wanted(Endpoint { interface, name, hints }: Endpoint<'_>) -> Result<(Access, Wanted), String> {
    check(interface)?;
    let (access, subject) = Access::read(name.rest(), hints)?;
    let capacity = hints.capacity()?.unwrap_or(0);
    Ok((access, Wanted { interface, name: name.to_string().into(), there: subject.into(), capacity }))
}

/// A name that a client is bound to.
struct Bound {
    affinity: Rc<Affinity>,
    wanted: Wanted,
}

impl Reach for Bound {
    fn begin(&mut self) -> Box<dyn Far> {
        Box::new(self.affinity.begin(&self.wanted))
    }

    fn harbour(&self) -> Option<Harbour<'_>> {
        let Wanted { name, there, .. } = &self.wanted;
        let program = name.strip_suffix(&**there)?.strip_suffix('/')?;
        Some(Harbour { program, number: self.affinity.number(), name: there, is_open: true })
    }

    fn ship(&self, shipment: Shipment<'_>) -> Option<Box<dyn Reach>> {
        let composites = self.affinity.composites()?;
        let service = composites.service().wanted(&self.wanted.name);
        let service = Bound { affinity: self.affinity.clone(), wanted: service };
        Some(composites.ship(Box::new(service), self.harbour()?, shipment))
    }
}
