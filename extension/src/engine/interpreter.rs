//! Runs programs step by step. A program is made into [`Operation`]s once; each is then done by one arm of
//! [`Interpreter::steps`].
//!
//! `unsafe` here: memory is read and written at addresses that the program computes. That is sound because the verifier proved
//! them, or put a guard before them; who makes an [`Interpreter`] of a proved program promises that it runs as was proved.

use alloc::{string::String, vec::Vec};
use core::hint::black_box;

use super::context::{Context, Helper, Platform, Stop, function};
use super::memory::{Memory, read, write};
use super::operation::{Code, FILE, Operations};
use crate::Verified;
use crate::bytecode::{Atomic, Program, Register};

/// A program that can be run.
pub struct Interpreter<H> {
    program: Operations,
    helpers: Vec<Helper<H>>,
    /// Where functions begin whose addresses the program takes, in order.
    taken: Vec<u32>,
    memory: usize,
}

impl<H> Interpreter<H> {
    /// Prepares a program. It fails if the platform lacks what the program refers to.
    ///
    /// # Safety
    /// What the verifier was told holds of the platform (how much memory there is, what helpers give and do, where values lie),
    /// and of each context that it runs with: its state is new, with such arguments, or this program stopped in it.
    pub unsafe fn new(verified: &Verified, platform: Platform<H>) -> Result<Self, String> {
        Ok(Interpreter {
            program: Operations::new(verified, platform)?,
            helpers: platform.helpers.to_vec(),
            taken: verified.program().taken(),
            memory: platform.memory,
        })
    }

    /// Prepares a program of which nothing is proved: everything is checked while it runs.
    pub fn unproven(program: Program, platform: Platform<H>) -> Result<Self, String> {
        // SAFETY: the verifier was told nothing.
        unsafe { Self::new(&Verified::unproven(program), platform) }
    }

    /// Runs from the context's state on to the end: gives r0. Or until the program stops: it can be run again then.
    ///
    /// # Panics
    /// If the context's memory isn't as large as the platform said, or its state isn't this program's.
    pub fn run(&self, context: &mut Context<H>) -> Result<u64, Stop> {
        assert_eq!(context.memory.size(), self.memory, "the program was prepared for memory of another size");
        let mut next = self.program.begins[context.state.slot()] as usize;
        let mut registers = [0; FILE];
        registers[..Register::COUNT].copy_from_slice(&context.state.registers);
        let result = self.steps(context, &mut registers, &mut next);
        context.state.registers.copy_from_slice(&registers[..Register::COUNT]);
        // It points behind what it stopped at.
        context.state.slot = self.program.slots[next - 1].into();
        result
    }

