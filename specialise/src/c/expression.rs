//! Values as C expressions.
//!
//! Integers live in unsigned types, zero-extended, so that arithmetic wraps as in the IR; signed operations cast their
//! operands. What an expression's C type promises is told by [`CType`]; [`Want`] says what its reader needs.

use std::collections::BTreeSet;

use super::fold::Plan;
use super::symbols::Symbols;
use super::types::{CType, Prelude, container, float, number, signed, signed_number, unsigned, with_sign};
use super::variables::Variables;
use crate::ir::{
    Access, Binary, Body, Cast, Compare, Const, FloatCompare, Function, Module, Op, Operand, Type, ValueId,
};

/// A piece of C and what one must know of it to use it.
#[derive(Clone)]
pub(super) struct Expr {
    /// Its text.
    pub text: String,
    /// How tightly it binds, 16 for names and calls.
    pub level: u8,
    /// What its type says of its value.
    pub ty: CType,
    /// The variables that it reads.
    pub reads: BTreeSet<usize>,
}

/// What the reader of an integer needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Exactly the unsigned type of the value's width.
    Exact,
    /// Any type that holds the value, zero-extended.
    Number,
    /// Only the low bits, as an assignment to the unsigned type does.
    Modulo,
}

impl Expr {
    /// An expression that reads nothing so far.
    pub fn new(text: impl Into<String>, level: u8, ty: CType) -> Expr {
        Expr { text: text.into(), level, ty, reads: BTreeSet::new() }
    }

    /// The same, reading what others read.
    pub fn reading(mut self, parts: &[&Expr]) -> Expr {
        for part in parts {
            self.reads.extend(&part.reads);
        }
        self
    }

    /// Its text where something binds as tightly as `level`.
    pub fn at(&self, level: u8) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    fn cast(&self, ty: &str, to: CType) -> Expr {
        Expr::new(format!("({ty}){}", self.at(15)), 15, to).reading(&[self])
    }
}

/// Writes the expressions of one function.
pub(super) struct Writer<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub body: &'a Body,
    pub plan: &'a Plan,
    pub variables: &'a Variables,
    /// What each variable is called, by the value that stands for it.
    pub names: Vec<String>,
    pub symbols: &'a Symbols,
    pub prelude: &'a mut Prelude,
    /// Values that count up from a small number: they never become negative in the time that there is.
    pub counters: BTreeSet<usize>,
    /// Variables that exist only on edges: each has the type of the variable noted here.
    pub spares: Vec<usize>,
}

type Text = Result<Expr, String>;

