//! What is exported at an address.

use std::cell::Cell;
use std::rc::Rc;

use drystone_kortex::peer::{Composites, Names};

use super::crowd::Crowd;

/// What who comes in may ask for.
pub(super) struct Exports {
    pub(super) names: Rc<Names>,
    pub(super) composites: Rc<dyn Composites>,
    /// Who comes in from now on may ship composite calls.
    pub(super) takes_composites: Cell<bool>,
    /// All who have come in, at whatever door.
    pub(super) crowd: Rc<Crowd>,
}

impl Exports {
    /// Nothing yet.
    pub(super) fn new(composites: Rc<dyn Composites>, crowd: Rc<Crowd>) -> Exports {
        Exports { names: Rc::default(), composites, takes_composites: Cell::new(true), crowd }
    }
}
