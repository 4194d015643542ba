//! Known bits of a number (Linux's "tristate numbers").

use core::ops::{Add, BitAnd, BitOr, BitXor, Sub};

/// A set of numbers: those that agree with `value` in all bits that aren't in `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    /// 0 where unknown.
    pub value: u64,
    pub unknown: u64,
}

impl Bits {
    pub const ANY: Bits = Bits { value: 0, unknown: u64::MAX };

    pub fn exactly(value: u64) -> Bits {
        Bits { value, unknown: 0 }
    }

    /// The known bits of a range: those above the highest in which its bounds differ.
    pub fn between(least: u64, most: u64) -> Bits {
        let differing = least ^ most;
        let unknown = u64::MAX.checked_shr(differing.leading_zeros()).unwrap_or(0);
        Bits { value: least & !unknown, unknown }
    }

    pub fn contains(self, number: u64) -> bool {
        (number ^ self.value) & !self.unknown == 0
    }

    /// The intersection, unless it is empty.
    pub fn meet(self, other: Bits) -> Option<Bits> {
        let both_known = !self.unknown & !other.unknown;
        let unknown = self.unknown & other.unknown;
        ((self.value ^ other.value) & both_known == 0)
            .then_some(Bits { value: (self.value | other.value) & !unknown, unknown })
    }

    /// The join: a set that contains both.
    pub fn join(self, other: Bits) -> Bits {
        let unknown = self.unknown | other.unknown | self.value ^ other.value;
        Bits { value: self.value & !unknown, unknown }
    }

    /// The low bits, extended with zeros.
    pub fn low(self, bits: u32) -> Bits {
        let mask = u64::MAX >> (64 - bits);
        Bits { value: self.value & mask, unknown: self.unknown & mask }
    }

    pub fn left(self, by: u32) -> Bits {
        Bits { value: self.value << by, unknown: self.unknown << by }
    }

    pub fn right(self, by: u32) -> Bits {
        Bits { value: self.value >> by, unknown: self.unknown >> by }
    }

    /// The low bits, extended with the highest one, known or not.
    pub fn right_signed(self, by: u32) -> Bits {
        let shift = |bits: u64| (bits as i64 >> by) as u64;
        Bits { value: shift(self.value), unknown: shift(self.unknown) }
    }

    /// Multiplies bit by bit: if a bit of `self` is 1, `other` is added; if it is unknown, it may be added.
    pub fn multiplied(mut self, mut other: Bits) -> Bits {
        let known = self.value.wrapping_mul(other.value);
        let mut sum = Bits::exactly(0);
        while self.value | self.unknown != 0 {
            if self.value & 1 != 0 {
                sum = sum + Bits { value: 0, unknown: other.unknown };
            } else if self.unknown & 1 != 0 {
                sum = sum + Bits { value: 0, unknown: other.value | other.unknown };
            }
            self = self.right(1);
            other = other.left(1);
        }
        Bits::exactly(known) + sum
    }
}

impl Add for Bits {
    type Output = Bits;

    /// A bit of a sum is known if no carry into it depends on unknown bits.
    fn add(self, other: Bits) -> Bits {
        let least = self.value.wrapping_add(other.value);
        let most = least.wrapping_add(self.unknown).wrapping_add(other.unknown);
        // The second sum may have wrapped, but bit by bit it differs from the first where a carry may.
        let unknown = least ^ most | self.unknown | other.unknown;
        Bits { value: least & !unknown, unknown }
    }
}

impl Sub for Bits {
    type Output = Bits;

    fn sub(self, other: Bits) -> Bits {
        let difference = self.value.wrapping_sub(other.value);
        let most = difference.wrapping_add(self.unknown);
        let least = difference.wrapping_sub(other.unknown);
        let unknown = most ^ least | self.unknown | other.unknown;
        Bits { value: difference & !unknown, unknown }
    }
}

impl BitAnd for Bits {
    type Output = Bits;

    fn bitand(self, other: Bits) -> Bits {
        let value = self.value & other.value;
        let may_be_one = (self.value | self.unknown) & (other.value | other.unknown);
        Bits { value, unknown: may_be_one & !value }
    }
}

impl BitOr for Bits {
    type Output = Bits;

    fn bitor(self, other: Bits) -> Bits {
        let value = self.value | other.value;
        Bits { value, unknown: (self.unknown | other.unknown) & !value }
    }
}

impl BitXor for Bits {
    type Output = Bits;

    fn bitxor(self, other: Bits) -> Bits {
        let unknown = self.unknown | other.unknown;
        Bits { value: (self.value ^ other.value) & !unknown, unknown }
    }
}
