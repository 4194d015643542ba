//! Names of what is elsewhere, and the binding factories that reach it. The scheme of a name, what stands before the first
//! `:`, says whose it is (language reference, section 9).

mod bell;
#[allow(dead_code, reason = "domains are about to use it")]
mod channel;
mod patience;
#[allow(dead_code, reason = "domains are about to use it")]
mod ring;
#[allow(dead_code, reason = "domains are about to use it")]
pub(crate) mod rings;

use std::collections::HashMap;
use std::rc::Rc;

use drystone_component::{Interface, Template};
use drystone_runtime::binding::{Binder, Hints};
use drystone_runtime::far::{Domain, Exported, Reach};

use crate::reactor::Reactor;

/// What gives the names of a scheme a meaning.
pub(crate) trait Scheme {
    /// What a name stands for, for a client of an interface; `rest` is what stands behind the scheme.
    ///
    /// # Errors
    /// Why it can't be bound, as a sentence that need not name it.
    fn bind(
        &mut self,
        interface: &'static Interface,
        rest: &str,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String>;

    /// Gives an interface a name.
    ///
    /// # Errors
    /// As for `bind`.
    fn export(
        &mut self,
        interface: &'static Interface,
        rest: &str,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String>;

    /// Makes a component of a template in the domain of that name.
    ///
    /// # Errors
    /// As for `bind`.
    fn domain(
        &mut self,
        _template: &'static Template,
        _rest: &str,
        _hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        Err("no components can be made there".into())
    }
}

/// The naming contexts of a program, by their schemes.
pub(crate) struct Bindings {
    schemes: HashMap<&'static str, Box<dyn Scheme>>,
}

impl Bindings {
    /// All that this platform knows.
    pub(crate) fn new(_reactor: &Rc<Reactor>) -> Bindings {
        Bindings { schemes: HashMap::new() }
    }

    fn scheme<'n>(&mut self, name: &'n [u8]) -> Result<(&mut Box<dyn Scheme>, &'n str), String> {
        let name = str::from_utf8(name).map_err(|_| "a name is a text in UTF-8".to_string())?;
        let (scheme, rest) =
            name.split_once(':').ok_or_else(|| format!("{name}: a name begins with a scheme"))?;
        let known = self.schemes.get_mut(scheme);
        known
            .map(|scheme| (scheme, rest))
            .ok_or_else(|| format!("{name}: there is no naming context {scheme}"))
    }
}

impl Binder for Bindings {
    fn bind(
        &mut self,
        interface: &'static Interface,
        name: &[u8],
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        let (scheme, rest) = self.scheme(name)?;
        scheme.bind(interface, rest, hints).map_err(|why| about(name, why))
    }

    fn export(
        &mut self,
        interface: &'static Interface,
        name: &[u8],
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        let (scheme, rest) = self.scheme(name)?;
        scheme.export(interface, rest, hints).map_err(|why| about(name, why))
    }

    fn domain(
        &mut self,
        template: &'static Template,
        name: &[u8],
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let (scheme, rest) = self.scheme(name)?;
        scheme.domain(template, rest, hints).map_err(|why| about(name, why))
    }
}

fn about(name: &[u8], why: String) -> String {
    format!("{}: {why}", String::from_utf8_lossy(name))
}
