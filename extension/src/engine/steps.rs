//! The interpreter's operations, a function each (direct threading). An operation calls the next one itself, which is a
//! jump where the compiler eliminates tail calls. Where it doesn't, the stack grows, but within bounds: jumps back and
//! calls return to the interpreter's loop first, and so does every [`super::prepare::STRAIGHT`]th slot.
//!
//! # Safety of operations
//! A [`Run`] may be called with a *running machine*: `at` points to an operation of `machine.operations`, `r` to the
//! [`FILE`] registers of the run, and `base` is that of the context's memory. Nobody else accesses registers and memory
//! meanwhile. Then every access of a `Run` is valid:
//! * [`super::prepare`] numbers registers below [`FILE`], and makes an operation for each slot of a well-formed
//!   program, so that the next operation and the target of a jump exist; its constant is of the kind that its function
//!   reads;
//! * the addresses that loads and stores compute are proved by the verifier, or by their [`Guarded`].

use core::ptr;

use super::computation::{Compute, Holds};
use super::context::{Context, Function, Helper, Stop, function};
use super::memory::{Memory, Number, read, write};
use crate::bytecode::Atomic;

/// Runs an operation, and some behind it. Returns the one to continue with; null if the program has ended or stopped.
///
/// # Safety
/// It is called with a running machine (see the head of this file).
pub(super) type Run<H> = unsafe fn(At<H>, *mut u64, usize, &mut Machine<H>) -> At<H>;

/// A pointer to an operation.
pub(super) type At<H> = *const Operation<H>;

/// Registers, and a zero behind them.
pub(super) const FILE: usize = 16;

/// A decoded instruction.
pub(super) struct Operation<H> {
    /// Runs it after the operation before it.
    pub run: Run<H>,
    /// Runs it from the interpreter's loop.
    pub enter: Run<H>,
    pub constant: Constant<H>,
    /// Is added to an address, or to the position of a jump.
    pub offset: i32,
    pub a: u8,
    pub b: u8,
}

/// The constant of an operation. Its kind follows from the operation's function.
#[derive(Clone, Copy)]
pub(super) union Constant<H> {
    pub number: u64,
    pub helper: Function<H>,
    pub atomic: Atomic,
}

/// A run of a program.
pub(super) struct Machine<'m, 'c, H> {
    pub context: &'m mut Context<'c, H>,
    pub helpers: &'m [Helper<H>],
    /// The slots of functions whose addresses the program takes, ascending.
    pub taken: &'m [u32],
    /// The operation of each slot.
    pub operations: &'m [Operation<H>],
    /// Bytes of the program's own memory, a power of two.
    pub memory: usize,
    pub result: Result<u64, Stop>,
}

impl<H> Machine<'_, '_, H> {
    fn slot(&self, at: At<H>) -> u64 {
        ((at.addr() - self.operations.as_ptr().addr()) / size_of::<Operation<H>>()) as u64
    }

    /// The operation of a slot.
    ///
    /// # Panics
    /// If there is none.
    pub fn operation(&self, slot: u64) -> At<H> {
        assert!(slot < self.operations.len() as u64, "the state is another program's");
        self.operations.as_ptr().wrapping_add(slot as usize)
    }

    /// Stops the program. It continues with this operation when it is run again.
    #[cold]
    fn stop(&mut self, at: At<H>, stop: Stop) -> At<H> {
        self.context.state.slot = self.slot(at);
        self.result = Err(stop);
        ptr::null()
    }

    fn take_from_budget(&mut self) -> Result<(), Stop> {
        if self.context.state.slice == 0 {
            self.context.refill()?;
        }
        self.context.state.slice -= 1;
        Ok(())
    }
}

/// The second operand of an operation.
pub(super) trait Source {
    /// # Safety
    /// `r` points to the registers of a running machine, and `it` is one of its operations with this kind of operand.
    unsafe fn of<H>(it: &Operation<H>, r: *const u64) -> u64;
}

pub(super) struct Register;
pub(super) struct Immediate;

impl Source for Register {
    #[inline(always)]
    unsafe fn of<H>(it: &Operation<H>, r: *const u64) -> u64 {
        // SAFETY: `b` is below `FILE`.
        unsafe { *r.add(it.b.into()) }
    }
}

