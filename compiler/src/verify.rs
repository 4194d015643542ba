//! Whether the mid-level form makes sense: what is wrong with it is a mistake of this compiler, and is told before it
//! becomes wrong code.
//!
//! `shape` looks at blocks and where they lead, `operands` at what each of them takes and gives, and, once the form is
//! cut, `saved` at what is in registers where a process goes on.

mod operands;
mod saved;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::mir::{BlockId, Code};
use crate::segments::Cut;

/// What is wrong, and where.
#[derive(Debug)]
pub struct Broken {
    code: String,
    block: BlockId,
    at: At,
    what: String,
}

/// Where in a block.
#[derive(Clone, Copy, Debug)]
enum At {
    Beginning,
    SuspensionPoint,
    Instruction(usize),
    End,
}

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

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the compiler made something that makes no sense: {}, {}", self.code, self.block)?;
        match self.at {
            At::Beginning => {}
            At::SuspensionPoint => write!(f, ", suspension point")?,
            At::Instruction(number) => write!(f, ", instruction {number}")?,
            At::End => write!(f, ", end")?,
        }
        write!(f, ": {}", self.what)
    }
}

/// Where the verifier is.
#[derive(Clone, Copy)]
struct Spot<'c> {
    code: &'c Code,
    block: BlockId,
    at: At,
}

impl Spot<'_> {
    fn at(self, at: At) -> Self {
        Spot { at, ..self }
    }

    fn broken<T>(self, what: impl Into<String>) -> Result<T, Broken> {
        Err(Broken { code: self.code.name.clone(), block: self.block, at: self.at, what: what.into() })
    }

    fn require(self, holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Broken> {
        if holds { Ok(()) } else { self.broken(otherwise()) }
    }
}
