//! The component library (paper 002, section 4): native components and binding factories that no platform owns.
//!
//! A [`NamingContext`] gives the names of a scheme a meaning. [`event`] is one; [`composed`] are the factories that put something
//! into the path of a binding that another has made.

#![no_std]

extern crate alloc;

mod addition;
pub mod composed;
pub mod event;

pub use self::addition::{Addition, Before, Context, Maker, Offer, Put};

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::{Interface, Template};
use drystone_runtime::binding::Hints;
use drystone_runtime::far::{Domain, Exported, Reach};

/// What gives the names of a scheme a meaning.
pub trait NamingContext {
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
