//! Places of code in the source text.

use std::cell::RefCell;
use std::rc::Rc;

/// A place in the source text, as an index; [`Module::place`](super::Module::place) gives the place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PlaceId(pub u32);

/// A place in the source text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The file, by the name that the compiler was given.
    pub file: Rc<str>,
    /// From 1; 0 if the compiler gives none.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// The source function that contains it (not the one into which it was inlined).
    pub function: Rc<str>,
    /// The place where the compiler inlined that function.
    pub inlined_at: Option<PlaceId>,
}

/// Places in the source text, shared by their users. More are added as bodies are read.
#[derive(Debug, Default)]
pub struct Places(RefCell<Vec<Place>>);

impl Places {
    /// Adds a place.
    pub fn add(&self, place: Place) -> PlaceId {
        let mut places = self.0.borrow_mut();
        places.push(place);
        PlaceId(places.len() as u32 - 1)
    }

    /// A place that was added.
    pub fn get(&self, id: PlaceId) -> Place {
        self.0.borrow()[id.0 as usize].clone()
    }

    /// The number of places so far.
    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }
}
