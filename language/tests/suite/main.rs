//! Tests of the language through its public interface, as the command and editors use it: valid programs, faulty ones,
//! and their diagnostics.

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
