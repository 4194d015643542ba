//! What a program runs in, and stops in: the same for every engine, so that one can resume what another began.

use alloc::{format, string::String};
use core::fmt;
use core::num::NonZeroU32;
use core::sync::atomic::{AtomicBool, Ordering};

use super::Memory;
use crate::bytecode::{Constant, Register};
use crate::{DEPTH, FRAME};

/// What a program can call under a number.
pub struct Helper<H> {
    /// What is called.
    pub function: Function<H>,
    /// How many of r1 to r5 it looks at. The others may hold anything, if it is called again after it stopped.
    pub arguments: usize,
}

/// Takes r1 to r5, and gives r0. It may see and change the program's memory, and what the host keeps for it (`H`). It
/// must not panic: nothing catches that.
pub type Function<H> = extern "C" fn(&mut Context<H>, u64, u64, u64, u64, u64) -> Answer;

impl<H> Clone for Helper<H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for Helper<H> {}

/// What a helper gives: made of a `Result<u64, Stop>`.
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

/// Why a program stopped before its end. Run it again and it goes on with the instruction that it stopped at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its budget is spent.
    Budget,
    /// Somebody set the flag.
    Cancelled,
    /// It calls deeper than [`DEPTH`].
    Depth,
    /// It accesses what isn't its own.
    Access,
    /// It calls through a register that holds neither an address of code nor a helper's number.
    Callee,
    /// A helper says so; the number is the helper's.
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
            Stop::Helper(number) => write!(f, "what it called says {number}"),
        }
    }
}

/// What an engine has to know of where a program will run.
pub struct Platform<'a, H> {
    /// By their numbers.
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
    /// What two slots at `at` say.
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

    /// Says if there is no such helper.
    pub(super) fn helper(&self, at: usize, number: u32) -> Result<Helper<H>, String> {
        let missing =
            || format!("instruction {at}: there is no helper {number}; there are {}", self.helpers.len());
        self.helpers.get(number as usize).copied().ok_or_else(missing)
    }
}

/// Addresses of code are this and a slot.
const CODE: u64 = 1 << 62;

/// The slot that an address of code means.
pub(super) fn function(address: u64) -> Option<u32> {
    u32::try_from(address ^ CODE).ok()
}

/// A run of a program. The engines read and write it, and helpers get it.
#[repr(C)]
#[derive(Debug)]
pub struct Context<'a, H> {
    pub(super) state: State,
    /// Where compiled code finds the stack when the program stops.
    pub(super) stack: usize,
    /// What it can address.
    pub memory: &'a mut Memory,
    /// What the host keeps for it.
    pub host: &'a mut H,
    cancelled: Option<&'a AtomicBool>,
}

/// Where a program is, between two instructions. What a call leaves undefined in registers isn't the program's, and may
/// differ between engines: keep it from clients.
#[repr(C)]
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    pub(super) registers: [u64; Register::COUNT],
    /// The slot to go on with.
    pub(super) slot: u64,
    /// What may be taken before it is looked whether somebody cancels.
    pub(super) slice: i64,
    /// What may be taken after that.
    budget: u64,
    pub(super) calls: Calls,
}

/// The calls that are under way besides the outermost function's.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// How many.
    pub depth: u64,
    /// From 1 on, who began each.
    pub callers: [Caller; DEPTH],
}

/// What a caller gets back.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Caller {
    /// r6 to r9.
    pub kept: [u64; 4],
    /// The slot after the call.
    pub back: u64,
}

impl State {
    /// At the beginning, with r1 to r5, and a budget of jumps back.
    pub fn new(arguments: [u64; 5], budget: u64) -> State {
        let mut registers = [0; Register::COUNT];
        registers[1..=5].copy_from_slice(&arguments);
        registers[10] = Memory::OUTERMOST;
        State { registers, slot: 0, slice: 0, budget, calls: Calls::default() }
    }

    /// The instruction that it goes on with.
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

    /// Goes on behind the call that it stopped at, as if that had given `value`.
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
    /// Those that are under way: the others mean nothing.
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
    /// Begins a call that returns to `back`; the caller gets r6 to r9 and r10 back as they are.
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

    /// Returns from a call, if there is one: gives the slot to go on with.
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

    /// A run that stops when somebody sets a flag: at one of the next 16384 jumps back that take from the budget.
    #[inline]
    pub fn cancelled_by(mut self, flag: &'a AtomicBool) -> Context<'a, H> {
        self.cancelled = Some(flag);
        self
    }

    /// Where the program is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where the program is, to change it between runs.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Takes from the budget what a helper's work costs, in jumps back.
    pub fn charge(&mut self, cost: u64) -> Result<(), Stop> {
        let left = self.state.budget().checked_sub(cost).ok_or(Stop::Budget)?;
        self.state.set_budget(left);
        self.refill_or_empty()
    }

    /// The same for work that was done, whether or not the budget has as much; gives what is owed. Who has nothing
    /// left, or was cancelled meanwhile, is stopped at its next jump back.
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

    /// The slice is spent: takes another from the budget.
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
