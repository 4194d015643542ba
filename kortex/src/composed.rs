//! Composed bindings: a component is put before what another binding factory reaches (paper 002, section 3.1: component
//! invocation with monitoring, with access control, with caching). Each is a [`Reach`] that begins the communications
//! of another, and stands between it and its client.

mod cached;
mod deadline;
mod messages;
mod monitored;
mod restricted;
mod retried;
mod times;

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use core::any::Any;
use core::ops::RangeInclusive;

use drystone_component::{Interface, Side};
use drystone_runtime::binding::{Factory, Hints};
use drystone_runtime::far::{Exported, Far, Reach, Waker};

use crate::Before;

pub(crate) use self::deadline::put_before_domain;
pub use self::monitored::{Monitor, Monitors};
pub use self::times::Times;

/// Time, as a platform has it.
pub trait Time {
    /// Nanoseconds since some moment in the past.
    fn now(&self) -> u64;

    /// Wakes whom it is told to at that time, for as long as the result is kept.
    fn wake_at(&self, time: u64, waker: Waker) -> Box<dyn Any>;
}

/// What composed bindings need of their surroundings.
#[derive(Clone)]
pub struct Services {
    /// The time.
    pub time: Rc<dyn Time>,
    /// Where those who want to look find what is monitored.
    pub monitors: Rc<Monitors>,
    /// Factories of crates that are built in.
    pub added: Rc<[&'static Before]>,
}

impl Services {
    /// Whether a factory of a BY is composed; others say how a name is to be reached.
    pub fn is_composed(&self, factory: &Factory<'_>) -> bool {
        KNOWN.contains(&factory.name) || self.added(factory).is_some()
    }

    fn added(&self, factory: &Factory<'_>) -> Option<&'static Before> {
        self.added.iter().copied().find(|added| added.name == factory.name)
    }
}

/// The factories that are known here.
const KNOWN: [&str; 4] = ["Monitored", "Restricted", "Cached", "Retried"];

/// Puts what a BY asks for before a binding of `name`: the last factory nearest to it.
///
/// # Errors
/// A factory isn't fit for the interface, or an option is none of its.
pub fn compose(
    mut reach: Box<dyn Reach>,
    interface: &'static Interface,
    name: &str,
    hints: &Hints<'_>,
    services: &Services,
) -> Result<Box<dyn Reach>, String> {
    reach = deadline::put_before(reach, interface, name, hints, services)?;
    for factory in hints.factories.iter().rev().filter(|factory| services.is_composed(factory)) {
        if let Some(added) = services.added(factory) {
            reach = (added.put)(reach, interface, factory)?;
            continue;
        }
        reach = match factory.name {
            "Cached" => cached::put_before(reach, interface, factory, services)?,
            "Retried" => retried::put_before(reach, interface, factory, services)?,
            _ => Box::new(Wrapped { inner: reach, wrap: wrap(interface, name, factory, services)? }),
        };
    }
    Ok(reach)
}

/// Puts what a BY asks for between an exported name and its clients: the last factory nearest to what is exported.
///
/// # Errors
/// As for [`compose`]; or a factory stands on the client's side only.
pub fn compose_exported(
    mut exported: Box<dyn Exported>,
    interface: &'static Interface,
    name: &str,
    hints: &Hints<'_>,
    services: &Services,
) -> Result<Box<dyn Exported>, String> {
    for factory in hints.factories.iter().filter(|factory| services.is_composed(factory)) {
        if matches!(factory.name, "Cached" | "Retried") || services.added(factory).is_some() {
            return Err(format!("{} stands on the client's side, at a CONNECT", factory.name));
        }
        exported = Box::new(Wrapped { inner: exported, wrap: wrap(interface, name, factory, services)? });
    }
    Ok(exported)
}

fn wrap(
    interface: &'static Interface,
    name: &str,
    factory: &Factory<'_>,
    services: &Services,
) -> Result<Box<dyn Wrap>, String> {
    match factory.name {
        "Monitored" => monitored::watching(interface, name, factory, services),
        _ => restricted::guarding(interface, factory, services),
    }
}

/// What is put around each half of a binding, on either side.
trait Wrap: 'static {
    /// Puts it around one; `near` is the side that stands here.
    fn wrap(&self, inner: Box<dyn Far>, near: Side) -> Box<dyn Far>;
}

struct Wrapped<T> {
    inner: T,
    wrap: Box<dyn Wrap>,
}

impl Reach for Wrapped<Box<dyn Reach>> {
    fn begin(&mut self) -> Box<dyn Far> {
        self.wrap.wrap(self.inner.begin(), Side::Client)
    }
}

impl Exported for Wrapped<Box<dyn Exported>> {
    fn attach(&mut self, listener: Waker) {
        self.inner.attach(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        Some(self.wrap.wrap(self.inner.accept()?, Side::Server))
    }

    fn is_over(&self) -> bool {
        self.inner.is_over()
    }
}

/// Options that every factory of a BY may have: they are for whoever reaches the name, and pass over what means nothing
/// there.
pub const COMMON: [&str; 6] = ["capacity", "deadline", "certificate", "key", "authority", "token"];

/// Refuses options that a factory doesn't know.
///
/// # Errors
/// Says which.
pub fn only(factory: &Factory<'_>, known: &[&str]) -> Result<(), String> {
    match factory.options.iter().find(|(name, _)| !known.contains(name) && !COMMON.contains(name)) {
        Some((name, _)) => {
            Err(format!("{} has no option {name}: it knows {}", factory.name, known.join(", ")))
        }
        None => Ok(()),
    }
}

/// What an option that counts something may be, or milliseconds, but for pauses, which may be none. The compiler looks
/// at constants itself.
pub const SOME: RangeInclusive<i64> = 1..=1_000_000_000;
const ANY: RangeInclusive<i64> = 0..=1_000_000_000;

/// An option that counts something.
///
/// # Errors
/// It is something else.
pub fn count(factory: &Factory<'_>, name: &str, range: RangeInclusive<i64>) -> Result<Option<u64>, String> {
    match factory.integer(name)? {
        Some(value) if !range.contains(&value) => {
            let (least, most) = range.into_inner();
            Err(format!("{}: {name} is from {least} to {most}, not {value}", factory.name))
        }
        value => Ok(value.map(|value| value as u64)),
    }
}

const MILLISECOND: u64 = 1_000_000;
