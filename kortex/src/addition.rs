//! What an extra crate adds to a program's system: components, naming contexts, binding factories and procedures.
//!
//! `drystone build --with CRATE` builds a crate in that has a `pub static DRYSTONE: Addition`.

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Interface, Program};
use drystone_runtime::binding::{Factory, NamingContext};
use drystone_runtime::far::Reach;
use drystone_runtime::native::{Declaration, Procedure, Serving};

use crate::Host;

/// Makes a server for each new client.
pub type Maker = Box<dyn FnMut() -> Serving>;

/// An interface that the program's first component may require.
#[derive(Debug)]
pub struct Offer {
    /// The interface.
    pub declaration: &'static Declaration,
    /// Called once, when a program that requires the interface starts. An error says why it can't be offered.
    pub begin: fn(&'static Program) -> Result<Maker, String>,
}

/// A naming context for the names of a scheme.
#[derive(Debug)]
pub struct Context {
    /// The scheme: what stands before the colon.
    pub scheme: &'static str,
    /// Called once, when the program starts.
    pub begin: fn(&Host) -> Box<dyn NamingContext>,
}

/// Puts a factory in front of a binding.
pub type Put = fn(Box<dyn Reach>, &'static Interface, &Factory<'_>) -> Result<Box<dyn Reach>, String>;

/// A binding factory that is put in front of another binding.
#[derive(Debug)]
pub struct Before {
    /// Its name after `BY`.
    pub name: &'static str,
    /// Called for each binding made with it, with its options in BY. An error says why it doesn't suit the interface,
    /// or which option it doesn't know.
    pub put: Put,
}

/// What a crate adds.
#[derive(Debug, Default)]
pub struct Addition {
    /// Interfaces that the program's first component may require.
    pub offers: &'static [Offer],
    /// Naming contexts.
    pub contexts: &'static [Context],
    /// Binding factories for `BY`.
    pub factories: &'static [Before],
    /// Procedures that files of the component language declare as NATIVE.
    pub procedures: &'static [Procedure],
}

impl Addition {
    /// Adds nothing: `Addition { contexts: &[..], ..Addition::NOTHING }`.
    pub const NOTHING: Addition = Addition { offers: &[], contexts: &[], factories: &[], procedures: &[] };
}
