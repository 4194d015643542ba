//! Whether the mid-level form makes sense: what is wrong with it is a mistake of this compiler, and is told before it
//! becomes wrong code.
//!
//! `shape` looks at blocks and where they lead, `operands` at what each of them takes and gives, and, once the form is
//! cut, `saved` at what is in registers where a process goes on.

mod operands;
mod saved;
mod shape;
mod spot;
#[cfg(test)]
mod tests;

use crate::mir::Code;
use crate::segments::Cut;
pub use spot::Broken;

/// Looks at bodies and procedure variants, which come after them.
pub fn codes(codes: &[Code], first_variant: usize) -> Result<(), Broken> {
    codes.iter().try_for_each(|code| {
        shape::verify(code)?;
        operands::verify(code, codes, first_variant)
    })
}

/// Looks at what has been cut.
pub fn cuts(cuts: &[Cut]) -> Result<(), Broken> {
    cuts.iter().try_for_each(saved::verify)
}
