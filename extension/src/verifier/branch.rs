//! Conditional jumps: what they say about the values that they compare.

use alloc::format;

use super::analysis::Analysis;
use super::compare;
use super::contract::{Extent, Region};
use super::number::Number;
use super::rejection::{Holds, Rejection};
use super::state::State;
use super::value::{Kind, NEAR, Value, is_near};
use crate::bytecode::{Condition, Operand, Register, Width};

/// The comparison of a conditional jump.
#[derive(Clone, Copy)]
pub(super) struct Comparison {
    pub width: Width,
    pub condition: Condition,
    pub left: Register,
    pub right: Operand,
}

impl Analysis<'_> {
    /// Whether values may be compared, without leaking addresses.
    pub(super) fn compares(&self, at: usize, it: Comparison, state: &State) -> Result<(), Rejection> {
        let left = *self.readable(at, it.left, state)?;
        if let Operand::Register(right) = it.right {
            self.readable(at, right, state)?;
        }
        let right = state.operand(it.right);
        let wide = it.width == Width::W64;
        let harmless = match (left.kind, right.kind) {
            (Kind::Number, Kind::Number) => true,
            _ if !self.is_secret(&left) && !self.is_secret(&right) => true,
            // Whether it is null.
            (kind, Kind::Number) => wide && is_null(&right) && kind != Kind::Mixed && equality(it.condition),
            (Kind::Region(a), Kind::End(b)) | (Kind::End(a), Kind::Region(b)) => wide && a == b,
            _ => {
                wide && self.tells_distance(&left, &right)
                    || wide && left.kind == right.kind && equality(it.condition)
            }
        };
        if harmless {
            return Ok(());
        }
        let (register, value) = match it.right {
            Operand::Register(register) if left.is_number() => (register, right),
            _ => (it.left, left),
        };
        let what = format!(
            "{}, and addresses are secret; compare numbers, pointers to the same memory, or a pointer with 0 or its \
             end",
            Holds(register, &value, self.contract)
        );
        Err(self.refuse(at, what))
    }

    /// Refines a state by a comparison that holds or doesn't. Returns whether that is possible.
    pub(super) fn assume(&self, it: Comparison, holds: bool, state: &mut State) -> bool {
        let (left, right) = (*state.get(it.left), state.operand(it.right));
        if left.is_number() && right.is_number() {
            let refined = compare::assume(it.condition, it.width, holds, left.number, right.number);
            return refined.is_some_and(|(left, right)| {
                state.refine(it.left, left) && refine_operand(state, it.right, right)
            });
        }
        if it.width != Width::W64 {
            return true;
        }
        match (left.kind, right.kind) {
            (_, Kind::Number) if is_null(&right) && equality(it.condition) => {
                let is_null = holds == (it.condition == Condition::Equal);
                self.assume_null(it.left, is_null, state)
            }
            (Kind::Region(a), Kind::End(b)) if a == b => {
                self.assume_before_end(it.left, before_end(it.condition, holds), a, state)
            }
            (Kind::End(a), Kind::Region(b)) if a == b => match it.right {
                Operand::Register(pointer) => {
                    self.assume_before_end(pointer, before_end(turned(it.condition), holds), a, state)
                }
                Operand::Immediate(_) => true,
            },
            _ if self.tells_distance(&left, &right) => assume_distances(it, holds, &left, &right, state),
            _ => true,
        }
    }

    fn assume_null(&self, register: Register, is_null: bool, state: &mut State) -> bool {
        let value = *state.get(register);
        let becomes = |value: &mut Value| match value.kind {
            Kind::RegionOrNull(_) if is_null => *value = Value::number(Number::exactly(0)),
            Kind::RegionOrNull(region) => value.kind = Kind::Region(region),
            _ => {}
        };
        match value.kind {
            Kind::RegionOrNull(_) => {
                let mut changed = value;
                becomes(&mut changed);
                state.set(register, changed);
                state.change_tied(&value, becomes);
                true
            }
            Kind::Region(_) | Kind::Stack(_) => !is_null || !is_near(value.number),
            _ => true,
        }
    }

    /// Notes that a pointer is at least so many bytes before its region's end.
    fn assume_before_end(
        &self,
        register: Register,
        before: Option<i32>,
        region: Region,
        state: &mut State,
    ) -> bool {
        let (Some(before), Extent::ToEnd(most)) = (before, self.contract.memory(region).extent) else {
            return true;
        };
        let value = *state.get(register);
        // A pointer farther away may have wrapped around the address space.
        if value.number.signed_least < 0 || value.number.signed_most > NEAR {
            return true;
        }
        let most = i64::from(most) - i64::from(before);
        if most < value.number.signed_least {
            return false;
        }
        let there = value.number.signed_least as u32 + before as u32;
        state.packet = state.packet.max(there);
        let reach = value.reach.max(before);
        let mut reaching = value;
        reaching.reach = reach;
        state.set(register, reaching);
        state.change_tied(&value, |tied| {
            if let Some(theirs) =
                value.since.checked_sub(tied.since).and_then(|apart| reach.checked_add(apart))
            {
                tied.reach = tied.reach.max(theirs);
            }
        });
        state.refine(register, Number::between_signed(0, most))
    }
}

/// The numbers of two pointers to the same region.
fn assume_distances(it: Comparison, holds: bool, left: &Value, right: &Value, state: &mut State) -> bool {
    let Operand::Register(other) = it.right else { return true };
    let condition = match it.condition {
        condition if equality(condition) => condition,
        _ if !is_near(left.number) || !is_near(right.number) => return true,
        // Near the region, addresses have the order of their distances, which may be negative.
        Condition::Above => Condition::SignedGreater,
        Condition::AboveOrEqual => Condition::SignedGreaterOrEqual,
        Condition::Below => Condition::SignedLess,
        Condition::BelowOrEqual => Condition::SignedLessOrEqual,
        _ => return true,
    };
    compare::assume(condition, Width::W64, holds, left.number, right.number)
        .is_some_and(|(left, right)| state.refine(it.left, left) && state.refine(other, right))
}

fn refine_operand(state: &mut State, operand: Operand, number: Number) -> bool {
    match operand {
        Operand::Register(register) => state.refine(register, number),
        Operand::Immediate(_) => true,
    }
}

fn is_null(value: &Value) -> bool {
    value.is_number() && value.number.constant() == Some(0)
}

fn equality(condition: Condition) -> bool {
    matches!(condition, Condition::Equal | Condition::NotEqual)
}

/// How far before the end a pointer is at least, if `pointer CONDITION end` holds.
fn before_end(condition: Condition, holds: bool) -> Option<i32> {
    match (condition, holds) {
        (Condition::Below, true) | (Condition::AboveOrEqual, false) => Some(1),
        (Condition::BelowOrEqual | Condition::Equal, true)
        | (Condition::Above | Condition::NotEqual, false) => Some(0),
        _ => None,
    }
}

/// The condition with its sides exchanged.
fn turned(condition: Condition) -> Condition {
    match condition {
        Condition::Above => Condition::Below,
        Condition::AboveOrEqual => Condition::BelowOrEqual,
        Condition::Below => Condition::Above,
        Condition::BelowOrEqual => Condition::AboveOrEqual,
        same => same,
    }
}
