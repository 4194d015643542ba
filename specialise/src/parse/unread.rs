//! What is kept of a file, so that bodies can be read when they are first asked for.

use super::attributes::Groups;
use super::body;
use super::constants::Symbols;
use super::metadata::Numbered;
use super::types::Types;
use super::{excerpt, line};
use crate::account::Room;
use crate::ir::{Body, Function, PlaceId, Places, Source, Unsupported};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// What the bodies of a file have in common, whatever module they are in.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: Rc<str>,
    pub(super) text: Rc<str>,
    pub(super) types: Types,
    pub(super) groups: Groups,
    pub(super) metadata: Numbered,
    /// What the text and all that was read of it takes.
    pub(super) room: Room,
}

/// What the names in the bodies of a file stand for in a module.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) file: Rc<File>,
    pub(super) symbols: Symbols,
    pub(super) places: Rc<Places>,
    /// Places by the number of their metadata.
    pub(super) known: RefCell<HashMap<u32, Option<PlaceId>>>,
    /// File and function of a scope, by the number of its metadata.
    pub(super) surroundings: RefCell<HashMap<u32, Surroundings>>,
}

/// A file and a function in it.
pub(super) type Surroundings = (Rc<str>, Rc<str>);

impl Scope {
    pub(super) fn new(file: Rc<File>, symbols: Symbols, places: Rc<Places>) -> Self {
        Scope { file, symbols, places, known: RefCell::default(), surroundings: RefCell::default() }
    }
}

/// The text of a function's body.
pub(super) struct UnreadBody {
    pub(super) scope: Rc<Scope>,
    /// Where the body begins, at its brace.
    pub(super) start: usize,
}

impl fmt::Debug for UnreadBody {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "UnreadBody({}:{})", self.scope.file.name, line(&self.scope.file.text, self.start))
    }
}

impl Source for UnreadBody {
    fn read(&self, function: &Function) -> Result<Body, Unsupported> {
        let file = &self.scope.file;
        body::read(function, &self.scope, self.start).map_err(|fail| Unsupported {
            function: function.name.clone(),
            file: file.name.clone(),
            line: line(&file.text, fail.at),
            what: fail.what,
            excerpt: excerpt(&file.text, fail.at),
        })
    }

    fn parameter_names(&self) -> Vec<(usize, String)> {
        self.variables_of_arguments()
    }
}
