//! Tests of the whole system: an interpreter as the oracle for the meaning of programs, and a generator of programs
//! whose output cannot depend on the schedule. `tests/` has the conformance suite of the language reference, and
//! compares the interpreter with the compiled system.
//!
//! Nothing here knows how the compiler or the runtime works.

pub mod expected;
pub mod generate;
pub mod random;
pub mod reference;
