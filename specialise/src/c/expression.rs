//! Values as C expressions.
//!
//! Integers have unsigned types and are zero-extended, so that arithmetic wraps as in the IR; signed operations cast
//! their operands. [`CType`] is the C type of an expression, [`Want`] is what its context needs.

mod arithmetic;
mod choice;
mod constant;
mod conversion;

use std::collections::BTreeSet;

use super::fold::Plan;
use super::symbols::Symbols;
use super::types::{CType, Prelude, container, number, unsigned};
use super::variables::Variables;
use crate::ir::{Access, Body, Function, Module, Op, Operand, Type, ValueId};

/// A piece of C, with the facts needed to use it.
#[derive(Clone)]
pub(super) struct Expr {
    /// Its text.
    pub text: String,
    /// Its precedence: 16 for names and calls, which bind most tightly.
    pub level: u8,
    /// What its type says about its value.
    pub ty: CType,
    /// The variables that the expression reads.
    pub reads: BTreeSet<usize>,
}

/// What the context needs of an integer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Exactly the unsigned type of the value's width.
    Exact,
    /// Any type that holds the value, zero-extended.
    Number,
    /// Only the low bits, as in an assignment to the unsigned type.
    Modulo,
}

impl Expr {
    /// An expression that reads no variables yet.
    pub fn new(text: impl Into<String>, level: u8, ty: CType) -> Expr {
        Expr { text: text.into(), level, ty, reads: BTreeSet::new() }
    }

    /// The same expression, with the variables that its parts read.
    pub fn reading(mut self, parts: &[&Expr]) -> Expr {
        for part in parts {
            self.reads.extend(&part.reads);
        }
        self
    }

    /// The text as an operand where the precedence `level` is needed.
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
    /// The names of the variables, by the value that represents each.
    pub names: Vec<String>,
    pub symbols: &'a Symbols,
    pub prelude: &'a mut Prelude,
    /// Values that count up from a small number, and can't become negative in any realistic time.
    pub counters: BTreeSet<usize>,
    /// Temporary variables on edges: each has the type of the variable listed here.
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

    /// An operand in the form that its context needs.
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

    /// The result of an operation. Operands are folded into it or are variables.
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
}

/// Converts an expression to the form that its context needs.
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

/// Two conditions joined by `&&` or `||`.
pub(super) fn logical(left: &Expr, sign: &str, right: &Expr) -> Expr {
    let level = if sign == "&&" { 5 } else { 4 };
    let side = |side: &Expr| if side.level == level { side.text.clone() } else { side.at(6) };
    Expr::new(format!("{} {sign} {}", side(left), side(right)), level, CType::Unsigned(1))
        .reading(&[left, right])
}

/// A path of member numbers as C, and the type of the last member.
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
