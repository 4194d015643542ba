//! The component library (paper 002, section 4): native components and binding factories that no platform owns.
//!
//! [`composed`] are the factories that put something into the path of a binding that another has made.

#![no_std]

extern crate alloc;

pub mod composed;
