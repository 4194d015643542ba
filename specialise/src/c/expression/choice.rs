//! Comparisons, and selections by a truth value.

use super::{Expr, Text, Want, Writer, join_at, logical};
use crate::c::types::{CType, container};
use crate::ir::{Binary, Compare, Const, FloatCompare, Op, Operand, Type};

impl Writer<'_> {
    pub(super) fn compare(&mut self, compare: Compare, a: &Operand, b: &Operand) -> Text {
        let (sign, level) = match compare {
            Compare::Eq => ("==", 9),
            Compare::Ne => ("!=", 9),
            Compare::Ugt | Compare::Sgt => (">", 10),
            Compare::Uge | Compare::Sge => (">=", 10),
            Compare::Ult | Compare::Slt => ("<", 10),
            Compare::Ule | Compare::Sle => ("<=", 10),
        };
        let ty = self.body.type_of(a);
        let is_signed = matches!(compare, Compare::Sgt | Compare::Sge | Compare::Slt | Compare::Sle);
        let (left, right) = match ty {
            Type::Ptr if level == 9 => (self.expr(a, Want::Exact)?, self.expr(b, Want::Exact)?),
            Type::Ptr => {
                let name = if is_signed { "intptr_t" } else { "uintptr_t" };
                (
                    self.expr(a, Want::Exact)?.cast(name, CType::Other),
                    self.expr(b, Want::Exact)?.cast(name, CType::Other),
                )
            }
            Type::Int(_) if is_signed => (self.signed(a)?, self.signed(b)?),
            Type::Int(_) => (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?),
            _ => return Err("a comparison of vectors".into()),
        };
        Ok(join_at(&left, 11, sign, &right, 11, level, CType::Unsigned(1)))
    }

    pub(super) fn compare_floats(&mut self, compare: FloatCompare, a: &Operand, b: &Operand) -> Text {
        let (left, right) = (self.expr(a, Want::Exact)?, self.expr(b, Want::Exact)?);
        let (x, y) = (left.at(11), right.at(11));
        let (text, level) = match compare {
            FloatCompare::False => ("0".to_string(), 16),
            FloatCompare::True => ("1".to_string(), 16),
            FloatCompare::Oeq => (format!("{x} == {y}"), 9),
            FloatCompare::Ogt => (format!("{x} > {y}"), 10),
            FloatCompare::Oge => (format!("{x} >= {y}"), 10),
            FloatCompare::Olt => (format!("{x} < {y}"), 10),
            FloatCompare::Ole => (format!("{x} <= {y}"), 10),
            FloatCompare::One => (format!("__builtin_islessgreater({}, {})", left.text, right.text), 16),
            FloatCompare::Ord => (format!("!__builtin_isunordered({}, {})", left.text, right.text), 15),
            FloatCompare::Ueq => (format!("!__builtin_islessgreater({}, {})", left.text, right.text), 15),
            FloatCompare::Ugt => (format!("!({x} <= {y})"), 15),
            FloatCompare::Uge => (format!("!({x} < {y})"), 15),
            FloatCompare::Ult => (format!("!({x} >= {y})"), 15),
            FloatCompare::Ule => (format!("!({x} > {y})"), 15),
            FloatCompare::Une => (format!("{x} != {y}"), 9),
            FloatCompare::Uno => (format!("__builtin_isunordered({}, {})", left.text, right.text), 16),
        };
        // These builtins promise only a number other than 0, not 1.
        let text = if text.starts_with("__builtin") { format!("{text} != 0") } else { text };
        let level = if text.ends_with(" != 0") { 9 } else { level };
        Ok(Expr::new(text, level, CType::Unsigned(1)).reading(&[&left, &right]))
    }

    /// The negation of a truth value.
    pub fn negated(&mut self, operand: &Operand) -> Text {
        if let Operand::Value(value) = operand
            && self.plan.folded[value.0 as usize]
        {
            match self.plan.op(self.body, *value) {
                Some(Op::Compare(compare, a, b)) => return self.compare(compare.opposite(), a, b),
                Some(Op::Binary(Binary::Xor, a, b)) if *b == Operand::Const(Const::int(1, 1)) => {
                    return self.expr(a, Want::Number);
                }
                _ => {}
            }
        }
        let expr = self.expr(operand, Want::Number)?;
        Ok(Expr::new(format!("!{}", expr.at(15)), 15, CType::Unsigned(1)).reading(&[&expr]))
    }

    pub(super) fn select(
        &mut self,
        condition: &Operand,
        a: &Operand,
        b: &Operand,
        ty: &Type,
        want: Want,
    ) -> Text {
        let chosen = self.expr(condition, Want::Number)?;
        if *ty == Type::Int(1) {
            let known = |operand: &Operand| match operand {
                Operand::Const(Const::Int { value, .. }) => Some(*value),
                _ => None,
            };
            match (known(a), known(b)) {
                (Some(1), Some(0)) => return Ok(chosen),
                (Some(0), Some(1)) => return self.negated(condition),
                (Some(1), _) => return Ok(logical(&chosen, "||", &self.expr(b, Want::Number)?)),
                (_, Some(0)) => return Ok(logical(&chosen, "&&", &self.expr(a, Want::Number)?)),
                (Some(0), _) => {
                    return Ok(logical(&self.negated(condition)?, "&&", &self.expr(b, Want::Number)?));
                }
                (_, Some(1)) => {
                    return Ok(logical(&self.negated(condition)?, "||", &self.expr(a, Want::Number)?));
                }
                _ => {}
            }
        }
        let (left, right, result) = match ty {
            Type::Int(bits) if container(*bits) >= 32 => {
                let (left, right) = self.pair(a, b, *bits)?;
                (left, right, CType::Unsigned(container(*bits)))
            }
            Type::Int(_) if want == Want::Modulo && *ty != Type::Int(1) => {
                (self.expr(a, want)?, self.expr(b, want)?, CType::Modulo)
            }
            Type::Int(_) => (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?, CType::Number),
            _ => (self.expr(a, Want::Exact)?, self.expr(b, Want::Exact)?, CType::Other),
        };
        let text = format!("{} ? {} : {}", chosen.at(4), left.at(4), right.at(4));
        Ok(Expr::new(text, 3, result).reading(&[&chosen, &left, &right]))
    }
}