impl Writer<'_> {
    /// The variable of a value as an expression.
    pub fn variable(&self, value: usize) -> Expr {
        let variable = self.variables.of(value);
        let ty = match &self.body.types[value] {
            Type::Int(bits) if self.is_signed_parameter(value) => CType::Signed(container(*bits)),
            Type::Int(bits) => CType::Unsigned(container(*bits)),
            _ => CType::Other,
        };
        let mut expr = Expr::new(self.names[variable].clone(), 16, ty);
        expr.reads.insert(variable);
        expr
    }

    fn is_signed_parameter(&self, value: usize) -> bool {
        self.function.params.get(value).is_some_and(super::variables::has_own_type)
    }

    /// An operand as the reader needs it.
    pub fn expr(&mut self, operand: &Operand, want: Want) -> Text {
        let expr = match operand {
            Operand::Const(constant) => self.constant(constant, want)?,
            Operand::Value(value) => self.value(*value, want)?,
        };
        Ok(match self.body.type_of(operand) {
            Type::Int(bits) => fit(expr, bits, want),
            _ => expr,
        })
    }

    fn value(&mut self, value: ValueId, want: Want) -> Text {
        let at = value.0 as usize;
        match self.plan.op(self.body, value) {
            Some(op) if self.plan.folded[at] => self.operation(op, &self.body.types[at].clone(), want),
            _ => Ok(self.variable(at)),
        }
    }

    /// What an operation computes; its operands are written into it or are variables.
    pub fn operation(&mut self, op: &Op, ty: &Type, want: Want) -> Text {
        match op {
            Op::Binary(binary, a, b) => match ty {
                Type::Int(bits) => self.integer(*binary, a, b, *bits, want),
                Type::Float | Type::Double => self.floating(*binary, a, b, ty),
                _ => Err("arithmetic of vectors".into()),
            },
            Op::FNeg(a) => {
                let a = self.expr(a, Want::Exact)?;
                Ok(Expr::new(format!("-{}", a.at(16)), 15, CType::Other).reading(&[&a]))
            }
            Op::Compare(compare, a, b) => self.compare(*compare, a, b),
            Op::FloatCompare(compare, a, b) => self.compare_floats(*compare, a, b),
            Op::Cast(cast, a) => self.cast(*cast, a, ty, want),
            Op::Select(condition, a, b) => self.select(condition, a, b, ty, want),
            Op::Freeze(a) => self.expr(a, want),
            Op::Load { from, align, access } => self.load(from, *align, *access, ty),
            Op::Address { base, offset, terms } => self.address(base, *offset, terms),
            Op::Call { .. } => self.call(op, ty),
            Op::ExtractValue(from, path) => {
                let from_type = self.body.type_of(from);
                let from = self.expr(from, Want::Exact)?;
                let (path, member) = member_path(&from_type, path)?;
                let ty = match member {
                    Type::Int(bits) => CType::Unsigned(container(bits)),
                    _ => CType::Other,
                };
                Ok(Expr::new(format!("{}{path}", from.at(16)), 16, ty).reading(&[&from]))
            }
            Op::InsertValue(..) => self.structure(op, ty),
            _ => Err("a vector; compile with -fno-vectorize -fno-slp-vectorize".into()),
        }
    }

    /// Two operands of which at least one has the exact type, so that C computes in it.
    fn pair(&mut self, a: &Operand, b: &Operand, bits: u32) -> Result<(Expr, Expr), String> {
        let (mut left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
        let exact = CType::Unsigned(container(bits));
        if container(bits) >= 32 && left.ty != exact && right.ty != exact {
            left = self.expr(a, Want::Exact)?;
        }
        Ok((left, right))
    }

    fn integer(&mut self, binary: Binary, a: &Operand, b: &Operand, bits: u32, want: Want) -> Text {
        if bits == 1 {
            return self.boolean(binary, a, b);
        }
        let wide = container(bits) >= 32;
        let result = match (wide, bits == container(bits)) {
            (true, true) => CType::Unsigned(bits),
            _ => CType::Modulo,
        };
        let modulo = if wide { Want::Number } else { Want::Modulo };
        match binary {
            Binary::Add | Binary::Sub => {
                let (binary, b) = with_small_constant(binary, b, bits);
                let (left, right) = match wide {
                    true => self.pair(a, &b, bits)?,
                    false => (self.expr(a, modulo)?, self.expr(&b, modulo)?),
                };
                // A sum on the right goes without parentheses only where it is a sum of the same width.
                let chained = binary == Binary::Add && right.ty == result;
                let (sign, right_level) =
                    (if binary == Binary::Add { '+' } else { '-' }, 13 - u8::from(chained));
                Ok(join(&left, 12, &sign.to_string(), &right, right_level, result))
            }
            Binary::Mul => {
                let (mut left, right) = self.pair(a, b, bits)?;
                if container(bits) == 16 {
                    left = left.cast("uint32_t", CType::Number);
                }
                Ok(join(&left, 13, "*", &right, 14, result))
            }
            Binary::And | Binary::Or | Binary::Xor => self.bitwise(binary, a, b, bits, want),
            Binary::Shl => {
                let mut left = self.expr(a, if wide { Want::Exact } else { Want::Number })?;
                if container(bits) == 16 {
                    left = left.cast("uint32_t", CType::Number);
                }
                let amount = self.amount(b, bits)?;
                Ok(join(&left, 14, "<<", &amount, 14, result))
            }
            Binary::LShr => {
                let left = self.expr(a, if wide { Want::Exact } else { Want::Number })?;
                let result = if wide { CType::Unsigned(container(bits)) } else { CType::Number };
                let amount = self.amount(b, bits)?;
                Ok(join(&left, 14, ">>", &amount, 14, result))
            }
            Binary::AShr => {
                let mut left = self.signed(a)?;
                if matches!(a, Operand::Const(_)) {
                    left = left.cast(signed(bits), CType::Signed(container(bits)));
                }
                let amount = self.amount(b, bits)?;
                Ok(join(&left, 14, ">>", &amount, 14, CType::Signed(container(bits))))
            }
            Binary::UDiv | Binary::URem => {
                let (left, right) = self.pair(a, b, bits)?;
                let result = if wide { CType::Unsigned(container(bits)) } else { CType::Number };
                Ok(join(&left, 13, if binary == Binary::UDiv { "/" } else { "%" }, &right, 14, result))
            }
            Binary::SDiv | Binary::SRem => {
                let (left, right) = (self.signed(a)?, self.signed(b)?);
                let sign = if binary == Binary::SDiv { "/" } else { "%" };
                Ok(join(&left, 13, sign, &right, 14, CType::Signed(container(bits))))
            }
            _ => Err("floating-point arithmetic of integers".into()),
        }
    }

    fn bitwise(&mut self, binary: Binary, a: &Operand, b: &Operand, bits: u32, want: Want) -> Text {
        let wide = container(bits) >= 32;
        let ones = Operand::Const(Const::int(bits, u128::MAX));
        if binary == Binary::Xor && *b == ones {
            let a = self.expr(a, if wide { Want::Exact } else { Want::Number })?;
            let ty = if wide && container(bits) == bits { CType::Unsigned(bits) } else { CType::Modulo };
            return Ok(Expr::new(format!("~{}", a.at(15)), 15, ty).reading(&[&a]));
        }
        let (left, right, ty) = if wide {
            let (left, right) = self.pair(a, b, bits)?;
            (left, right, CType::Unsigned(container(bits)))
        } else if want == Want::Modulo {
            (self.expr(a, want)?, self.expr(b, want)?, CType::Modulo)
        } else {
            (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?, CType::Number)
        };
        let (sign, level) = match binary {
            Binary::And => ("&", 8),
            Binary::Xor => ("^", 7),
            _ => ("|", 6),
        };
        // Chains of one operator go without parentheses, all else of binary operators with them.
        let side = |side: &Expr| if side.level == level { side.text.clone() } else { side.at(14) };
        let text = format!("{} {sign} {}", side(&left), side(&right));
        Ok(Expr::new(text, level, ty).reading(&[&left, &right]))
    }

    fn boolean(&mut self, binary: Binary, a: &Operand, b: &Operand) -> Text {
        let truth = Operand::Const(Const::int(1, 1));
        let ty = CType::Unsigned(1);
        match binary {
            Binary::And | Binary::Mul => {
                let (left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
                Ok(logical(&left, "&&", &right))
            }
            Binary::Or => {
                let (left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
                Ok(logical(&left, "||", &right))
            }
            Binary::Xor | Binary::Add | Binary::Sub if *b == truth => self.negated(a),
            Binary::Xor | Binary::Add | Binary::Sub => {
                let (left, right) = (self.expr(a, Want::Number)?, self.expr(b, Want::Number)?);
                Ok(Expr::new(format!("{} != {}", left.at(14), right.at(14)), 9, ty).reading(&[&left, &right]))
            }
            // Any other amount or divisor than the one that changes nothing is undefined.
            _ => self.expr(a, Want::Number),
        }
    }

    /// The opposite of a truth value.
    pub fn negated(&mut self, operand: &Operand) -> Text {
        if let Operand::Value(value) = operand
            && self.plan.folded[value.0 as usize]
        {
            match self.plan.op(self.body, *value) {
                Some(Op::Compare(compare, a, b)) => return self.compare(opposite(*compare), a, b),
                Some(Op::Binary(Binary::Xor, a, b)) if *b == Operand::Const(Const::int(1, 1)) => {
                    return self.expr(a, Want::Number);
                }
                _ => {}
            }
        }
        let expr = self.expr(operand, Want::Number)?;
        Ok(Expr::new(format!("!{}", expr.at(15)), 15, CType::Unsigned(1)).reading(&[&expr]))
    }

    /// A shift's amount, kept below the width: beyond it the IR has any value, but C may do anything.
    fn amount(&mut self, amount: &Operand, bits: u32) -> Text {
        let expr = self.expr(amount, Want::Number)?;
        if self.is_below(amount, bits) {
            return Ok(expr);
        }
        let mask = container(bits) - 1;
        Ok(Expr::new(format!("{} & {mask}", expr.at(14)), 8, CType::Number).reading(&[&expr]))
    }

    fn is_below(&self, operand: &Operand, limit: u32) -> bool {
        let limit = u128::from(limit);
        match operand {
            Operand::Const(Const::Int { value, .. }) => *value < limit,
            Operand::Const(_) => false,
            Operand::Value(value) => match self.plan.op(self.body, *value) {
                Some(Op::Binary(Binary::And, _, Operand::Const(Const::Int { value, .. }))) => *value < limit,
                Some(Op::Binary(Binary::URem, _, Operand::Const(Const::Int { value, .. }))) => {
                    *value <= limit
                }
                Some(Op::Cast(Cast::ZExt, inner)) => {
                    self.is_below(inner, limit as u32)
                        || 1u128 << self.body.type_of(inner).bits().min(100) <= limit
                }
                _ => false,
            },
        }
    }

    /// An integer operand with its sign.
    pub fn signed(&mut self, operand: &Operand) -> Text {
        let Type::Int(bits) = self.body.type_of(operand) else {
            return Err("a signed operation on something that is no integer".into());
        };
        if let Operand::Const(Const::Int { value, .. }) = operand {
            let text = signed_number(bits, *value);
            let level = if text.starts_with(['-', '(']) && !text.starts_with("(-") { 15 } else { 16 };
            let width =
                if with_sign(bits, *value).is_some_and(|v| i32::try_from(v).is_ok()) { 32 } else { 128 };
            return Ok(Expr::new(text, level, CType::Signed(width)));
        }
        if let Operand::Value(value) = operand
            && self.plan.folded[value.0 as usize]
            && let Some(Op::Cast(cast @ (Cast::SExt | Cast::ZExt), inner)) = self.plan.op(self.body, *value)
        {
            let narrow = self.body.type_of(inner).bits();
            match cast {
                // Widened by hand where C would stay in a narrower unsigned type, or compute in a narrower one.
                Cast::SExt if narrow > 1 => return self.widened(inner, bits),
                Cast::ZExt if narrow < 32 && bits <= 32 => return self.expr(inner, Want::Number),
                _ => {}
            }
        }
        let inner = self.expr(operand, if container(bits) == bits { Want::Modulo } else { Want::Number })?;
        if inner.ty == CType::Signed(bits) && bits == container(bits) {
            return Ok(inner);
        }
        let width = container(bits);
        match width - bits {
            _ if bits == 1 => {
                Ok(Expr::new(format!("-{}", inner.at(16)), 15, CType::Signed(8)).reading(&[&inner]))
            }
            0 => Ok(inner.cast(signed(bits), CType::Signed(width))),
            gap => {
                let shifted = format!("(({})({} << {gap}) >> {gap})", signed(bits), {
                    inner.cast(unsigned(bits), CType::Unsigned(width)).text
                });
                Ok(Expr::new(shifted, 16, CType::Signed(width)).reading(&[&inner]))
            }
        }
    }

    fn widened(&mut self, narrow: &Operand, bits: u32) -> Text {
        let inner = self.signed(narrow)?;
        Ok(match inner.ty == CType::Signed(container(bits)) || container(bits) <= 32 {
            true => inner,
            false => inner.cast(signed(bits), CType::Signed(container(bits))),
        })
    }

    fn compare(&mut self, compare: Compare, a: &Operand, b: &Operand) -> Text {
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

    fn compare_floats(&mut self, compare: FloatCompare, a: &Operand, b: &Operand) -> Text {
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
        // These builtins promise only a number other than 0.
        let text = if text.starts_with("__builtin") { format!("{text} != 0") } else { text };
        let level = if text.ends_with(" != 0") { 9 } else { level };
        Ok(Expr::new(text, level, CType::Unsigned(1)).reading(&[&left, &right]))
    }

    fn floating(&mut self, binary: Binary, a: &Operand, b: &Operand, ty: &Type) -> Text {
        let (left, right) = (self.expr(a, Want::Exact)?, self.expr(b, Want::Exact)?);
        let (sign, level) = match binary {
            Binary::FAdd => ("+", 12),
            Binary::FSub => ("-", 12),
            Binary::FMul => ("*", 13),
            Binary::FDiv => ("/", 13),
            Binary::FRem => {
                let name = if *ty == Type::Float { "__builtin_fmodf" } else { "__builtin_fmod" };
                let text = format!("{name}({}, {})", left.text, right.text);
                return Ok(Expr::new(text, 16, CType::Other).reading(&[&left, &right]));
            }
            _ => return Err("integer arithmetic of floats".into()),
        };
        Ok(join(&left, level, sign, &right, level + 1, CType::Other))
    }

    fn select(&mut self, condition: &Operand, a: &Operand, b: &Operand, ty: &Type, want: Want) -> Text {
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

    fn cast(&mut self, cast: Cast, a: &Operand, ty: &Type, want: Want) -> Text {
        let from = self.body.type_of(a);
        let target = self.prelude.name(ty)?;
        let bits = ty.bits() as u32;
        match (cast, &from, ty) {
            (Cast::Trunc, _, Type::Int(1)) => {
                let a = self.expr(a, Want::Modulo)?;
                Ok(Expr::new(format!("{} & 1", a.at(14)), 8, CType::Number).reading(&[&a]))
            }
            (Cast::Trunc, ..) => {
                let a = self.expr(a, Want::Modulo)?;
                Ok(Expr { ty: CType::Modulo, ..a })
            }
            (Cast::ZExt, ..) => {
                let a = self.expr(a, Want::Number)?;
                Ok(if want == Want::Exact {
                    a.cast(&target, CType::Unsigned(container(bits)))
                } else {
                    Expr { ty: CType::Number, ..a }
                })
            }
            (Cast::SExt, ..) => {
                let inner = self.signed(a)?;
                Ok(Expr { ty: CType::Modulo, ..inner })
            }
            (Cast::FpToUi, ..) => {
                Ok(self.expr(a, Want::Exact)?.cast(&target, CType::Unsigned(container(bits))))
            }
            (Cast::FpToSi, ..) => {
                Ok(self.expr(a, Want::Exact)?.cast(signed(bits), CType::Signed(container(bits))))
            }
            (Cast::SiToFp, ..) => Ok(self.signed(a)?.cast(&target, CType::Other)),
            (Cast::UiToFp | Cast::FpTrunc | Cast::FpExt, ..) => {
                Ok(self.expr(a, Want::Number)?.cast(&target, CType::Other))
            }
            (Cast::PtrToInt, ..) => {
                let word = self.expr(a, Want::Exact)?.cast("uintptr_t", CType::Unsigned(64));
                Ok(if bits == 64 {
                    word
                } else if bits < 64 {
                    Expr { ty: CType::Modulo, ..word }
                } else {
                    word.cast(&target, CType::Unsigned(128))
                })
            }
            (Cast::IntToPtr, ..) => {
                let a = self.expr(a, Want::Number)?;
                Ok(a.cast("uintptr_t", CType::Other).cast("void *", CType::Other))
            }
            (Cast::BitCast, ..) if from == *ty => self.expr(a, want),
            (Cast::BitCast, from, _) if from.is_scalar() && ty.is_scalar() => {
                let a = self.expr(a, Want::Modulo)?;
                let name = self.prelude.reinterpret(from, ty)?;
                let result =
                    if matches!(ty, Type::Int(_)) { CType::Unsigned(container(bits)) } else { CType::Other };
                Ok(Expr::new(format!("{name}({})", a.text), 16, result).reading(&[&a]))
            }
            _ => Err("a conversion of a vector".into()),
        }
    }

    fn load(&mut self, from: &Operand, align: u64, access: Access, ty: &Type) -> Text {
        let result = match ty {
            Type::Int(bits) => CType::Unsigned(container(*bits)),
            _ => CType::Other,
        };
        if access == Access::Plain
            && let Some(place) = self.place(from, ty)?
        {
            return Ok(Expr { ty: result, ..place });
        }
        let address = self.source(from)?;
        let text = match access {
            Access::Plain => format!("{}({})", self.prelude.load(ty)?, address.text),
            Access::Volatile => {
                let name = self.prelude.aliasing(ty, align)?;
                format!("*(volatile {name} *){}", address.at(15))
            }
            Access::Atomic => {
                let name = self.prelude.aliasing(ty, align)?;
                format!("__atomic_load_n(({name} *){}, __ATOMIC_SEQ_CST)", address.at(15))
            }
        };
        let level = if access == Access::Volatile { 15 } else { 16 };
        Ok(Expr::new(text, level, result).reading(&[&address]))
    }

    /// A constant as the reader needs it.
    fn constant(&mut self, constant: &Const, want: Want) -> Text {
        let exact = |text: String, bits: u32| match want {
            Want::Exact if container(bits) == 1 => Expr::new(text, 16, CType::Unsigned(1)),
            _ if text.starts_with('(') && container(bits) == 128 => Expr::new(text, 16, CType::Unsigned(128)),
            Want::Exact if container(bits) == 32 && !text.starts_with("0x") => {
                Expr::new(format!("{text}u"), 16, CType::Unsigned(32))
            }
            Want::Exact if container(bits) == 32 => Expr::new(text, 16, CType::Unsigned(32)),
            Want::Exact => {
                Expr::new(format!("({}){text}", unsigned(bits)), 15, CType::Unsigned(container(bits)))
            }
            _ => Expr::new(text, 16, CType::Number),
        };
        Ok(match constant {
            Const::Int { bits, value } => exact(number(*bits, *value), *bits),
            Const::Undef(Type::Int(bits)) | Const::Zero(Type::Int(bits)) => exact("0".into(), *bits),
            Const::Undef(Type::Ptr) | Const::Zero(Type::Ptr) | Const::Null => {
                Expr::new("NULL", 16, CType::Other)
            }
            Const::Undef(Type::Float) | Const::Zero(Type::Float) => Expr::new("0.0f", 16, CType::Other),
            Const::Undef(Type::Double) | Const::Zero(Type::Double) => Expr::new("0.0", 16, CType::Other),
            Const::Float(bits) => {
                let single = f32::from_bits(*bits);
                let text = float(f64::from(single), u64::from(*bits), Some(single));
                Expr::new(text.clone(), if text.starts_with('-') { 15 } else { 16 }, CType::Other)
            }
            Const::Double(bits) => {
                let text = float(f64::from_bits(*bits), *bits, None);
                Expr::new(text.clone(), if text.starts_with('-') { 15 } else { 16 }, CType::Other)
            }
            Const::Global(..) | Const::Function(_) => {
                let text = self.symbols.pointer(constant)?;
                let level = if text.contains(" + ") || text.contains(" - ") { 12 } else { 15 };
                Expr::new(text, level, CType::Other)
            }
            Const::Address(bits, inner) => {
                let word = self.constant(inner, Want::Exact)?.cast("uintptr_t", CType::Unsigned(64));
                if *bits == 64 { word } else { Expr { ty: CType::Modulo, ..word } }
            }
            Const::Pointer(inner) => {
                let word = self.constant(inner, Want::Number)?;
                word.cast("uintptr_t", CType::Other).cast("void *", CType::Other)
            }
            Const::Undef(ty) | Const::Zero(ty) => {
                let name = self.prelude.name(ty)?;
                Expr::new(format!("({name}){{ 0 }}"), 16, CType::Other)
            }
            Const::Aggregate(ty, _) => {
                let name = self.prelude.name(ty)?;
                let members = self.members(constant)?;
                Expr::new(format!("({name}){members}"), 16, CType::Other)
            }
            Const::Bytes(_) => {
                let name = self.prelude.name(&constant.ty())?;
                let members = self.members(constant)?;
                Expr::new(format!("({name}){members}"), 16, CType::Other)
            }
        })
    }
}

/// An expression as its reader needs it.
pub(super) fn fit(expr: Expr, bits: u32, want: Want) -> Expr {
    let width = container(bits);
    let is_exact = expr.ty == CType::Unsigned(width);
    let is_number = is_exact || matches!(expr.ty, CType::Number | CType::Unsigned(_));
    match want {
        Want::Exact if is_exact => expr,
        Want::Exact if is_number => expr.cast(unsigned(bits), CType::Unsigned(width)),
        Want::Number if is_number => expr,
        Want::Modulo if bits > 1 || is_number => expr,
        _ if bits == 1 => Expr::new(format!("{} & 1", expr.at(14)), 8, CType::Number).reading(&[&expr]),
        _ if width == bits => expr.cast(unsigned(bits), CType::Unsigned(width)),
        _ => {
            let mask = number(bits, (1 << bits) - 1);
            let expr = expr.cast(unsigned(bits), CType::Unsigned(width));
            let masked = Expr::new(format!("{} & {mask}", expr.at(14)), 8, CType::Number).reading(&[&expr]);
            if want == Want::Exact { masked.cast(unsigned(bits), CType::Unsigned(width)) } else { masked }
        }
    }
}

fn join(left: &Expr, left_level: u8, sign: &str, right: &Expr, right_level: u8, ty: CType) -> Expr {
    let level = match sign {
        "+" | "-" => 12,
        "<<" | ">>" => 11,
        _ => 13,
    };
    join_at(left, left_level, sign, right, right_level, level, ty)
}

fn join_at(
    left: &Expr,
    left_level: u8,
    sign: &str,
    right: &Expr,
    right_level: u8,
    level: u8,
    ty: CType,
) -> Expr {
    Expr::new(format!("{} {sign} {}", left.at(left_level), right.at(right_level)), level, ty)
        .reading(&[left, right])
}

fn logical(left: &Expr, sign: &str, right: &Expr) -> Expr {
    let level = if sign == "&&" { 5 } else { 4 };
    let side = |side: &Expr| if side.level == level { side.text.clone() } else { side.at(6) };
    Expr::new(format!("{} {sign} {}", side(left), side(right)), level, CType::Unsigned(1))
        .reading(&[left, right])
}

/// Adding a negative number is subtracting a positive one.
fn with_small_constant(binary: Binary, b: &Operand, bits: u32) -> (Binary, Operand) {
    if let Operand::Const(Const::Int { value, .. }) = b
        && let Some(negative @ ..0) = with_sign(bits, *value)
        && negative > i64::MIN
    {
        let other = if binary == Binary::Add { Binary::Sub } else { Binary::Add };
        return (other, Operand::Const(Const::int(bits, negative.unsigned_abs().into())));
    }
    (binary, b.clone())
}

/// The comparison that holds when another one doesn't.
pub(super) fn opposite(compare: Compare) -> Compare {
    match compare {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::Ugt => Compare::Ule,
        Compare::Uge => Compare::Ult,
        Compare::Ult => Compare::Uge,
        Compare::Ule => Compare::Ugt,
        Compare::Sgt => Compare::Sle,
        Compare::Sge => Compare::Slt,
        Compare::Slt => Compare::Sge,
        Compare::Sle => Compare::Sgt,
    }
}

/// The members that a path names, as C, and the type that is there.
pub(super) fn member_path(ty: &Type, path: &[u32]) -> Result<(String, Type), String> {
    let mut text = String::new();
    let mut ty = ty.clone();
    for &step in path {
        ty = match &ty {
            Type::Struct { fields, .. } => {
                text.push_str(&format!(".f{step}"));
                fields.get(step as usize).cloned().ok_or("a field that the structure doesn't have")?
            }
            Type::Array(_, element) => {
                text.push_str(&format!(".e[{step}]"));
                (**element).clone()
            }
            _ => return Err("a field of something that has none".into()),
        };
    }
    Ok((text, ty))
}
