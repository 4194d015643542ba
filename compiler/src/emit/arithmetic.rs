//! Integer and real arithmetic. Checks for overflow where the language wants it. DIV and MOD round towards minus
//! infinity, where the processor truncates.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_module::Module;
use drystone_runtime::layout::Fault;

use super::Build;
use crate::mir::{Checked, LocationId, Op, Unary};
use crate::ranges::{Range, Sign};

impl<M: Module> Build<'_, '_, M> {
    pub(super) fn operation(&mut self, op: Op, a: Value, b: Value) -> Value {
        use Op::*;
        let ins = self.builder.ins();
        let integer = |cc| (cc, None);
        let real = |cc| (IntCC::Equal, Some(cc));
        let (int_cc, real_cc) = match op {
            Add => return self.sum(a, b),
            Subtract => return ins.isub(a, b),
            Min => return ins.smin(a, b),
            Max => return ins.smax(a, b),
            And => return ins.band(a, b),
            Or => return ins.bor(a, b),
            Xor => return ins.bxor(a, b),
            Multiply => return ins.imul(a, b),
            Shift => unreachable!("its distance is looked at first"),
            Rotate => return ins.rotl(a, b),
            AddReal => return ins.fadd(a, b),
            SubtractReal => return ins.fsub(a, b),
            MultiplyReal => return ins.fmul(a, b),
            DivideReal => return ins.fdiv(a, b),
            MinReal => return ins.fmin(a, b),
            MaxReal => return ins.fmax(a, b),
            Equal => integer(IntCC::Equal),
            NotEqual => integer(IntCC::NotEqual),
            Less => integer(IntCC::SignedLessThan),
            LessEqual => integer(IntCC::SignedLessThanOrEqual),
            Greater => integer(IntCC::SignedGreaterThan),
            GreaterEqual => integer(IntCC::SignedGreaterThanOrEqual),
            LessUnsigned => integer(IntCC::UnsignedLessThan),
            EqualReal => real(FloatCC::Equal),
            NotEqualReal => real(FloatCC::NotEqual),
            LessReal => real(FloatCC::LessThan),
            LessEqualReal => real(FloatCC::LessThanOrEqual),
            GreaterReal => real(FloatCC::GreaterThan),
            GreaterEqualReal => real(FloatCC::GreaterThanOrEqual),
        };
        let flag = match real_cc {
            Some(cc) => self.builder.ins().fcmp(cc, a, b),
            None => self.builder.ins().icmp(int_cc, a, b),
        };
        self.builder.ins().uextend(types::I64, flag)
    }

