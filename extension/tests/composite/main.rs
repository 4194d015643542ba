//! Composite calls.

mod agree;
mod generate;
mod interface;
mod programs;
mod script;
mod store;
