//! The MIR verifier: a mistake of this compiler is reported before it becomes wrong code.
//!
//! `shape` checks blocks and where they lead, `operands` what each instruction takes and gives, and, once the code is
//! cut, `saved` that every register is written or saved before it is read.

mod operands;
mod saved;
mod shape;
mod spot;

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
