//! A component that lives here for a program elsewhere: the other half of [`Domain`](super::Domain).

use alloc::boxed::Box;

use drystone_component::Template;

use super::{Exported, Reach, State};

/// The program for which the component is here.
pub trait Host: 'static {
    /// The clients that come to one of the interfaces that the component offers: the index in its template.
    fn offered(&mut self, index: usize) -> Box<dyn Exported>;

    /// Reaches what is connected there to one of the interfaces that the component requires: the index in its template,
    /// and the slot, from 1.
    fn required(&mut self, index: usize, slot: usize) -> Box<dyn Reach>;

    /// What that program wants of the component.
    fn wish(&mut self) -> Wish;

    /// Hears how far the component is.
    fn tell(&mut self, state: State);
}

/// What its program wants of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It lives.
    Live,
    /// It is deleted as its program would delete it.
    End,
    /// It ends at once: its program needs it no more.
    Halt,
}

/// The component, as the home knows it.
pub struct Guest {
    /// What it is.
    pub template: &'static Template,
    /// The program for which it is here.
    pub(crate) host: Box<dyn Host>,
    /// How far it was when the host was told.
    pub(crate) told: State,
    /// The host has wished its end.
    pub(crate) ends: bool,
}

impl Guest {
    /// Not made yet.
    pub fn new(template: &'static Template, host: Box<dyn Host>) -> Guest {
        Guest { template, host, told: State::Active, ends: false }
    }
}
