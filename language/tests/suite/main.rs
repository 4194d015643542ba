//! The language's front as the command and editors use it: good programs, faulty ones, and what is said of them.

mod automaton;
mod check;
mod conformance;
mod editors;
mod elsewhere;
mod golden;
mod identity;
mod imports;
mod newcomers;
mod properties;
mod syntax;
