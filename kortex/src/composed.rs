//! Composed bindings: a factory after BY puts something in front of another binding, such as monitoring, access control
//! or caching (*THINK*, section 3.1). Each one is a [`Reach`] that begins the communications of the binding behind it.

mod cached;
mod deadline;
mod messages;
mod monitored;
mod monitors;
mod options;
mod restricted;
mod retried;
mod services;
mod time;
mod wrap;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use drystone_component::Interface;
use drystone_runtime::binding::{Factory, Hints};
use drystone_runtime::far::{Exported, Reach};

pub(crate) use self::deadline::put_before_domain;
pub use self::monitors::{Monitor, Monitors};
pub use self::options::{COMMON, SOME, count, only};
pub use self::services::Services;
pub use self::time::{Time, Times};
use self::wrap::{Wrap, Wrapped};

/// Puts the composed factories of a BY in front of a binding to `name`, the last one nearest to it.
///
/// # Errors
/// A factory doesn't suit the interface, or has no such option.
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

/// Puts the composed factories of a BY between an exported interface and its clients, the last one nearest to the
/// interface.
///
/// # Errors
/// As for [`compose`]; or a factory is for the client's side only.
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
