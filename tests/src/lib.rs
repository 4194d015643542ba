//! Tests of the whole: a slow interpreter that serves as an independent oracle for what programs mean, a
//! generator of programs whose output cannot depend on the schedule, and (in `tests/`) the conformance suite of
//! the language reference and the comparison of interpreter and compiled system.
//!
//! Nothing in here knows how the compiler or the runtime work.

pub mod expected;
pub mod generate;
pub mod random;
pub mod reference;
