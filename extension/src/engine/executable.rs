//! A program with the engine of the host's choice.

use alloc::string::String;

#[cfg(all(unix, target_arch = "x86_64"))]
use super::jit::{Constants, Jit, Pages, pages};
use super::{Context, Interpreter, Platform, Stop};
use crate::Verified;

/// A program that is compiled, or interpreted.
pub(crate) enum Executable<H> {
    Interpreter(Interpreter<H>),
    #[cfg(all(unix, target_arch = "x86_64"))]
    Jit(Jit<H, Pages>),
}

impl<H> Executable<H> {
    /// Compiles a program, and blinds its constants with the key. Without a key or a compiler it is interpreted. Fails
    /// if the platform lacks what the program refers to, or there is no memory for code.
    ///
    /// # Safety
    /// The contract holds by which the program was verified: see [`Interpreter::new`].
    pub unsafe fn new(
        verified: &Verified,
        platform: Platform<H>,
        key: Option<u64>,
    ) -> Result<Executable<H>, String> {
        match key {
            #[cfg(all(unix, target_arch = "x86_64"))]
            Some(key) => {
                // SAFETY: the contract holds; `pages` are executable, and don't change.
                let jit = unsafe { Jit::new(verified, platform, Constants::Blinded(key), pages)? };
                Ok(Executable::Jit(jit))
            }
            _ => {
                // SAFETY: the contract holds.
                let interpreter = unsafe { Interpreter::new(verified, platform)? };
                Ok(Executable::Interpreter(interpreter))
            }
        }
    }

    /// Whether it is interpreted.
    pub fn is_interpreted(&self) -> bool {
        matches!(self, Executable::Interpreter(_))
    }

    /// Bytes that it takes, approximately.
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
