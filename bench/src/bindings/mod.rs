//! Bindings, paper on THINK: how a program talks to what is elsewhere.

mod crossing;

pub use crossing::Crossing;
