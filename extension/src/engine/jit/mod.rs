//! Compiles programs to x86-64 code. It needs no operating system: the caller supplies executable memory.
//!
//! `unsafe` here: compiled code is called. It has the signature [`Entry`] and keeps the calling convention of System V
//! ([`entry`]), and accesses memory only where the verifier has proved it, or behind a guard.

mod arithmetic;
mod calls;
mod compile;
mod entry;
#[cfg(unix)]
mod pages;
mod recipes;
pub(crate) mod x86;

use alloc::{string::String, vec::Vec};
use core::mem::transmute;
use core::ops::Deref;
use core::ptr;

use self::compile::{Compiled, Compiler};
use self::entry::{CALLS_REGISTER, Entry, SLICE_SPENT};
#[cfg(unix)]
pub use self::pages::{Pages, pages};
use super::context::{Context, Helper, Platform, Stop, function};
use crate::Verified;
#[cfg(unix)]
use crate::bytecode::Program;

/// A program's code in executable memory `M`.
pub struct Jit<H, M> {
    memory_of_code: M,
    compiled: Compiled,
    helpers: Vec<Helper<H>>,
    taken: Vec<u32>,
    memory: usize,
}

/// How the program's constants are put into code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constants {
    /// As they are. An untrusted program could hide instructions in them.
    Plain,
    /// Blinded with numbers that are derived from this one, which should be unpredictable.
    Blinded(u64),
}

impl<H, M: Deref<Target = [u8]>> Jit<H, M> {
    /// Compiles a program. `place` puts code into executable memory, from then on not writable. Fails if `place` fails,
    /// or if the platform lacks what the program refers to.
    ///
    /// # Safety
    /// The contract holds by which the program was verified: see [`super::Interpreter::new`]. What `place` returns
    /// holds the same bytes, executable, which don't change or move while it lives.
    pub unsafe fn new(
        verified: &Verified,
        platform: Platform<H>,
        constants: Constants,
        place: impl FnOnce(&[u8]) -> Result<M, String>,
    ) -> Result<Self, String> {
        let key = match constants {
            Constants::Plain => None,
            Constants::Blinded(key) => Some(key),
        };
        let mut compiled = Compiler::compile(verified, platform, key)?;
        let memory_of_code = place(&compiled.code)?;
        compiled.code = Vec::new();
        Ok(Jit {
            memory_of_code,
            compiled,
            helpers: platform.helpers.to_vec(),
            taken: verified.program().taken(),
            memory: platform.memory,
        })
    }

    /// Bytes that it takes, approximately, including the tables of slots, returns and calls.
    pub(crate) fn bytes(&self) -> usize {
        let Compiled { slots, returns, callees, .. } = &self.compiled;
        let tables = size_of_val(&**slots) + size_of_val(&**returns) + size_of_val(&**callees);
        self.size().next_multiple_of(4096) + tables + size_of_val(&*self.helpers) + size_of_val(&*self.taken)
    }

    /// Bytes of code.
    pub fn size(&self) -> usize {
        self.memory_of_code.len()
    }

    /// As [`super::Interpreter::run`].
    ///
    /// # Panics
    /// If the context's memory isn't as large as the platform said, or its state isn't this program's.
    pub fn run(&self, context: &mut Context<H>) -> Result<u64, Stop> {
        assert_eq!(context.memory.size(), self.memory, "the program was prepared for memory of another size");
        loop {
            let answer = self.enter(context);
            match answer.stop {
                0 => return Ok(answer.value),
                SLICE_SPENT => context.refill()?,
                CALLS_REGISTER => self.call_register(context)?,
                stop => return Err(Stop::from_code(stop)),
            }
        }
    }

    fn enter(&self, context: &mut Context<H>) -> super::Answer {
        let code = self.memory_of_code.as_ptr();
        let mut returns = [ptr::null(); crate::DEPTH];
        let calls = &context.state.calls;
        let callers = &calls.callers[1..=calls.depth as usize];
        for (place, caller) in returns.iter_mut().zip(callers) {
            let index = self.compiled.returns.binary_search_by_key(&(caller.back as u32 - 1), |(at, _)| *at);
            let (_, offset) = self.compiled.returns[index.expect("a state of this program")];
            *place = code.wrapping_add(offset as usize);
        }
        let begin = code.wrapping_add(self.compiled.slots[context.state.slot()] as usize);
        // SAFETY: code begins with an entry. `begin` and `returns` are addresses in it, which belong to the context's
        // state; the memory is the context's. The contract of the program holds, as `new` demands.
        unsafe {
            let entry = transmute::<*const u8, Entry<H>>(code);
            entry(context, context.memory.base(), begin, returns.as_ptr(), callers.len())
        }
    }

    /// Does a call of a register: begins a function, or calls a helper.
    #[cold]
    fn call_register(&self, context: &mut Context<H>) -> Result<(), Stop> {
        let state = &mut context.state;
        let r = state.registers;
        let index = self.compiled.callees.binary_search_by_key(&(state.slot as u32), |(at, _)| *at);
        let target = index.ok().map_or(0, |index| r[self.compiled.callees[index].1.index()]);
        match function(target).filter(|slot| self.taken.binary_search(slot).is_ok()) {
            Some(slot) => {
                state.calls.enter(&mut state.registers, state.slot + 1)?;
                state.slot = slot.into();
            }
            None => {
                let helper = usize::try_from(target).ok().and_then(|number| self.helpers.get(number));
                let answer = (helper.ok_or(Stop::Callee)?.function)(context, r[1], r[2], r[3], r[4], r[5]);
                let value = Result::from(answer)?;
                context.state.answer(value);
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
impl<H> Jit<H, Pages> {
    /// Compiles a program that isn't verified: all accesses are checked at run time.
    pub fn unproven(program: Program, platform: Platform<H>, constants: Constants) -> Result<Self, String> {
        // SAFETY: an unproven program has no contract: every instruction has a guard. `pages` are executable, and don't
        // change.
        unsafe { Self::new(&Verified::unproven(program), platform, constants, pages) }
    }
}
