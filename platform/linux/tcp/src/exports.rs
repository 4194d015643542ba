//! What is exported at an address.

use std::cell::Cell;
use std::rc::Rc;

use drystone_kortex::peer::{Composites, Names};

use super::credentials::Credentials;
use super::memory::Memory;

/// What programs that connect to the address may ask for.
pub(super) struct Exports {
    pub(super) names: Rc<Names>,
    pub(super) composites: Option<Rc<dyn Composites>>,
    /// Whether programs that connect from now on may ship composite calls.
    pub(super) takes_composites: Cell<bool>,
    /// Of the connections to all addresses.
    pub(super) memory: Rc<Memory>,
    /// The certificates of the connections to the address.
    pub(super) credentials: Option<Rc<Credentials>>,
}

impl Exports {
    /// Nothing yet.
    pub(super) fn new(
        composites: Option<Rc<dyn Composites>>,
        memory: Rc<Memory>,
        credentials: Option<Rc<Credentials>>,
    ) -> Exports {
        Exports { names: Rc::default(), composites, takes_composites: Cell::new(true), memory, credentials }
    }
}