impl Source for Immediate {
    #[inline(always)]
    unsafe fn of<H>(it: &Operation<H>, _: *const u64) -> u64 {
        // SAFETY: the constant of such an operation is a number.
        unsafe { it.constant.number }
    }
}

/// The guard of an access.
pub(super) trait Guarded {
    /// The address to access; `None` if the program has to stop.
    fn guard<H>(address: u64, bytes: usize, machine: &Machine<H>) -> Option<u64>;
}

pub(super) struct Proven;
pub(super) struct Confined;
pub(super) struct Checked;

impl Guarded for Proven {
    #[inline(always)]
    fn guard<H>(address: u64, _: usize, _: &Machine<H>) -> Option<u64> {
        Some(address)
    }
}

impl Guarded for Confined {
    #[inline(always)]
    fn guard<H>(address: u64, _: usize, machine: &Machine<H>) -> Option<u64> {
        Some(Memory::BEGIN + (address & (machine.memory as u64 - 1)))
    }
}

impl Guarded for Checked {
    #[inline(always)]
    fn guard<H>(address: u64, bytes: usize, machine: &Machine<H>) -> Option<u64> {
        let (lowest, reach) = Memory::reach(machine.memory);
        (address.wrapping_sub(lowest) <= reach - bytes as u64).then_some(address)
    }
}

/// The kind of a jump.
pub(super) trait Turn {
    const IS_BACK: bool = true;
    const IS_PAID: bool = false;
}

pub(super) struct Forward;
pub(super) struct Back;
pub(super) struct PaidBack;

impl Turn for Forward {
    const IS_BACK: bool = false;
}
impl Turn for Back {}
impl Turn for PaidBack {
    const IS_PAID: bool = true;
}

/// A number that is loaded or stored, and its form in a register.
pub(super) trait Cell: Number {
    fn widened(self) -> u64;
    fn narrowed(number: u64) -> Self;
}

