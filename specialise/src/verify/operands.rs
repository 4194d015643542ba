//! Checks the types of the operands of operations and terminators.

use super::fault::{Fault, Place, Subject};
use super::types::{converts, element, is_float, is_int, is_ptr, part, truth};
use crate::ir::{Binary, BlockId, Const, Op, Operand, Terminator, Type};
use std::collections::HashSet;

pub(super) fn verify(subject: &Subject) -> Result<(), Fault> {
    for (place, instruction) in subject.instructions() {
        let wrong = |what| subject.fault(place, what);
        instruction.op.operands().try_for_each(constant).map_err(wrong)?;
        Check { subject }.operation(&instruction.op, &instruction.ty).map_err(wrong)?;
    }
    for (at, block) in subject.body.blocks.iter().enumerate() {
        let wrong = |what| subject.fault(Place::Terminator(BlockId(at as u32)), what);
        block.terminator.operand().into_iter().try_for_each(constant).map_err(wrong)?;
        Check { subject }.terminator(&block.terminator).map_err(wrong)?;
    }
    Ok(())
}

/// Checks one instruction or terminator at a time.
struct Check<'a> {
    subject: &'a Subject<'a>,
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

impl Check<'_> {
    fn of(&self, operand: &Operand) -> Type {
        self.subject.body.type_of(operand)
    }

    /// Checks that an operand has a type.
    fn is(&self, operand: &Operand, ty: &Type) -> Result<(), String> {
        let found = self.of(operand);
        require(found == *ty, || format!("{} is {found}, not {ty}", self.subject.operand(operand)))
    }

    /// Checks that all operands have a type, and that this is a type of the required kind.
    fn all(&self, operands: &[&Operand], ty: &Type, kind: fn(&Type) -> bool) -> Result<(), String> {
        operands.iter().try_for_each(|operand| self.is(operand, ty))?;
        require(kind(ty), || format!("it is not defined for {ty}"))
    }

    fn gives(&self, ty: &Type, due: &Type) -> Result<(), String> {
        require(ty == due, || format!("it gives {due}, not {ty}"))
    }

    fn index(&self, operand: &Operand) -> Result<(), String> {
        let ty = self.of(operand);
        require(matches!(ty, Type::Int(_)), || format!("a count or index is {ty}, no integer"))
    }

    fn operation(&self, op: &Op, ty: &Type) -> Result<(), String> {
        let value = |ty: &Type| *ty != Type::Void;
        match op {
            Op::Binary(operation, a, b) => self.all(
                &[a, b],
                ty,
                match operation {
                    Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv | Binary::FRem => is_float,
                    _ => is_int,
                },
            ),
            Op::FNeg(a) => self.all(&[a], ty, is_float),
            Op::Compare(_, a, b) => {
                self.all(&[a, b], &self.of(a), |ty| is_int(ty) || is_ptr(ty))?;
                self.gives(ty, &truth(&self.of(a)))
            }
            Op::FloatCompare(_, a, b) => {
                self.all(&[a, b], &self.of(a), is_float)?;
                self.gives(ty, &truth(&self.of(a)))
            }
            Op::Cast(cast, a) => {
                let from = self.of(a);
                require(converts(*cast, &from, ty), || format!("it does not convert {from} to {ty}"))
            }
            Op::Select(condition, a, b) => {
                self.all(&[a, b], ty, value)?;
                let by = self.of(condition);
                require(by == Type::Int(1) || by == truth(ty), || format!("its condition is {by}"))
            }
            Op::Freeze(a) => self.all(&[a], ty, value),
            Op::Load { from, align, .. } => {
                self.is(from, &Type::Ptr)?;
                require(value(ty), || "it gives nothing".into())?;
                alignment(*align)
            }
            Op::Store { value: stored, to, align, .. } => {
                self.is(to, &Type::Ptr)?;
                require(value(&self.of(stored)), || "it stores nothing".into())?;
                alignment(*align)
            }
            Op::Alloca { count, align, .. } => {
                self.index(count)?;
                self.gives(ty, &Type::Ptr)?;
                alignment(*align)
            }
            Op::Address { base, terms, .. } => {
                require(is_ptr(&self.of(base)), || {
                    format!("an address begins at {}, no pointer", self.of(base))
                })?;
                require(is_ptr(ty), || format!("it gives a pointer, not {ty}"))?;
                let index = |ty: &Type| matches!(element(ty), Type::Int(bits) if *bits <= 64);
                terms.iter().map(|(index, _)| self.of(index)).try_for_each(|found| {
                    require(index(&found), || format!("an index is {found}, no integer of at most 64 bits"))
                })
            }
            Op::Call { callee, args, variadic, attributes } => {
                self.is(callee, &Type::Ptr)?;
                args.iter()
                    .try_for_each(|arg| require(value(&self.of(arg)), || "an argument is void".into()))?;
                let said = attributes.params.len().max(variadic.unwrap_or(0));
                require(said <= args.len(), || {
                    format!("it passes {} of at least {said} arguments", args.len())
                })
            }
            Op::Phi(inputs) => {
                self.all(&inputs.iter().map(|(input, _)| input).collect::<Vec<_>>(), ty, value)
            }
            Op::ExtractValue(whole, path) => {
                let found = part(&self.of(whole), path).filter(|_| !path.is_empty());
                require(found.is_some(), || format!("{} has no part {path:?}", self.of(whole)))?;
                self.gives(ty, &found.unwrap_or(Type::Void))
            }
            Op::InsertValue(whole, new, path) => {
                self.is(whole, ty)?;
                let found = part(ty, path).filter(|_| !path.is_empty());
                require(found.is_some(), || format!("{ty} has no part {path:?}"))?;
                self.is(new, &found.unwrap_or(Type::Void))
            }
            Op::ExtractElement(vector, index) => {
                let found = self.of(vector);
                require(matches!(found, Type::Vector(..)), || format!("{found} is no vector"))?;
                self.gives(ty, element(&found))?;
                self.index(index)
            }
            Op::InsertElement(vector, new, index) => {
                self.all(&[vector], ty, |ty| matches!(ty, Type::Vector(..)))?;
                self.is(new, element(ty))?;
                self.index(index)
            }
            Op::Shuffle(a, b, order) => {
                let found = self.of(a);
                self.all(&[a, b], &found, |ty| matches!(ty, Type::Vector(..)))?;
                self.gives(ty, &Type::Vector(order.len() as u32, element(&found).clone().into()))
            }
            Op::AtomicUpdate(_, at, value) => {
                self.is(at, &Type::Ptr)?;
                self.all(&[value], ty, Type::is_scalar)
            }
            Op::CompareExchange(at, expected, new) => {
                self.is(at, &Type::Ptr)?;
                let found = self.of(expected);
                self.all(&[expected, new], &found, Type::is_scalar)?;
                self.gives(ty, &Type::Struct { fields: [found, Type::Int(1)].into(), packed: false })
            }
            Op::Fence => self.gives(ty, &Type::Void),
        }
    }

    fn terminator(&self, terminator: &Terminator) -> Result<(), String> {
        let due = &self.subject.function.result;
        match terminator {
            Terminator::Return(None) => require(*due == Type::Void, || format!("the function gives {due}")),
            Terminator::Return(Some(value)) => self.is(value, due),
            Terminator::Branch(condition, ..) => self.is(condition, &Type::Int(1)),
            Terminator::Switch(value, _, cases) => {
                let Type::Int(bits) = self.of(value) else {
                    return Err(format!("it switches by {}, no integer", self.of(value)));
                };
                let mut seen = HashSet::new();
                cases.iter().try_for_each(|(case, _)| {
                    require(Const::int(bits, *case) == Const::Int { bits, value: *case }, || {
                        format!("the case {case} has more than {bits} bits")
                    })?;
                    require(seen.insert(*case), || format!("the case {case} is there twice"))
                })
            }
            Terminator::Jump(_) | Terminator::Unreachable => Ok(()),
        }
    }
}

