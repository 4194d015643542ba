//! What is known of a value in a register or on the stack.

use super::contract::{Contract, Extent, Given, OWN, Region};
use super::number::Number;

/// A set of values. 64 bytes, because there are very many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub kind: Kind,
    /// Values in a state that have the same tie, not 0, differ by the difference of their `since`.
    pub tie: u32,
    pub since: i32,
    /// Bytes from here on that are known to be there, of a pointer to a region that goes to an end. May be negative.
    pub reach: i32,
    /// The number itself; of pointers, the distance from where their region begins (the stack's is r10's place); of
    /// code, the slot.
    pub number: Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Perhaps never written: must not be read.
    Unset,
    /// A number or a pointer, depending on the way; or part of a pointer. It may tell an address.
    Mixed,
    Number,
    /// To the stack frame of a function, the outermost one's being 0.
    Stack(u8),
    Region(Region),
    /// The same, or 0.
    RegionOrNull(Region),
    /// Where a region ends.
    End(Region),
    /// A table, by its number.
    Map,
    /// A function.
    Code,
}

const ANY_OF_BYTES: [Number; 3] = [upto(0xff), upto(0xffff), upto(0xffff_ffff)];

const fn upto(most: u64) -> Number {
    Number {
        least: 0,
        most,
        signed_least: 0,
        signed_most: most as i64,
        bits: super::bits::Bits { value: 0, unknown: most },
    }
}

impl Value {
    pub const UNSET: Value = Value::new(Kind::Unset, Number::ANY);
    pub const MIXED: Value = Value::new(Kind::Mixed, Number::ANY);
    pub const ANY_NUMBER: Value = Value::new(Kind::Number, Number::ANY);

    pub const fn new(kind: Kind, number: Number) -> Value {
        Value { kind, tie: 0, since: 0, reach: i32::MIN, number }
    }

    pub fn number(number: Number) -> Value {
        Value::new(Kind::Number, number)
    }

    /// What so many bytes of memory may hold: 1, 2, 4 or 8.
    pub fn of_bytes(bytes: usize) -> Value {
        Value::number(ANY_OF_BYTES.get(bytes.ilog2() as usize).copied().unwrap_or(Number::ANY))
    }

    /// Where a frame ends: r10.
    pub fn frame(depth: usize) -> Value {
        Value::new(Kind::Stack(depth as u8), Number::exactly(0))
    }

    pub fn given(given: Given, table: Option<Region>) -> Value {
        let kind = match given {
            Given::Nothing => return Value::UNSET,
            Given::Number(least, most) => return Value::number(Number::between(least, most)),
            Given::Pointer(region) => Kind::Region(region),
            Given::PointerOrNull(region) => Kind::RegionOrNull(region),
            Given::End(region) => return Value::new(Kind::End(region), Number::ANY),
            Given::ValueOrNull => match table {
                Some(region) => Kind::RegionOrNull(region),
                None => return Value::UNSET,
            },
        };
        Value::new(kind, Number::exactly(0))
    }

    pub fn is_number(&self) -> bool {
        self.kind == Kind::Number
    }

    /// Whether it may tell an address that is no number. One in own memory is: it is the same wherever the program
    /// runs, and what is accessed through a number is confined to there. So one in the stack mustn't become a number:
    /// it would lead to own memory instead.
    pub fn tells_address(&self) -> bool {
        match self.kind {
            Kind::Unset | Kind::Number | Kind::Map | Kind::Code => false,
            Kind::Region(region) | Kind::RegionOrNull(region) => region != OWN,
            Kind::Stack(_) | Kind::End(_) | Kind::Mixed => true,
        }
    }

    /// What contains both.
    pub fn join(&self, other: &Value) -> Value {
        self.combine(other, |left, right| left.join(right))
    }

    pub fn widen(&self, grown: &Value, landmarks: &[i64]) -> Value {
        self.combine(grown, |left, right| left.widen(right, landmarks))
    }

    /// What contains both, however often this one grows: all that changes is given up.
    pub fn give_up(&self, grown: &Value) -> Value {
        let mut given_up = self.combine(grown, |left, right| if left == right { left } else { Number::ANY });
        if given_up != *self {
            given_up.number = Number::ANY;
            (given_up.tie, given_up.since, given_up.reach) = (0, 0, i32::MIN);
        }
        given_up
    }

    fn combine(&self, other: &Value, numbers: impl Fn(Number, Number) -> Number) -> Value {
        if self == other {
            return *self;
        }
        let null = |value: &Value| value.is_number() && value.number.constant() == Some(0);
        let (kind, number) = match (self.kind, other.kind) {
            (Kind::Unset, _) | (_, Kind::Unset) => return Value::UNSET,
            (kind, same) if kind == same => (kind, numbers(self.number, other.number)),
            (Kind::Region(a) | Kind::RegionOrNull(a), Kind::Region(b) | Kind::RegionOrNull(b)) if a == b => {
                (Kind::RegionOrNull(a), numbers(self.number, other.number))
            }
            (Kind::Region(region) | Kind::RegionOrNull(region), _) if null(other) => {
                (Kind::RegionOrNull(region), self.number)
            }
            (_, Kind::Region(region) | Kind::RegionOrNull(region)) if null(self) => {
                (Kind::RegionOrNull(region), other.number)
            }
            _ if !self.tells_address() && !other.tells_address() => return Value::ANY_NUMBER,
            _ => return Value::MIXED,
        };
        let tied = (self.tie, self.since, self.kind) == (other.tie, other.since, other.kind);
        let (tie, since) = if tied { (self.tie, self.since) } else { (0, 0) };
        Value { kind, tie, since, reach: self.reach.min(other.reach), number }
    }

    /// So many bytes on, or numbers up. Only what is known not to be null.
    pub fn plus(&self, distance: Number) -> Value {
        let mut sum = Value { number: self.number + distance, ..*self };
        let constant = distance.constant().and_then(|distance| i32::try_from(distance as i64).ok());
        match constant.and_then(|constant| Some((constant, self.since.checked_add(constant)?))) {
            Some((_, since)) if self.tie != 0 => sum.since = since,
            _ => (sum.tie, sum.since) = (0, 0),
        }
        sum.reach = reach_after(self.reach, distance);
        sum
    }

    /// So many bytes back, or numbers down.
    pub fn minus(&self, distance: Number) -> Value {
        match distance.constant() {
            Some(constant) => self.plus(Number::exactly(constant.wrapping_neg())),
            None => {
                let number = self.number - distance;
                Value { number, ..self.plus(Number::exactly(0) - distance) }
            }
        }
    }
}

/// What is left of a reach after a step. It stays true if the step wraps around, because the distance that it is true
/// of does too; so only distances that can't are looked at.
fn reach_after(reach: i32, distance: Number) -> i32 {
    match i32::try_from(distance.signed_most) {
        Ok(most) if reach != i32::MIN && distance.signed_least > -NEAR && i64::from(most) < NEAR => {
            reach.checked_sub(most).unwrap_or(i32::MIN)
        }
        _ => i32::MIN,
    }
}

/// Distances within which a pointer can't have wrapped around the address space: see [`Contract`].
pub(super) const NEAR: i64 = 1 << 24;

pub(super) fn is_near(distance: Number) -> bool {
    distance.signed_least >= -NEAR && distance.signed_most <= NEAR
}

/// How many bytes a region has at least, given what is known of the one that goes to an end.
pub(super) fn least_bytes(contract: &Contract, region: Region, packet: u32) -> u32 {
    match contract.memory(region).extent {
        Extent::Bytes(bytes) => bytes,
        Extent::ToEnd(_) => packet,
    }
}
