//! Addresses in C. A variable that can be accessed by its name needs no address.

use std::borrow::Cow;

use super::expression::{Expr, Want, Writer, member_path};
use super::types::{CType, container};
use crate::ir::{Const, Op, Operand, Type, ValueId};

type Text = Result<Expr, String>;

impl Writer<'_> {
    /// `base + 4 * i + 8`, in bytes.
    pub fn address(&mut self, base: &Operand, offset: i64, terms: &[(Operand, i64)]) -> Text {
        let mut offset = offset;
        let (mut base, mut terms) = (self.with_offset(base, &mut offset), Cow::Borrowed(terms));
        let mut whole_offset = offset;
        let (first, mut all) = self.parts(&base, &mut whole_offset);
        all.extend_from_slice(&terms);
        let stays_within = self.only_grows(&all, whole_offset);
        if !stays_within {
            (base, terms, offset) = (first, all.into(), whole_offset);
        }
        let is_null = matches!(base, Operand::Const(Const::Null | Const::Zero(_) | Const::Undef(_)));
        let base = match is_null {
            // Without an object to point into, the arithmetic is that of integers.
            true => Expr::new("(uintptr_t)0", 15, CType::Other),
            false => self.expr(&base, Want::Exact)?,
        };
        let sum = match stays_within || is_null {
            true => self.sum(Some(base), &terms, offset, Self::index)?,
            false => {
                let bytes = self.sum(None, &terms, offset, Self::signed_index)?;
                Expr::new(format!("{} + {}", base.at(12), bytes.at(13)), 12, CType::Other)
                    .reading(&[&base, &bytes])
            }
        };
        Ok(match is_null {
            true => Expr::new(format!("(void *)({})", sum.text), 15, CType::Other).reading(&[&sum]),
            false => sum,
        })
    }

    /// Whether no partial sum exceeds the whole sum. Then a pointer that ends in an object never leaves it on the way.
    /// C forbids a pointer to leave its object, even if the next step leads back.
    fn only_grows(&self, terms: &[(Operand, i64)], offset: i64) -> bool {
        terms.len() + usize::from(offset != 0) < 2
            || offset >= 0 && terms.iter().all(|(index, scale)| *scale >= 0 && self.is_never_negative(index))
    }

    /// `first + 4 * i + 8`
    fn sum(
        &mut self,
        first: Option<Expr>,
        terms: &[(Operand, i64)],
        offset: i64,
        index_of: fn(&mut Self, &Operand) -> Text,
    ) -> Text {
        let mut sum = first;
        for (index, scale) in terms {
            let index = index_of(self, index)?;
            let term = match scale.unsigned_abs() {
                1 => index,
                by => Expr::new(format!("{by} * {}", index.at(14)), 13, CType::Other).reading(&[&index]),
            };
            let level = if *scale < 0 { 13 } else { 12 };
            sum = Some(match (sum, *scale < 0) {
                (None, false) => term,
                (None, true) => Expr::new(format!("-{}", term.at(14)), 14, CType::Other).reading(&[&term]),
                (Some(sum), is_negative) => {
                    let sign = if is_negative { '-' } else { '+' };
                    Expr::new(format!("{} {sign} {}", sum.at(12), term.at(level)), 12, CType::Other)
                        .reading(&[&sum, &term])
                }
            });
        }
        let Some(mut sum) = sum else { return Ok(Expr::new(offset.to_string(), 14, CType::Other)) };
        if offset != 0 {
            let sign = if offset < 0 { '-' } else { '+' };
            sum.text = format!("{} {sign} {}", sum.at(12), offset.unsigned_abs());
            sum.level = 12;
        }
        Ok(sum)
    }

    /// Adds the constant offsets in a base to `offset`, and gives the base without them.
    fn with_offset(&self, base: &Operand, offset: &mut i64) -> Operand {
        match base {
            Operand::Const(Const::Global(id, more)) => {
                *offset = offset.wrapping_add(*more);
                Operand::Const(Const::Global(*id, 0))
            }
            Operand::Value(value) if self.plan.folded[value.0 as usize] => {
                match self.plan.op(self.body, *value) {
                    Some(Op::Address { base, offset: more, terms }) if terms.is_empty() => {
                        *offset = offset.wrapping_add(*more);
                        self.with_offset(base, offset)
                    }
                    _ => base.clone(),
                }
            }
            _ => base.clone(),
        }
    }

    /// An index. It has a signed type unless it can't be negative, because C converts nothing when it adds an index to
    /// a pointer.
    fn index(&mut self, index: &Operand) -> Text {
        if self.is_never_negative(index) {
            return self.expr(index, Want::Exact);
        }
        self.signed_index(index)
    }

    /// An index of a signed type, also for sums in which a term is subtracted.
    fn signed_index(&mut self, index: &Operand) -> Text {
        let signed = self.signed(index)?;
        match signed.ty == CType::Signed(64) || matches!(index, Operand::Const(_)) {
            true => Ok(signed),
            // The multiplication is in 64 bits, as in the IR.
            false => {
                Ok(Expr::new(format!("(int64_t){}", signed.at(15)), 15, CType::Signed(64))
                    .reading(&[&signed]))
            }
        }
    }

    fn is_never_negative(&self, index: &Operand) -> bool {
        let Operand::Value(value) = index else { return false };
        if self.body.type_of(index) != Type::WORD {
            return false;
        }
        if self.counters.contains(&(value.0 as usize)) {
            return true;
        }
        match self.plan.op(self.body, *value) {
            Some(Op::Cast(crate::ir::Cast::ZExt, _)) => true,
            Some(Op::Binary(crate::ir::Binary::And, _, Operand::Const(Const::Int { value, .. }))) => {
                *value >> 62 == 0
            }
            Some(Op::Binary(crate::ir::Binary::LShr, _, Operand::Const(Const::Int { value, .. }))) => {
                *value > 0
            }
            _ => false,
        }
    }

    /// The variable, global variable or element of one at an address, if the access covers it whole and has its type.
    pub fn place(&mut self, address: &Operand, ty: &Type) -> Result<Option<Expr>, String> {
        if matches!(ty, Type::Int(bits) if container(*bits) != *bits) || !ty.is_scalar() {
            return Ok(None);
        }
        if let Operand::Value(value) = address
            && self.plan.scalars.contains_key(&(value.0 as usize))
        {
            let variable = self.variables.of(value.0 as usize);
            let mut expr = Expr::new(self.names[variable].clone(), 16, CType::Other);
            expr.reads.insert(variable);
            return Ok(Some(expr));
        }
        let mut offset = 0;
        let (base, terms) = self.parts(address, &mut offset);
        let Operand::Const(Const::Global(id, _)) = base else { return Ok(None) };
        let global = &self.module.globals[id.0 as usize];
        let name = self.symbols.global(id);
        if self.symbols.is_bytes(id) {
            return Ok(None);
        }
        match (&global.ty, terms.as_slice()) {
            (whole, []) if whole == ty && offset == 0 => Ok(Some(Expr::new(name, 16, CType::Other))),
            (Type::Array(count, element), terms) if **element == *ty && terms.len() <= 1 => {
                let size = ty.layout().size as i64;
                if offset % size != 0 || terms.iter().any(|(_, scale)| *scale != size) {
                    return Ok(None);
                }
                let at = offset / size;
                let Some((index, _)) = terms.first() else {
                    let within = u64::try_from(at).is_ok_and(|at| at < *count);
                    return Ok(within.then(|| Expr::new(format!("{name}[{at}]"), 16, CType::Other)));
                };
                let index = self.index(index)?;
                let text = match at {
                    0 => index.text.clone(),
                    1.. => format!("{} + {at}", index.at(12)),
                    _ => format!("{} - {}", index.at(12), at.unsigned_abs()),
                };
                Ok(Some(Expr::new(format!("{name}[{text}]"), 16, CType::Other).reading(&[&index])))
            }
            _ => Ok(None),
        }
    }

    /// A base and its terms, collected through folded addresses.
    fn parts(&self, address: &Operand, offset: &mut i64) -> (Operand, Vec<(Operand, i64)>) {
        let mut terms = Vec::new();
        let mut base = self.with_offset(address, offset);
        while let Operand::Value(value) = base
            && self.plan.folded[value.0 as usize]
            && let Some(Op::Address { base: inner, offset: more, terms: its }) =
                self.plan.op(self.body, value)
        {
            *offset = offset.wrapping_add(*more);
            terms.splice(0..0, its.iter().cloned());
            base = self.with_offset(inner, offset);
        }
        (base, terms)
    }

    /// An address for reading only: a constant variable needs no cast then.
    pub fn source(&mut self, address: &Operand) -> Text {
        match address {
            Operand::Const(Const::Global(id, 0)) => Ok(Expr::new(self.symbols.bare(*id), 15, CType::Other)),
            _ => self.expr(address, Want::Exact),
        }
    }

    /// A structure or array with replaced members, as a compound literal.
    pub fn structure(&mut self, op: &Op, ty: &Type) -> Text {
        let mut changes: Vec<(Vec<u32>, Operand)> = Vec::new();
        let mut op = op;
        let base = loop {
            let Op::InsertValue(from, value, path) = op else { return Err("a malformed insertvalue".into()) };
            changes.push((path.clone(), value.clone()));
            match from {
                Operand::Value(value) if self.plan.folded[value.0 as usize] => {
                    match self.plan.op(self.body, *value) {
                        Some(next @ Op::InsertValue(..)) => op = next,
                        _ => break from.clone(),
                    }
                }
                _ => break from.clone(),
            }
        };
        let name = self.prelude.name(ty)?;
        let mut literal = Expr::new(String::new(), 16, CType::Other);
        // `changes` begins with the latest: the first change found for a field is the one that holds.
        self.write_members(ty, &base, &mut Vec::new(), &changes, &mut literal)?;
        literal.text = format!("({name}){}", literal.text);
        Ok(literal)
    }

    fn write_members(
        &mut self,
        ty: &Type,
        base: &Operand,
        path: &mut Vec<u32>,
        changes: &[(Vec<u32>, Operand)],
        to: &mut Expr,
    ) -> Result<(), String> {
        let changed = changes.iter().find(|(changed, _)| path.starts_with(changed));
        if let Some((changed, value)) = changed {
            let value = match path.len() - changed.len() {
                0 => self.expr(value, Want::Modulo)?,
                _ => {
                    let from = self.expr(value, Want::Exact)?;
                    let (rest, _) = member_path(&self.body.type_of(value), &path[changed.len()..])?;
                    Expr::new(format!("{}{rest}", from.at(16)), 16, CType::Other).reading(&[&from])
                }
            };
            to.text.push_str(&value.text);
            to.reads.extend(value.reads);
            return Ok(());
        }
        if changes.iter().any(|(changed, _)| changed.starts_with(path)) {
            // An array is a structure with one member `e`, which holds the elements.
            let (open, close) = if matches!(ty, Type::Array(..)) { ("{ { ", " } }") } else { ("{ ", " }") };
            to.text.push_str(open);
            for at in 0..member_count(ty) {
                if at > 0 {
                    to.text.push_str(", ");
                }
                path.push(at);
                let (_, member) = member_path(ty, &[at])?;
                self.write_members(&member, base, path, changes, to)?;
                path.pop();
            }
            to.text.push_str(close);
            return Ok(());
        }
        if let Operand::Const(constant) = base {
            let member = path.iter().try_fold(constant.clone(), |constant, &at| member_of(&constant, at));
            let text = match member {
                Some(member) if member.ty().is_scalar() => {
                    self.expr(&Operand::Const(member), Want::Modulo)?.text
                }
                Some(member) => self.members(&member)?,
                None => "0".to_string(),
            };
            to.text.push_str(&text);
            return Ok(());
        }
        let from = self.expr(base, Want::Exact)?;
        let (text, _) = member_path(&self.body.type_of(base), path)?;
        to.text.push_str(&format!("{}{text}", from.at(16)));
        to.reads.extend(from.reads);
        Ok(())
    }

    /// The members of a constant, in braces.
    pub fn members(&mut self, constant: &Const) -> Result<String, String> {
        let count = member_count(&constant.ty());
        let mut parts = Vec::new();
        for at in 0..count {
            let member = member_of(constant, at).ok_or("a constant of too few members")?;
            parts.push(match member.ty().is_scalar() {
                true => self.expr(&Operand::Const(member), Want::Modulo)?.text,
                false => self.members(&member)?,
            });
        }
        let parts = parts.join(", ");
        Ok(match constant.ty() {
            Type::Array(..) => format!("{{ {{ {parts} }} }}"),
            _ => format!("{{ {parts} }}"),
        })
    }

    /// Whether a value is stack memory with a name of its own.
    pub fn is_local(&self, value: ValueId) -> bool {
        matches!(
            self.plan.op(self.body, value),
            Some(Op::Alloca { count: Operand::Const(Const::Int { .. }), .. })
        ) && self.plan.definition[value.0 as usize].is_some_and(|(block, _)| block == 0)
    }
}

fn member_count(ty: &Type) -> u32 {
    match ty {
        Type::Struct { fields, .. } => fields.len() as u32,
        Type::Array(count, _) => *count as u32,
        _ => 0,
    }
}

/// A member of a constant; `None` if it has no such member.
pub(super) fn member_of(constant: &Const, at: u32) -> Option<Const> {
    match constant {
        Const::Aggregate(_, members) => members.get(at as usize).cloned(),
        Const::Bytes(bytes) => bytes.get(at as usize).map(|&byte| Const::int(8, byte.into())),
        Const::Zero(ty) => member_path(ty, &[at]).ok().map(|(_, ty)| Const::Zero(ty)),
        Const::Undef(ty) => member_path(ty, &[at]).ok().map(|(_, ty)| Const::Undef(ty)),
        _ => None,
    }
}
