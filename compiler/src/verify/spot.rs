//! An error of the verifier, and the place in the code that it is about.

use std::fmt;

use crate::mir::{BlockId, Code};

/// An error, and its place.
#[derive(Debug)]
pub struct Broken {
    code: String,
    block: BlockId,
    at: At,
    what: String,
}

/// Where in a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Beginning,
    SuspensionPoint,
    Instruction(usize),
    End,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the compiler has made malformed MIR: {}, {}", self.code, self.block)?;
        match self.at {
            At::Beginning => {}
            At::SuspensionPoint => write!(f, ", suspension point")?,
            At::Instruction(number) => write!(f, ", instruction {number}")?,
            At::End => write!(f, ", end")?,
        }
        write!(f, ": {}", self.what)
    }
}

/// The place that is being verified.
#[derive(Clone, Copy)]
pub(super) struct Spot<'c> {
    pub(super) code: &'c Code,
    pub(super) block: BlockId,
    pub(super) at: At,
}

impl Spot<'_> {
    pub(super) fn at(self, at: At) -> Self {
        Spot { at, ..self }
    }

    pub(super) fn broken<T>(self, what: impl Into<String>) -> Result<T, Broken> {
        Err(Broken { code: self.code.name.clone(), block: self.block, at: self.at, what: what.into() })
    }

    pub(super) fn require(self, holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Broken> {
        if holds { Ok(()) } else { self.broken(otherwise()) }
    }
}
