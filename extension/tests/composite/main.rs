//! Composite calls.

mod agree;
mod executors;
mod generate;
mod golden;
mod hostile;
mod interface;
mod programs;
mod script;
mod served;
mod stops;
mod store;