    fn steps(&self, context: &mut Context<H>, r: &mut [u64; FILE], at: &mut usize) -> Result<u64, Stop> {
        // In a variable of its own it stays in a register.
        let mut next = *at;
        let base = context.memory.base();
        let mask = self.memory as u64 - 1;
        let (lowest, reach) = Memory::reach(self.memory);
        let result = loop {
            let it = self.program.operations[next];
            next += 1;
            let a = it.a as usize % FILE;
            let b = r[it.b as usize % FILE].wrapping_add(it.constant);
            macro_rules! set {
                ($type:ty, $compute:expr) => {{
                    let compute: fn($type, $type) -> $type = $compute;
                    r[a] = compute(r[a] as $type, b as $type).into()
                }};
            }
            macro_rules! jump {
                ($type:ty, $holds:expr) => {{
                    let holds: fn($type, $type) -> bool = $holds;
                    if holds(r[a] as $type, b as $type) {
                        // Else this becomes a conditional move, which waits for what a branch predicts.
                        black_box(());
                        next = it.offset as usize
                    }
                }};
            }
            macro_rules! or_stop {
                ($step:expr) => {{
                    match $step {
                        Ok(value) => value,
                        Err(stop) => break Err(stop),
                    }
                }};
            }
            macro_rules! load {
                // SAFETY: see the module.
                ($type:ty) => {{ unsafe { read::<$type>(base, b) } }};
            }
            macro_rules! store {
                // SAFETY: see the module.
                ($type:ty) => {{ unsafe { write(base, r[a].wrapping_add(it.offset as u64), b as $type) } }};
            }
            match it.code {
                Code::Add64 => set!(u64, |a, b| a.wrapping_add(b)),
                Code::Sub64 => set!(u64, |a, b| a.wrapping_sub(b)),
                Code::Mul64 => set!(u64, |a, b| a.wrapping_mul(b)),
                Code::Div64 => set!(u64, |a, b| a.checked_div(b).unwrap_or(0)),
                Code::SignedDiv64 => {
                    set!(u64, |a, b| if b == 0 { 0 } else { (a as i64).wrapping_div(b as i64) as u64 })
                }
                Code::Mod64 => set!(u64, |a, b| a.checked_rem(b).unwrap_or(a)),
                Code::SignedMod64 => {
                    set!(u64, |a, b| if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 })
                }
                Code::Or64 => set!(u64, |a, b| a | b),
                Code::And64 => set!(u64, |a, b| a & b),
                Code::Xor64 => set!(u64, |a, b| a ^ b),
                Code::ShiftLeft64 => set!(u64, |a, b| a.wrapping_shl(b as u32)),
                Code::ShiftRight64 => set!(u64, |a, b| a.wrapping_shr(b as u32)),
                Code::ShiftRightSigned64 => set!(u64, |a, b| (a as i64).wrapping_shr(b as u32) as u64),
                Code::Mov64 => set!(u64, |_, b| b),
                Code::IfEqual64 => jump!(u64, |a, b| a == b),
                Code::IfNotEqual64 => jump!(u64, |a, b| a != b),
                Code::IfAnyBit64 => jump!(u64, |a, b| a & b != 0),
                Code::IfAbove64 => jump!(u64, |a, b| a > b),
                Code::IfAboveOrEqual64 => jump!(u64, |a, b| a >= b),
                Code::IfBelow64 => jump!(u64, |a, b| a < b),
                Code::IfBelowOrEqual64 => jump!(u64, |a, b| a <= b),
                Code::IfSignedGreater64 => jump!(i64, |a, b| a > b),
                Code::IfSignedGreaterOrEqual64 => jump!(i64, |a, b| a >= b),
                Code::IfSignedLess64 => jump!(i64, |a, b| a < b),
                Code::IfSignedLessOrEqual64 => jump!(i64, |a, b| a <= b),
                Code::Add32 => set!(u32, |a, b| a.wrapping_add(b)),
                Code::Sub32 => set!(u32, |a, b| a.wrapping_sub(b)),
                Code::Mul32 => set!(u32, |a, b| a.wrapping_mul(b)),
                Code::Div32 => set!(u32, |a, b| a.checked_div(b).unwrap_or(0)),
                Code::SignedDiv32 => {
                    set!(u32, |a, b| if b == 0 { 0 } else { (a as i32).wrapping_div(b as i32) as u32 })
                }
                Code::Mod32 => set!(u32, |a, b| a.checked_rem(b).unwrap_or(a)),
                Code::SignedMod32 => {
                    set!(u32, |a, b| if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 })
                }
                Code::Or32 => set!(u32, |a, b| a | b),
                Code::And32 => set!(u32, |a, b| a & b),
                Code::Xor32 => set!(u32, |a, b| a ^ b),
                Code::ShiftLeft32 => set!(u32, |a, b| a.wrapping_shl(b)),
                Code::ShiftRight32 => set!(u32, |a, b| a.wrapping_shr(b)),
                Code::ShiftRightSigned32 => set!(u32, |a, b| (a as i32).wrapping_shr(b) as u32),
                Code::Mov32 => set!(u32, |_, b| b),
                Code::IfEqual32 => jump!(u32, |a, b| a == b),
                Code::IfNotEqual32 => jump!(u32, |a, b| a != b),
                Code::IfAnyBit32 => jump!(u32, |a, b| a & b != 0),
                Code::IfAbove32 => jump!(u32, |a, b| a > b),
                Code::IfAboveOrEqual32 => jump!(u32, |a, b| a >= b),
                Code::IfBelow32 => jump!(u32, |a, b| a < b),
                Code::IfBelowOrEqual32 => jump!(u32, |a, b| a <= b),
                Code::IfSignedGreater32 => jump!(i32, |a, b| a > b),
                Code::IfSignedGreaterOrEqual32 => jump!(i32, |a, b| a >= b),
                Code::IfSignedLess32 => jump!(i32, |a, b| a < b),
                Code::IfSignedLessOrEqual32 => jump!(i32, |a, b| a <= b),
                Code::Jump => next = it.offset as usize,
                Code::Extend8To64 => r[a] = b as i8 as u64,
                Code::Extend16To64 => r[a] = b as i16 as u64,
                Code::Extend32To64 => r[a] = b as i32 as u64,
                Code::Extend8To32 => r[a] = b as i8 as u32 as u64,
                Code::Extend16To32 => r[a] = b as i16 as u32 as u64,
                Code::Swap16 => r[a] = (b as u16).swap_bytes().into(),
                Code::Swap32 => r[a] = (b as u32).swap_bytes().into(),
                Code::Swap64 => r[a] = b.swap_bytes(),
                Code::Load8 => r[a] = load!(u8).into(),
                Code::Load16 => r[a] = load!(u16).into(),
                Code::Load32 => r[a] = load!(u32).into(),
                Code::Load64 => r[a] = load!(u64),
                Code::LoadSigned8 => r[a] = load!(u8) as i8 as u64,
                Code::LoadSigned16 => r[a] = load!(u16) as i16 as u64,
                Code::LoadSigned32 => r[a] = load!(u32) as i32 as u64,
                Code::Store8 => store!(u8),
                Code::Store16 => store!(u16),
                Code::Store32 => store!(u32),
                Code::Store64 => store!(u64),
                Code::Atomic64(operation) => {
                    let address = r[a].wrapping_add(it.offset as u64);
                    // SAFETY: see the module.
                    let old = unsafe { read::<u64>(base, address) };
                    // SAFETY: see the module.
                    unsafe { write(base, address, after(operation, old, r[0], b)) };
                    fetch(r, operation, it.b, old);
                }
                Code::Atomic32(operation) => {
                    let address = r[a].wrapping_add(it.offset as u64);
                    // SAFETY: see the module.
                    let old = unsafe { read::<u32>(base, address) }.into();
                    // SAFETY: see the module.
                    unsafe { write(base, address, after(operation, old, r[0] as u32 as u64, b) as u32) };
                    fetch(r, operation, it.b, old);
                }
                Code::Budget => {
                    if context.state.slice == 0 {
                        or_stop!(context.refill());
                    }
                    context.state.slice -= 1;
                }
                Code::Confine => r[a] = Memory::BEGIN + (b & mask),
                Code::Check => {
                    if b.wrapping_sub(lowest) > reach - it.offset as u64 {
                        break Err(Stop::Access);
                    }
                }
                Code::CallHelper => r[0] = or_stop!(self.call(context, r, b)),
                Code::CallLocal => {
                    or_stop!(context.state.calls.enter(r, it.constant));
                    next = self.program.begins[it.offset as usize] as usize;
                }
                Code::CallRegister => match function(b) {
                    Some(slot) if self.taken.binary_search(&slot).is_ok() => {
                        or_stop!(context.state.calls.enter(r, it.offset as u64));
                        next = self.program.begins[slot as usize] as usize;
                    }
                    _ => r[0] = or_stop!(self.call(context, r, b)),
                },
                Code::Exit => match context.state.calls.leave(r) {
                    Some(slot) => next = self.program.begins[slot as usize] as usize,
                    None => break Ok(r[0]),
                },
            }
        };
        *at = next;
        result
    }

    fn call(&self, context: &mut Context<H>, r: &[u64; FILE], number: u64) -> Result<u64, Stop> {
        let helper =
            usize::try_from(number).ok().and_then(|number| self.helpers.get(number)).ok_or(Stop::Callee)?;
        (helper.function)(context, r[1], r[2], r[3], r[4], r[5]).into()
    }
}

/// What an atomic operation leaves in memory. Nobody else has the program's memory while it runs, so there is no more to it.
fn after(operation: Atomic, old: u64, expected: u64, operand: u64) -> u64 {
    match operation {
        Atomic::Add | Atomic::FetchAdd => old.wrapping_add(operand),
        Atomic::Or | Atomic::FetchOr => old | operand,
        Atomic::And | Atomic::FetchAnd => old & operand,
        Atomic::Xor | Atomic::FetchXor => old ^ operand,
        Atomic::CompareExchange if old != expected => old,
        Atomic::Exchange | Atomic::CompareExchange => operand,
    }
}

/// And what in a register.
fn fetch(r: &mut [u64; FILE], operation: Atomic, source: u8, old: u64) {
    match operation {
        Atomic::Add | Atomic::Or | Atomic::And | Atomic::Xor => {}
        Atomic::CompareExchange => r[0] = old,
        _ => r[source as usize % FILE] = old,
    }
}
