//! Lists of pipes do what the pipes do one after the other.

mod generate;
mod lists;
mod naive;
mod programs;
mod ready;
mod refused;