    /// Zeros come in on both sides. The processor takes a distance modulo 64, so greater ones are told apart, unless
    /// the range says that there are none.
    pub(super) fn shift(&mut self, a: Value, by: Value, range: Option<Range>) -> Value {
        match range {
            Some((64.., _) | (_, ..=-64)) => return self.builder.ins().iconst(types::I64, 0),
            Some((-63..=-1, to)) if range == Some((to, to)) => return self.builder.ins().ushr_imm_s(a, -to),
            Some((0..=63, to)) if range == Some((to, to)) => return self.builder.ins().ishl_imm_s(a, to),
            Some((0.., ..=63)) => return self.builder.ins().ishl(a, by),
            _ => {}
        }
        let distance = self.builder.ins().ineg(by);
        if let Some((-63.., ..=0)) = range {
            return self.builder.ins().ushr(a, distance);
        }
        let left = self.builder.ins().ishl(a, by);
        let right = self.builder.ins().ushr(a, distance);
        let to_the_right = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, by, 0);
        let shifted = self.builder.ins().select(to_the_right, right, left);
        // From -63 to 63.
        let from_zero = self.builder.ins().iadd_imm_s(by, 63);
        let inside = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, from_zero, 127);
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().select(inside, shifted, zero)
    }

    pub(super) fn unary(&mut self, operator: Unary, a: Value) -> Value {
        let ins = self.builder.ins();
        match operator {
            Unary::NegateReal => ins.fneg(a),
            Unary::SquareRoot => ins.sqrt(a),
            Unary::Floor => ins.floor(a),
            Unary::IntToReal => ins.fcvt_from_sint(types::F64, a),
            Unary::RealToInt => ins.fcvt_to_sint_sat(types::I64, a),
        }
    }

    /// Faults on overflow. If the sign of one operand is known, one comparison of the result with the other operand is
    /// enough: an overflow puts the result on the wrong side. The comparison is also the jump.
    pub(super) fn checked(
        &mut self,
        operator: Checked,
        a: Value,
        b: Value,
        signs: [Option<Sign>; 2],
        location: LocationId,
    ) -> Value {
        use IntCC::{SignedGreaterThan as Above, SignedLessThan as Below};
        let wrong = match (operator, signs) {
            (Checked::Add, [_, Some(Sign::NotNegative)]) => Some((a, Below)),
            (Checked::Add, [_, Some(Sign::Negative)]) => Some((a, Above)),
            (Checked::Add, [Some(Sign::NotNegative), None]) => Some((b, Below)),
            (Checked::Add, [Some(Sign::Negative), None]) => Some((b, Above)),
            (Checked::Subtract, [_, Some(Sign::NotNegative)]) => Some((a, Above)),
            (Checked::Subtract, [_, Some(Sign::Negative)]) => Some((a, Below)),
            _ => None,
        };
        let (value, overflow) = match (operator, wrong) {
            (_, Some((other, side))) => {
                let value = self.exact(operator, a, b);
                (value, self.builder.ins().icmp(side, value, other))
            }
            (Checked::Add, None) => self.builder.ins().sadd_overflow(a, b),
            (Checked::Subtract, None) => self.builder.ins().ssub_overflow(a, b),
            (Checked::Multiply, _) => self.builder.ins().smul_overflow(a, b),
            (Checked::Div | Checked::Mod, _) => return self.divide(operator, a, b, location),
        };
        self.fail_if(overflow, Fault::Overflow, location);
        value
    }

    /// The operation without a check, for operands that cannot overflow.
    pub(super) fn exact(&mut self, operator: Checked, a: Value, b: Value) -> Value {
        match operator {
            Checked::Add => self.builder.ins().iadd(a, b),
            Checked::Subtract => match self.constant(b) {
                Some(b) => self.builder.ins().iadd_imm_s(a, b.wrapping_neg()),
                None => self.builder.ins().isub(a, b),
            },
            Checked::Multiply => self.builder.ins().imul(a, b),
            Checked::Div | Checked::Mod => unreachable!("division is always checked"),
        }
    }

    /// Adds a constant that is part of `b` last: so it becomes part of the instruction that reads memory there.
    fn sum(&mut self, a: Value, b: Value) -> Value {
        use cranelift_codegen::ir::{InstructionData, Opcode, ValueDef};
        let dfg = &self.builder.func.dfg;
        if let ValueDef::Result(inst, 0) = dfg.value_def(dfg.resolve_aliases(b))
            && let InstructionData::Binary { opcode: Opcode::Iadd, args: [index, by] } = dfg.insts[inst]
            && let Some(by) = self.constant(by)
        {
            let start = self.builder.ins().iadd(a, index);
            return self.builder.ins().iadd_imm_s(start, by);
        }
        self.builder.ins().iadd(a, b)
    }

    /// Division that rounds towards minus infinity; by a power of two it is a shift or a mask.
    pub(super) fn divide(&mut self, operator: Checked, a: Value, b: Value, location: LocationId) -> Value {
        if let Some(divisor) = self.constant(b)
            && divisor > 0
        {
            return self.divide_by_constant(operator, a, b, divisor);
        }
        let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        self.fail_if(zero, Fault::DivisionByZero, location);
        let smallest = self.builder.ins().icmp_imm_s(IntCC::Equal, a, i64::MIN);
        let minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let overflow = self.builder.ins().band(smallest, minus_one);
        if operator == Checked::Div {
            self.fail_if(overflow, Fault::Overflow, location);
            return self.floored(operator, a, b);
        }
        // The processor traps on smallest MOD -1. The result is 0: divide by 1 instead.
        let one = self.builder.ins().iconst(types::I64, 1);
        let divisor = self.builder.ins().select(overflow, one, b);
        self.floored(operator, a, divisor)
    }

    pub(super) fn divide_by_constant(
        &mut self,
        operator: Checked,
        a: Value,
        b: Value,
        divisor: i64,
    ) -> Value {
        if divisor & (divisor - 1) == 0 {
            return match operator {
                Checked::Div => self.builder.ins().sshr_imm_s(a, divisor.trailing_zeros() as i64),
                _ => self.builder.ins().band_imm_s(a, divisor - 1),
            };
        }
        self.floored(operator, a, b)
    }

    pub(super) fn floored(&mut self, operator: Checked, a: Value, b: Value) -> Value {
        let quotient = self.builder.ins().sdiv(a, b);
        let product = self.builder.ins().imul(quotient, b);
        let rest = self.builder.ins().isub(a, product);
        let not_exact = self.builder.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let signs = self.builder.ins().bxor(rest, b);
        let opposite = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let adjust = self.builder.ins().band(not_exact, opposite);
        if operator == Checked::Div {
            let one = self.builder.ins().uextend(types::I64, adjust);
            self.builder.ins().isub(quotient, one)
        } else {
            let zero = self.builder.ins().iconst(types::I64, 0);
            let addend = self.builder.ins().select(adjust, b, zero);
            self.builder.ins().iadd(rest, addend)
        }
    }

    pub(super) fn constant(&self, value: Value) -> Option<i64> {
        use cranelift_codegen::ir::{InstructionData, Opcode, ValueDef};
        let dfg = &self.builder.func.dfg;
        let ValueDef::Result(inst, 0) = dfg.value_def(dfg.resolve_aliases(value)) else { return None };
        match dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
            _ => None,
        }
    }
}
