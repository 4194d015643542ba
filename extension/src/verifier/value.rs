//! Abstract values: what is known of a value in a register or on the stack.

use super::contract::{Contract, Extent, Given, OWN, Region};
use super::number::Number;

/// A set of values. It is kept to 64 bytes, because there are very many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub kind: Kind,
    /// Values in a state with the same tie, if it isn't 0, differ by the difference of their `since`.
    pub tie: u32,
    pub since: i32,
    /// Of a pointer to a region with an end pointer: bytes from here on that are known to exist. May be negative.
    pub reach: i32,
    /// The number itself; of a pointer, the distance from its region's start (in the stack, from r10); of code, the
    /// slot.
    pub number: Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Perhaps never written, so it must not be read.
    Unset,
    /// A number or a pointer, depending on the path, or part of a pointer. It may leak an address.
    Mixed,
    Number,
    /// A pointer to the stack frame at a depth; that of the outermost function is 0.
    Stack(u8),
    Region(Region),
    /// A pointer to a region, or 0.
    RegionOrNull(Region),
    /// The end of a region.
    End(Region),
    /// A table, as the program's constants number it.
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

    /// Any number that 1, 2, 4 or 8 bytes can hold.
    pub fn of_bytes(bytes: usize) -> Value {
        Value::number(ANY_OF_BYTES.get(bytes.ilog2() as usize).copied().unwrap_or(Number::ANY))
    }

    /// The end of a frame: r10.
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

    /// Whether it may leak an address, and so mustn't be used as a number. Addresses in own memory are numbers: they
    /// are the same wherever the program runs, and accesses through numbers are confined to own memory. An address in
    /// the stack must not become a number, because such an access would go to own memory instead.
    pub fn tells_address(&self) -> bool {
        match self.kind {
            Kind::Unset | Kind::Number | Kind::Map | Kind::Code => false,
            Kind::Region(region) | Kind::RegionOrNull(region) => region != OWN,
            Kind::Stack(_) | Kind::End(_) | Kind::Mixed => true,
        }
    }

    /// The join: a set that contains both.
    pub fn join(&self, other: &Value) -> Value {
        self.combine(other, |left, right| left.join(right))
    }

    pub fn widen(&self, grown: &Value, landmarks: &[i64]) -> Value {
        self.combine(grown, |left, right| left.widen(right, landmarks))
    }

    /// A join that ends any sequence of growing sets: whatever changes becomes unknown.
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

    /// Adds a number. A pointer must be known not to be null.
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

    /// Subtracts a number.
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

/// The reach of a pointer after a number was added. It remains true if the addition wraps around, because the distance
/// does too; it is only used of pointers whose distance can't have wrapped.
fn reach_after(reach: i32, distance: Number) -> i32 {
    match i32::try_from(distance.signed_most) {
        Ok(most) if reach != i32::MIN && distance.signed_least > -NEAR && i64::from(most) < NEAR => {
            reach.checked_sub(most).unwrap_or(i32::MIN)
        }
        _ => i32::MIN,
    }
}

/// The bound of distances for which a pointer can't have wrapped around the address space: see [`Contract`].
pub(super) const NEAR: i64 = 1 << 24;

pub(super) fn is_near(distance: Number) -> bool {
    distance.signed_least >= -NEAR && distance.signed_most <= NEAR
}

/// The least size of a region, given what is known of the one with an end pointer.
pub(super) fn least_bytes(contract: &Contract, region: Region, packet: u32) -> u32 {
    match contract.memory(region).extent {
        Extent::Bytes(bytes) => bytes,
        Extent::ToEnd(_) => packet,
    }
}
