//! The state of a run. It is the same for every engine, so that one can resume what another began.

use alloc::{format, string::String};
use core::fmt;
use core::num::NonZeroU32;
use core::sync::atomic::{AtomicBool, Ordering};

use super::Memory;
use crate::bytecode::{Constant, Register};
use crate::{DEPTH, FRAME};

/// A helper, as engines call it.
pub struct Helper<H> {
    /// Its function.
    pub function: Function<H>,
    /// How many of r1 to r5 are arguments. The others may have changed when it is called again after it stopped.
    pub arguments: usize,
}

/// Takes r1 to r5, and returns r0. It can access the program's memory, and the host's data of the run (`H`). It must
/// not panic: nothing catches that.
pub type Function<H> = extern "C" fn(&mut Context<H>, u64, u64, u64, u64, u64) -> Answer;

impl<H> Clone for Helper<H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for Helper<H> {}

/// What a helper returns: a `Result<u64, Stop>` in two registers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub(super) value: u64,
    /// 0 if it goes on.
    pub(super) stop: u64,
}

impl From<Result<u64, Stop>> for Answer {
    fn from(result: Result<u64, Stop>) -> Answer {
        match result {
            Ok(value) => Answer { value, stop: 0 },
            Err(stop) => Answer { value: 0, stop: stop.code() },
        }
    }
}

impl From<Answer> for Result<u64, Stop> {
    fn from(answer: Answer) -> Result<u64, Stop> {
        if answer.stop == 0 { Ok(answer.value) } else { Err(Stop::from_code(answer.stop)) }
    }
}

/// Why a program stopped before its end. If it is run again, it continues with the instruction that it stopped at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its budget is used up.
    Budget,
    /// It was cancelled.
    Cancelled,
    /// It calls deeper than [`DEPTH`].
    Depth,
    /// It accesses memory that isn't its own.
    Access,
    /// It calls through a register that holds neither an address of code nor a helper's number.
    Callee,
    /// A helper stopped it, for a reason that it numbers.
    Helper(NonZeroU32),
}

impl Stop {
    const HELPER: u64 = 1 << 32;

    pub(super) const fn code(self) -> u64 {
        match self {
            Stop::Budget => 1,
            Stop::Cancelled => 2,
            Stop::Depth => 3,
            Stop::Access => 4,
            Stop::Callee => 5,
            Stop::Helper(number) => Self::HELPER | number.get() as u64,
        }
    }

    pub(super) fn from_code(code: u64) -> Stop {
        match (code, NonZeroU32::new(code as u32)) {
            (Self::HELPER.., Some(number)) => Stop::Helper(number),
            (2, _) => Stop::Cancelled,
            (3, _) => Stop::Depth,
            (4, _) => Stop::Access,
            (5, _) => Stop::Callee,
            _ => Stop::Budget,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Stop::Budget => f.write_str("its budget is spent"),
            Stop::Cancelled => f.write_str("it was cancelled"),
            Stop::Depth => write!(f, "more than {DEPTH} calls would be under way at once"),
            Stop::Access => f.write_str("it accesses memory that isn't its own"),
            Stop::Callee => f.write_str("it calls a register that names neither a function nor a helper"),
            Stop::Helper(number) => write!(f, "a helper stopped it, for reason {number}"),
        }
    }
}

/// What engines must know of the host of a program.
pub struct Platform<'a, H> {
    /// Helpers, by number.
    pub helpers: &'a [Helper<H>],
    /// The program's addresses of what its `map_val` constants refer to, by their maps' numbers.
    pub values: &'a [u64],
    /// Bytes of its own memory ([`Memory::size`]).
    pub memory: usize,
}

impl<H> Clone for Platform<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for Platform<'_, H> {}

impl<H> Platform<'_, H> {
    /// The value of the constant in two slots at `at`.
    pub(super) fn constant(&self, at: usize, constant: Constant) -> Result<u64, String> {
        match constant {
            Constant::Number(number) => Ok(number),
            Constant::MapByFd(map) | Constant::MapByIndex(map) => Ok(map as u32 as u64),
            Constant::ValueByFd { map, offset } | Constant::ValueByIndex { map, offset } => {
                let value = usize::try_from(map).ok().and_then(|map| self.values.get(map));
                let value = value.ok_or_else(|| format!("instruction {at}: there is no map {map}"))?;
                Ok(value.wrapping_add(i64::from(offset) as u64))
            }
            Constant::Code(offset) => Ok(CODE | (at as i64 + 1 + i64::from(offset)) as u64),
            Constant::Variable(number) => Err(format!("instruction {at}: there is no variable {number}")),
        }
    }

    /// Fails if there is no such helper.
    pub(super) fn helper(&self, at: usize, number: u32) -> Result<Helper<H>, String> {
        let missing =
            || format!("instruction {at}: there is no helper {number}; there are {}", self.helpers.len());
        self.helpers.get(number as usize).copied().ok_or_else(missing)
    }
}

/// An address of code is this plus a slot.
const CODE: u64 = 1 << 62;

/// The slot of an address of code.
pub(super) fn function(address: u64) -> Option<u32> {
    u32::try_from(address ^ CODE).ok()
}

/// A run of a program, for engines and helpers.
#[repr(C)]
#[derive(Debug)]
pub struct Context<'a, H> {
    pub(super) state: State,
    /// Where compiled code finds the stack when the program stops.
    pub(super) stack: usize,
    /// The memory that it can address.
    pub memory: &'a mut Memory,
    /// The host's data of this run.
    pub host: &'a mut H,
    cancelled: Option<&'a AtomicBool>,
}

