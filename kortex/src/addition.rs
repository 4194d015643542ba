//! What a crate adds to a program's system: components of its own, naming contexts and binding factories.
//!
//! `drystone build --with CRATE` builds a crate in that has a `pub static DRYSTONE: Addition`.

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Interface, Program};
use drystone_runtime::binding::{Factory, NamingContext};
use drystone_runtime::far::Reach;
use drystone_runtime::native::{Declaration, Serving};

/// Makes what serves a new client.
pub type Maker = Box<dyn FnMut() -> Serving>;

/// An interface that the program's first component may require.
#[derive(Debug)]
pub struct Offer {
    /// Which.
    pub declaration: &'static Declaration,
    /// Called once, when the program starts and requires it. An error says why it can't be offered.
    pub begin: fn(&'static Program) -> Result<Maker, String>,
}

/// A naming context for the names of a scheme.
#[derive(Debug)]
pub struct Context {
    /// What stands before the colon.
    pub scheme: &'static str,
    /// Called once, when the program starts.
    pub begin: fn() -> Box<dyn NamingContext>,
}

/// Puts something before a binding.
pub type Put = fn(Box<dyn Reach>, &'static Interface, &Factory<'_>) -> Result<Box<dyn Reach>, String>;

/// A binding factory: it puts something before what another one reaches.
#[derive(Debug)]
pub struct Before {
    /// As `BY` calls it.
    pub name: &'static str,
    /// Called for each binding made with it, with its options in BY. An error says why it isn't fit for the interface,
    /// or which option is none of its.
    pub put: Put,
}

/// What a crate adds.
#[derive(Debug, Default)]
pub struct Addition {
    /// Interfaces for the component that starts.
    pub offers: &'static [Offer],
    /// Naming contexts.
    pub contexts: &'static [Context],
    /// Binding factories for `BY`.
    pub factories: &'static [Before],
}
