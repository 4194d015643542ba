//! The component library (paper 002, section 4): native components and binding factories that no platform owns.
//!
//! [`event`] is a naming context with its binding factory; [`composed`] are the factories that put something into the path of a
//! binding that another has made.

#![no_std]

extern crate alloc;

mod addition;
pub mod composed;
pub mod event;

pub use self::addition::{Addition, Before, Context, Maker, Offer, Put};