macro_rules! cells {
    ($($type:ty)*) => {
        $(impl Cell for $type {
            #[inline(always)]
            fn widened(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn narrowed(number: u64) -> Self {
                number as Self
            }
        })*
    };
}

cells! { u8 u16 u32 u64 i8 i16 i32 }

/// Defines operations, each a [`Run`]. `$it` is the operation at `$at`.
macro_rules! operations {
    ($(
        $(#[$what:meta])*
        $name:ident<$($parameter:ident: $trait:ident),*>(
            $at:ident, $it:ident, $r:ident, $base:ident, $machine:ident
        ) $body:block
    )*) => {
        $($(#[$what])*
        /// # Safety
        /// As of every [`Run`].
        pub(super) unsafe fn $name<H, $($parameter: $trait),*>(
            $at: At<H>,
            $r: *mut u64,
            $base: usize,
            $machine: &mut Machine<H>,
        ) -> At<H> {
            // SAFETY: the machine is running, so that all accesses are valid: see the head of this file.
            unsafe {
                let $it = &*$at;
                $body
            }
        })*
    };
}

/// Continues with another operation.
macro_rules! go {
    ($at:expr, $r:ident, $base:ident, $machine:ident) => {{
        let at = $at;
        ((*at).run)(at, $r, $base, $machine)
    }};
}

macro_rules! or_stop {
    ($step:expr, $at:ident, $machine:ident) => {
        match $step {
            Ok(value) => value,
            Err(stop) => return $machine.stop($at, stop),
        }
    };
}

operations! {
    /// Returns to the interpreter's loop.
    pause<>(at, _it, _r, _base, _machine) {
        at
    }

    compute<C: Compute, S: Source>(at, it, r, base, machine) {
        let to = r.add(it.a.into());
        *to = C::compute(*to, S::of(it, r));
        go!(at.add(1), r, base, machine)
    }

    /// Takes two slots.
    constant<>(at, it, r, base, machine) {
        *r.add(it.a.into()) = it.constant.number;
        go!(at.add(2), r, base, machine)
    }

    load<T: Cell, G: Guarded>(at, it, r, base, machine) {
        let address = (*r.add(it.b.into())).wrapping_add(it.offset as u64);
        let Some(address) = G::guard(address, size_of::<T>(), machine) else {
            return machine.stop(at, Stop::Access);
        };
        *r.add(it.a.into()) = read::<T>(base, address).widened();
        go!(at.add(1), r, base, machine)
    }

    store<T: Cell, S: Source, G: Guarded>(at, it, r, base, machine) {
        let address = (*r.add(it.a.into())).wrapping_add(it.offset as u64);
        let Some(address) = G::guard(address, size_of::<T>(), machine) else {
            return machine.stop(at, Stop::Access);
        };
        write(base, address, T::narrowed(S::of(it, r)));
        go!(at.add(1), r, base, machine)
    }

    atomic<T: Cell, G: Guarded>(at, it, r, base, machine) {
        let address = (*r.add(it.a.into())).wrapping_add(it.offset as u64);
        let Some(address) = G::guard(address, size_of::<T>(), machine) else {
            return machine.stop(at, Stop::Access);
        };
        let old = read::<T>(base, address).widened();
        let new = after(it.constant.atomic, old, T::narrowed(*r).widened(), *r.add(it.b.into()));
        write(base, address, T::narrowed(new));
        match it.constant.atomic {
            Atomic::Add | Atomic::Or | Atomic::And | Atomic::Xor => {}
            Atomic::CompareExchange => *r = old,
            _ => *r.add(it.b.into()) = old,
        }
        go!(at.add(1), r, base, machine)
    }

    jump<T: Turn>(at, it, r, base, machine) {
        if T::IS_PAID {
            or_stop!(machine.take_from_budget(), at, machine);
        }
        let to = at.offset(it.offset as isize);
        if T::IS_BACK {
            return to;
        }
        go!(to, r, base, machine)
    }

    jump_if<C: Holds, S: Source, T: Turn>(at, it, r, base, machine) {
        if T::IS_PAID {
            or_stop!(machine.take_from_budget(), at, machine);
        }
        if C::holds(*r.add(it.a.into()), S::of(it, r)) {
            let to = at.offset(it.offset as isize);
            if T::IS_BACK {
                return to;
            }
            return go!(to, r, base, machine);
        }
        go!(at.add(1), r, base, machine)
    }

    call_helper<>(at, it, r, base, machine) {
        let [a, b, c, d, e] = *r.add(1).cast::<[u64; 5]>();
        let answer = (it.constant.helper)(machine.context, a, b, c, d, e);
        *r = or_stop!(answer.into(), at, machine);
        go!(at.add(1), r, base, machine)
    }

    /// Takes from the budget, unless the verifier has proved that it needn't.
    call_local<T: Turn>(at, it, r, _base, machine) {
        if T::IS_PAID {
            or_stop!(machine.take_from_budget(), at, machine);
        }
        let back = machine.slot(at) + 1;
        let registers = &mut *r.cast::<[u64; FILE]>();
        or_stop!(machine.context.state.calls.enter(registers, back), at, machine);
        at.offset(it.offset as isize)
    }

    call_register<T: Turn>(at, it, r, _base, machine) {
        if T::IS_PAID {
            or_stop!(machine.take_from_budget(), at, machine);
        }
        let registers = &mut *r.cast::<[u64; FILE]>();
        let target = registers[usize::from(it.b)];
        match function(target).filter(|slot| machine.taken.binary_search(slot).is_ok()) {
            Some(slot) => {
                let back = machine.slot(at) + 1;
                or_stop!(machine.context.state.calls.enter(registers, back), at, machine);
                machine.operation(slot.into())
            }
            None => {
                let helper = usize::try_from(target).ok().and_then(|number| machine.helpers.get(number));
                let helper = or_stop!(helper.ok_or(Stop::Callee), at, machine);
                let [_, a, b, c, d, e, ..] = *registers;
                *r = or_stop!((helper.function)(machine.context, a, b, c, d, e).into(), at, machine);
                at.add(1)
            }
        }
    }

    exit<>(at, _it, r, _base, machine) {
        let registers = &mut *r.cast::<[u64; FILE]>();
        match machine.context.state.calls.leave(registers) {
            Some(slot) => machine.operation(slot),
            None => {
                machine.context.state.slot = machine.slot(at);
                machine.result = Ok(*r);
                ptr::null()
            }
        }
    }
}

/// The value that an atomic operation leaves in memory. Nobody else accesses that meanwhile, so it needn't be atomic.
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
