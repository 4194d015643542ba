//! Compiles a list of pipes to a pass.

use alloc::string::String;
use core::ops::Deref;

#[cfg(target_arch = "x86_64")]
use super::code::Compiled;
use super::{Features, Mode, Pass, Pipes, Refusal};

impl Pipes {
    /// A pass that evaluates the pipes step by step, for machines without a compiler.
    pub fn evaluated(&self, mode: Mode) -> Result<Pass, Refusal> {
        self.check()?;
        Ok(Pass::new(self, mode))
    }

    /// Compiles the list to one loop. `place` puts its code into executable memory, from then on not writable. If there
    /// is no compiler for the machine, or `features` don't suffice, the pass is as [`Pipes::evaluated`] makes it.
    ///
    /// # Safety
    /// What `place` returns holds the same bytes, executable, which don't change or move while it lives. The machine
    /// has the features.
    pub unsafe fn compile_in<M: Deref<Target = [u8]> + Send + Sync + 'static>(
        &self,
        mode: Mode,
        features: Features,
        place: impl FnOnce(&[u8]) -> Result<M, String>,
    ) -> Result<Pass, Refusal> {
        self.check()?;
        #[cfg(target_arch = "x86_64")]
        {
            let pass = Pass::new(self, mode);
            let Some(code) = super::x86::compile(self, pass.homes(), mode, features) else { return Ok(pass) };
            // SAFETY: the caller promises that `place` returns the same bytes, executable and unchanging, and that the
            // machine has the features.
            let compiled = unsafe { Compiled::new(code, place) }.map_err(Refusal::new)?;
            Ok(pass.compiled(compiled))
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (features, place);
            Ok(Pass::new(self, mode))
        }
    }

    /// Compiles the list to one loop for this machine.
    #[cfg(all(unix, target_arch = "x86_64"))]
    pub fn compile(&self, mode: Mode) -> Result<Pass, Refusal> {
        self.compile_for(mode, Features::detect())
    }

    /// Compiles the list for this machine, using only these features.
    #[cfg(all(unix, target_arch = "x86_64"))]
    pub fn compile_for(&self, mode: Mode, features: Features) -> Result<Pass, Refusal> {
        let features = features.and(Features::detect());
        // SAFETY: `pages` are executable, and don't change. The features are among those that were detected.
        unsafe { self.compile_in(mode, features, crate::engine::jit::pages) }
    }
}