/// The state of a program between two instructions. Registers that a call leaves undefined hold the engine's values:
/// keep them from clients.
#[repr(C)]
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    pub(super) registers: [u64; Register::COUNT],
    /// The slot of the next instruction.
    pub(super) slot: u64,
    /// The part of the budget that is left until the flag of cancellation is checked.
    pub(super) slice: i64,
    /// The rest of the budget.
    budget: u64,
    pub(super) calls: Calls,
}

/// The calls that are under way, but for the outermost function's.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// How many.
    pub depth: u64,
    /// The caller of each, from 1.
    pub callers: [Caller; DEPTH],
}

/// What a return restores.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Caller {
    /// r6 to r9.
    pub kept: [u64; 4],
    /// The slot after the call.
    pub back: u64,
}

impl State {
    /// The beginning of a program, with r1 to r5, and a budget of jumps back.
    pub fn new(arguments: [u64; 5], budget: u64) -> State {
        let mut registers = [0; Register::COUNT];
        registers[1..=5].copy_from_slice(&arguments);
        registers[10] = Memory::OUTERMOST;
        State { registers, slot: 0, slice: 0, budget, calls: Calls::default() }
    }

    /// The slot of the next instruction.
    pub fn slot(&self) -> usize {
        self.slot as usize
    }

    /// What is left of its budget.
    pub fn budget(&self) -> u64 {
        self.budget.saturating_add(self.slice.max(0) as u64)
    }

    /// Gives it another budget.
    pub fn set_budget(&mut self, budget: u64) {
        (self.slice, self.budget) = (0, budget);
    }

    /// Continues behind the call that it stopped at, as if that had returned `value`.
    pub fn answer(&mut self, value: u64) {
        self.registers[0] = value;
        self.slot += 1;
    }
}

impl Clone for State {
    fn clone(&self) -> State {
        State { calls: self.calls.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &State) {
        let State { registers, slot, slice, budget, ref calls } = *other;
        (self.registers, self.slot, self.slice, self.budget) = (registers, slot, slice, budget);
        self.calls.clone_from(calls);
    }
}

impl Calls {
    /// The entries that are in use.
    fn under_way(&self) -> &[Caller] {
        &self.callers[..(self.depth as usize + 1).min(DEPTH)]
    }
}

impl Clone for Calls {
    fn clone(&self) -> Calls {
        let mut calls = Calls::default();
        calls.clone_from(self);
        calls
    }

    fn clone_from(&mut self, other: &Calls) {
        let under_way = other.under_way();
        self.depth = other.depth;
        self.callers[..under_way.len()].copy_from_slice(under_way);
    }
}

impl PartialEq for Calls {
    fn eq(&self, other: &Calls) -> bool {
        self.depth == other.depth && self.under_way() == other.under_way()
    }
}

impl Eq for Calls {}

impl Calls {
    /// Begins a call that returns to `back`, and saves r6 to r9 and r10 for the caller.
    pub fn enter(&mut self, registers: &mut [u64], back: u64) -> Result<(), Stop> {
        if self.depth + 1 >= DEPTH as u64 {
            return Err(Stop::Depth);
        }
        self.depth += 1;
        let kept = [registers[6], registers[7], registers[8], registers[9]];
        self.callers[self.depth as usize] = Caller { kept, back };
        registers[10] += FRAME as u64;
        Ok(())
    }

    /// Returns from a call, if one is under way: gives the slot to continue with.
    pub fn leave(&mut self, registers: &mut [u64]) -> Option<u64> {
        if self.depth == 0 {
            return None;
        }
        let caller = self.callers[self.depth as usize];
        registers[6..=9].copy_from_slice(&caller.kept);
        registers[10] -= FRAME as u64;
        self.depth -= 1;
        Some(caller.back)
    }
}

impl<'a, H> Context<'a, H> {
    /// A run from a state on.
    #[inline]
    pub fn new(state: State, memory: &'a mut Memory, host: &'a mut H) -> Context<'a, H> {
        Context { state, stack: 0, memory, host, cancelled: None }
    }

    /// A run that stops when the flag is set: at one of the next 16384 jumps back that take from the budget.
    #[inline]
    pub fn cancelled_by(mut self, flag: &'a AtomicBool) -> Context<'a, H> {
        self.cancelled = Some(flag);
        self
    }

    /// The state of the program.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state of the program, to change it between runs.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Takes the cost of a helper's work from the budget, in jumps back.
    pub fn charge(&mut self, cost: u64) -> Result<(), Stop> {
        let left = self.state.budget().checked_sub(cost).ok_or(Stop::Budget)?;
        self.state.set_budget(left);
        self.refill_or_empty()
    }

    /// The same, for work that is already done: returns what the budget didn't cover. A program whose budget is used
    /// up, or that was cancelled, stops at its next jump back.
    #[inline]
    pub fn pay(&mut self, cost: u64) -> u64 {
        if cost == 0 {
            return 0;
        }
        let left = self.state.budget();
        let _ = self.charge(cost.min(left));
        cost.saturating_sub(left)
    }

    fn refill_or_empty(&mut self) -> Result<(), Stop> {
        if self.state.budget == 0 { Ok(()) } else { self.refill() }
    }

    /// Takes another slice from the budget.
    #[cold]
    pub(super) fn refill(&mut self) -> Result<(), Stop> {
        const SLICE: u64 = 1 << 14;
        self.state.slice = 0;
        if self.cancelled.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Stop::Cancelled);
        }
        let slice = self.state.budget.min(SLICE);
        self.state.budget -= slice;
        self.state.slice = slice as i64;
        if slice == 0 { Err(Stop::Budget) } else { Ok(()) }
    }
}
