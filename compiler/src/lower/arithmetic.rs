//! Arithmetic that takes several instructions: the steps of FOR loops, and conversions.

use drystone_runtime::layout::Fault;

use super::builder::Builder;
use crate::mir::{Inst, LocationId, Op, Reg, RegType, Unary};

impl Builder {
    pub(super) fn not_past(&mut self, value: Reg, last: Reg, step: Reg, constant: Option<i64>) -> Reg {
        match constant {
            Some(step) if step > 0 => self.op(Op::LessEqual, value, last),
            Some(_) => self.op(Op::GreaterEqual, value, last),
            None => {
                let zero = self.int(0);
                let up = self.op(Op::Greater, step, zero);
                let low = self.op(Op::LessEqual, value, last);
                let down = self.op(Op::Equal, up, zero);
                let high = self.op(Op::GreaterEqual, value, last);
                let a = self.op(Op::And, up, low);
                let b = self.op(Op::And, down, high);
                self.op(Op::Or, a, b)
            }
        }
    }

    /// Whether `value + step` does not go past `last`, without computing it.
    pub(super) fn room_for_step(&mut self, value: Reg, last: Reg, step: Reg, constant: Option<i64>) -> Reg {
        match constant {
            Some(1) => self.op(Op::Less, value, last),
            Some(-1) => self.op(Op::Greater, value, last),
            Some(constant) => self.room_in(value, last, step, constant > 0),
            None => {
                let zero = self.int(0);
                let up = self.op(Op::Greater, step, zero);
                let down = self.op(Op::Equal, up, zero);
                let a = self.room_in(value, last, step, true);
                let b = self.room_in(value, last, step, false);
                let a = self.op(Op::And, up, a);
                let b = self.op(Op::And, down, b);
                self.op(Op::Or, a, b)
            }
        }
    }

    fn room_in(&mut self, value: Reg, last: Reg, step: Reg, up: bool) -> Reg {
        let zero = self.int(0);
        let (before, distance, stride) = if up {
            (self.op(Op::Less, value, last), self.op(Op::Subtract, last, value), step)
        } else {
            let stride = self.op(Op::Subtract, zero, step);
            (self.op(Op::Greater, value, last), self.op(Op::Subtract, value, last), stride)
        };
        let short = self.op(Op::LessUnsigned, distance, stride);
        let fits = self.op(Op::Equal, short, zero);
        self.op(Op::And, before, fits)
    }

    pub(super) fn real_to_integer(&mut self, value: Reg, location: LocationId) -> Reg {
        let floored = self.unary(Unary::Floor, value);
        let (low, high) = (self.reg(RegType::Real), self.reg(RegType::Real));
        self.inst(Inst::Real(low, -9_223_372_036_854_775_808.0));
        self.inst(Inst::Real(high, 9_223_372_036_854_775_808.0));
        let above = self.op(Op::GreaterEqualReal, floored, low);
        let below = self.op(Op::LessReal, floored, high);
        let inside = self.op(Op::And, above, below);
        self.inst(Inst::Require(inside, Fault::InvalidConversion, location));
        self.unary(Unary::RealToInt, floored)
    }
}
