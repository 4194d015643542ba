//! A program for whichever engine is wanted, and there.

use alloc::string::String;

#[cfg(all(unix, target_arch = "x86_64"))]
use super::jit::{Constants, Jit, Pages, pages};
use super::{Context, Interpreter, Platform, Stop};
use crate::Verified;

/// A program that can be run.
pub(crate) enum Executable<H> {
    Interpreter(Interpreter<H>),
    #[cfg(all(unix, target_arch = "x86_64"))]
    Jit(Jit<H, Pages>),
}

impl<H> Executable<H> {
    /// Compiles a program, with constants that are mixed with what follows from a key; without one, or where there is
    /// no compiler, it is interpreted. It fails if the platform lacks what the program refers to, or there is no memory
    /// for code.
    ///
    /// # Safety
    /// As for [`Interpreter::new`].
    pub unsafe fn new(
        verified: &Verified,
        platform: Platform<H>,
        key: Option<u64>,
    ) -> Result<Executable<H>, String> {
        // SAFETY: the caller's promise; and pages are as asked for.
        unsafe {
            match key {
                #[cfg(all(unix, target_arch = "x86_64"))]
                Some(key) => {
                    Jit::new(verified, platform, Constants::Blinded(key), pages).map(Executable::Jit)
                }
                _ => Interpreter::new(verified, platform).map(Executable::Interpreter),
            }
        }
    }

    /// Whether it is interpreted.
    pub fn is_interpreted(&self) -> bool {
        matches!(self, Executable::Interpreter(_))
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        match self {
            Executable::Interpreter(interpreter) => interpreter.bytes(),
            #[cfg(all(unix, target_arch = "x86_64"))]
            Executable::Jit(jit) => jit.bytes(),
        }
    }

    /// As [`Interpreter::run`].
    pub fn run(&self, context: &mut Context<H>) -> Result<u64, Stop> {
        match self {
            Executable::Interpreter(interpreter) => interpreter.run(context),
            #[cfg(all(unix, target_arch = "x86_64"))]
            Executable::Jit(jit) => jit.run(context),
        }
    }
}
