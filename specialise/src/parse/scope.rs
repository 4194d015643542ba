//! The data of a file that is needed to read its bodies later.

use super::attributes::Groups;
use super::constants::Symbols;
use super::numbered::Numbered;
use super::types::Types;
use crate::account::Room;
use crate::ir::{PlaceId, Places};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The data that all bodies of a file share, in any module.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: Rc<str>,
    pub(super) text: Rc<str>,
    pub(super) types: Types,
    pub(super) groups: Groups,
    pub(super) metadata: Numbered,
    /// The count of the memory that the text and everything read from it take.
    pub(super) room: Room,
}

/// The meaning of names in the bodies of a file, for one module.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) file: Rc<File>,
    pub(super) symbols: Symbols,
    pub(super) places: Rc<Places>,
    /// Places, by the number of their metadata.
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
