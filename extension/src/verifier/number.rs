//! Abstract numbers: an unsigned range, a signed range, and known bits. Each can express something that the others
//! can't.

use super::bits::Bits;

/// A set of 64-bit numbers: those in both ranges (bounds included) that have the known bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub least: u64,
    pub most: u64,
    pub signed_least: i64,
    pub signed_most: i64,
    pub bits: Bits,
}

impl Number {
    pub const ANY: Number =
        Number { least: 0, most: u64::MAX, signed_least: i64::MIN, signed_most: i64::MAX, bits: Bits::ANY };

    pub fn exactly(value: u64) -> Number {
        Number {
            least: value,
            most: value,
            signed_least: value as i64,
            signed_most: value as i64,
            bits: Bits::exactly(value),
        }
    }

    pub fn between(least: u64, most: u64) -> Number {
        Number { least, most, ..Number::ANY }.settled()
    }

    pub fn between_signed(signed_least: i64, signed_most: i64) -> Number {
        Number { signed_least, signed_most, ..Number::ANY }.settled()
    }

    pub fn of_bits(bits: Bits) -> Number {
        Number { bits, ..Number::ANY }.settled()
    }

    /// The only number that it can be.
    pub fn constant(self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }

    pub fn contains(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number)
            && (self.signed_least..=self.signed_most).contains(&(number as i64))
            && self.bits.contains(number)
    }

    /// The intersection, unless it is empty.
    pub fn meet(self, other: Number) -> Option<Number> {
        Number {
            least: self.least.max(other.least),
            most: self.most.min(other.most),
            signed_least: self.signed_least.max(other.signed_least),
            signed_most: self.signed_most.min(other.signed_most),
            bits: self.bits.meet(other.bits)?,
        }
        .reconciled()
    }

    /// The join: a set that contains both.
    pub fn join(self, other: Number) -> Number {
        Number {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            signed_least: self.signed_least.min(other.signed_least),
            signed_most: self.signed_most.max(other.signed_most),
            bits: self.bits.join(other.bits),
        }
    }

    /// Widening: a set that contains both, and can grow only a few times. A bound that moves goes to the next landmark,
    /// or to the extreme. Landmarks are signed numbers in ascending order.
    pub fn widen(self, grown: Number, landmarks: &[i64]) -> Number {
        let up = |from: i64| landmarks.iter().copied().find(|&mark| mark >= from);
        let down = |from: i64| landmarks.iter().rev().copied().find(|&mark| mark <= from);
        let joined = self.join(grown);
        let mut wide = joined;
        if joined.signed_most > self.signed_most {
            wide.signed_most = up(joined.signed_most).unwrap_or(i64::MAX);
        }
        if joined.signed_least < self.signed_least {
            wide.signed_least = down(joined.signed_least).unwrap_or(i64::MIN);
        }
        if joined.most > self.most {
            wide.most = i64::try_from(joined.most).ok().and_then(up).map_or(u64::MAX, |mark| mark as u64);
        }
        if joined.least < self.least {
            let mark = i64::try_from(joined.least).ok().and_then(down).filter(|&mark| mark >= 0);
            wide.least = mark.map_or(0, |mark| mark as u64);
        }
        if joined.bits != self.bits {
            // The known low bits (alignment) are kept.
            let unknown = u64::MAX << joined.bits.unknown.trailing_zeros();
            wide.bits = Bits { value: joined.bits.value & !unknown, unknown };
        }
        wide.settled()
    }

    /// Tightens each of the three by the others; `None` if they contradict each other.
    pub fn reconciled(mut self) -> Option<Number> {
        let sign = 1 << 63;
        let bits = self.bits;
        self.least = self.least.max(bits.value);
        self.most = self.most.min(bits.value | bits.unknown);
        self.signed_least = self.signed_least.max((bits.value | bits.unknown & sign) as i64);
        self.signed_most = self.signed_most.min((bits.value | bits.unknown & !sign) as i64);
        // Numbers of the same sign have the same order, signed and unsigned.
        if self.signed_least >= 0 || self.signed_most < 0 {
            self.least = self.least.max(self.signed_least as u64);
            self.most = self.most.min(self.signed_most as u64);
        }
        if (self.least ^ self.most) & sign == 0 {
            self.signed_least = self.signed_least.max(self.least as i64);
            self.signed_most = self.signed_most.min(self.most as i64);
        }
        if self.least > self.most || self.signed_least > self.signed_most {
            return None;
        }
        self.bits = self.bits.meet(Bits::between(self.least, self.most))?;
        Some(self)
    }

    /// The same for a result. If the set is empty, the code is unreachable, and any set will do: emptiness isn't always
    /// detected at once.
    pub fn settled(self) -> Number {
        self.reconciled().unwrap_or(Number::ANY)
    }

    /// The low bits (fewer than 64), extended with zeros.
    pub fn low(self, bits: u32) -> Number {
        let mask = (1 << bits) - 1;
        if self.most <= mask {
            return self;
        }
        let known = self.bits.low(bits);
        // All numbers of the range have the same upper part.
        if self.least >> bits == self.most >> bits {
            let (least, most) = (self.least & mask, self.most & mask);
            return Number { least, most, bits: known, ..Number::ANY }.settled();
        }
        // The range includes 0, around which only the upper part changes.
        Number { most: mask, bits: known, ..Number::ANY }.settled()
    }

    /// The low bits (fewer than 64), extended with their sign.
    pub fn low_signed(self, bits: u32) -> Number {
        let half = 1i64 << (bits - 1);
        if self.signed_least >= -half && self.signed_most < half {
            return self;
        }
        let low = self.low(bits);
        let shift = 64 - bits;
        let known = low.bits.left(shift).right_signed(shift);
        let (signed_least, signed_most) = if low.most < half as u64 {
            (low.least as i64, low.most as i64)
        } else if low.least >= half as u64 {
            (low.least as i64 - 2 * half, low.most as i64 - 2 * half)
        } else {
            (-half, half - 1)
        };
        Number { signed_least, signed_most, bits: known, ..Number::ANY }.settled()
    }
}
