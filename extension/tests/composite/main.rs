//! Composite calls.

mod agree;
mod generate;
mod script;