fn alignment(align: u64) -> Result<(), String> {
    require(align.is_power_of_two(), || format!("an alignment of {align} is no power of two"))
}

/// Checks that the parts of a constant have the types that it states.
fn constant(operand: &Operand) -> Result<(), String> {
    match operand {
        Operand::Const(constant) => parts(constant),
        Operand::Value(_) => Ok(()),
    }
}

fn parts(constant: &Const) -> Result<(), String> {
    match constant {
        Const::Int { bits, value } => require(Const::int(*bits, *value) == *constant, || {
            format!("the constant {value} has more than {bits} bits")
        }),
        Const::Aggregate(ty, fields) => {
            let due = |at: usize| match ty {
                Type::Struct { fields, .. } => fields.get(at),
                Type::Array(_, element) | Type::Vector(_, element) => Some(&**element),
                _ => None,
            };
            let count = match ty {
                Type::Struct { fields, .. } => fields.len() as u64,
                Type::Array(count, _) => *count,
                Type::Vector(count, _) => u64::from(*count),
                _ => 0,
            };
            let fits = |(at, field): (usize, &Const)| due(at) == Some(&field.ty());
            require(fields.len() as u64 == count && fields.iter().enumerate().all(fits), || {
                format!("a constant {ty} is made of other parts")
            })?;
            fields.iter().try_for_each(parts)
        }
        Const::Address(_, inner) => {
            require(inner.ty() == Type::Ptr, || "a constant takes the address of no pointer".into())?;
            parts(inner)
        }
        Const::Pointer(inner) => {
            require(matches!(inner.ty(), Type::Int(_)), || "a constant pointer is of no integer".into())?;
            parts(inner)
        }
        _ => Ok(()),
    }
}
