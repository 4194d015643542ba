//! Components that live in another domain (`NEW .. AT`), as a resource manager makes them.

use alloc::boxed::Box;
use alloc::string::String;

use super::{Exported, Reach, Waker};

/// A component in another domain.
pub trait Domain: 'static {
    /// What to wake when [`Domain::state`] has changed: told first, and again when another process waits for that.
    fn attach(&mut self, waiter: Waker);

    /// Reaches one of the interfaces that it offers: the index in its template.
    fn offered(&mut self, index: usize) -> Box<dyn Reach>;

    /// The communications that it begins at one of the interfaces that it requires: the index in its template.
    fn required(&mut self, index: usize) -> Box<dyn Exported>;

    /// How far it is.
    fn state(&mut self) -> State;

    /// Deletes it: its services have ended.
    fn delete(&mut self);

    /// How it has come to an end before it was deleted, if it has.
    fn ended(&self) -> Option<String>;
}

/// How far a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its BEGIN or ACTIVITY runs.
    Active,
    /// Only its services run.
    Passive,
    /// It has been deleted, or its domain is lost.
    Gone,
}
