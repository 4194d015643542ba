//! C library functions and LLVM intrinsics that are evaluated here, because their meaning is fixed.

use super::Machine;
use super::operands::Leak;
use crate::evaluate::arithmetic::binary;
use crate::evaluate::facts::Facts;
use crate::evaluate::memory::Held;
use crate::evaluate::objects::Site;
use crate::evaluate::stop::Stop;
use crate::evaluate::value::Value;
use crate::ir::{Binary, Cast, Compare, Const, Instruction, Op, Operand, Type, signed};

/// The C library functions that are evaluated here.
const LIBRARY: [&str; 12] = [
    "memcpy", "memmove", "memset", "memcmp", "bcmp", "bcopy", "bzero", "strlen", "strcmp", "malloc",
    "calloc", "free",
];

impl Machine<'_> {
    /// A library function or intrinsic; `None` if the call is of another function, or can't be evaluated here.
    pub fn library(
        &mut self,
        facts: &mut Facts,
        site: Site,
        instruction: &Instruction,
        name: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let nothing = Value::undef(&Type::Int(1));
        if let Some(intrinsic) = name.strip_prefix("llvm.") {
            return self.llvm(facts, instruction, intrinsic, args);
        }
        if !LIBRARY.contains(&name) || self.program.is_defined(name) {
            return Ok(None);
        }
        let size = |at: usize| args.get(at).and_then(Value::known_int).map(|n| n as u64);
        match (name, args) {
            ("memcpy" | "memmove", [to, from, size]) => {
                self.copy_bytes(facts, to, from, size)?;
                Ok(Some(to.clone()))
            }
            ("bcopy", [from, to, size]) => {
                self.copy_bytes(facts, to, from, size)?;
                Ok(Some(nothing))
            }
            ("memset", [to, byte, size]) => {
                let byte = self.cast(facts, Cast::Trunc, byte.clone(), &Type::Int(8))?;
                self.set_bytes(facts, to, &byte, size)?;
                Ok(Some(to.clone()))
            }
            ("bzero", [to, size]) => {
                self.set_bytes(facts, to, &Value::int(8, 0), size)?;
                Ok(Some(nothing))
            }
            ("strlen", [text]) => {
                Ok(self.known_string(facts, text).map(|text| Value::int(64, text.len() as u128)))
            }
            ("memcmp" | "bcmp", [a, b, _]) => {
                let Some(size) = size(2).filter(|size| *size <= 256) else { return Ok(None) };
                if size == 0 {
                    return Ok(Some(Value::int(32, 0)));
                }
                let (Some(a), Some(b)) = (self.known_text(facts, a, size), self.known_text(facts, b, size))
                else {
                    return Ok(None);
                };
                Ok(Some(Value::int(32, a.cmp(&b) as i32 as u128)))
            }
            ("strcmp", [a, b]) => {
                let (Some(a), Some(b)) = (self.known_string(facts, a), self.known_string(facts, b)) else {
                    return Ok(None);
                };
                Ok(Some(Value::int(32, a.cmp(&b) as i32 as u128)))
            }
            ("malloc", [_]) => self.allocate(facts, site, instruction, args, size(0), None),
            ("calloc", [_, _]) => {
                let bytes = size(0).zip(size(1)).and_then(|(count, size)| count.checked_mul(size));
                self.allocate(facts, site, instruction, args, bytes, Some(0))
            }
            ("free", [pointer]) => self.free(facts, instruction, pointer),
            _ => Ok(None),
        }
    }

    /// The bytes at a place, if all of them are known.
    fn known_text(&mut self, facts: &mut Facts, at: &Value, size: u64) -> Option<Vec<u8>> {
        let Value::Pointer(object, offset) = at else { return None };
        self.ensure(facts, *object);
        let contents = facts.memory.get(*object)?;
        let mut bytes = Vec::new();
        for (_, size, held) in contents.pieces(u64::try_from(*offset).ok()?, size) {
            for byte in 0..size {
                bytes.push(match held.as_ref()? {
                    Held::Fill(byte) => *byte,
                    Held::Value(value, start) => value.known_byte(start + byte as u32)?,
                    Held::Copy(..) => return None,
                });
            }
        }
        Some(bytes)
    }

    fn known_string(&mut self, facts: &mut Facts, at: &Value) -> Option<Vec<u8>> {
        let Value::Pointer(object, offset) = *at else { return None };
        let mut text = Vec::new();
        loop {
            let byte = self.known_text(facts, &Value::Pointer(object, offset + text.len() as i64), 1)?[0];
            if byte == 0 {
                return Some(text);
            }
            text.push(byte);
        }
    }

    /// Copies bytes: evaluated if their number and places are known, otherwise as residual code.
    pub fn copy_bytes(
        &mut self,
        facts: &mut Facts,
        to: &Value,
        from: &Value,
        size: &Value,
    ) -> Result<(), Stop> {
        if let Some(size) = size.known_int() {
            let known = size as u64;
            if size == 0 || self.copy(facts, to, from, known)? || self.copy_out(facts, to, from, known)? {
                return Ok(());
            }
        }
        self.before_write(facts, to, size.known_int().map(|n| n as u64))?;
        for pointer in [to, from] {
            if let Some(object) = self.pointee(pointer) {
                self.materialise(facts, object)?;
            }
        }
        let name = match (self.pointee(to), self.pointee(from)) {
            (Some(a), Some(b)) if a != b && !self.objects.may_overlap(a, b) => "memcpy",
            _ => "memmove",
        };
        let operands = vec![
            self.operand(facts, to, &Type::Ptr, Leak::No)?,
            self.operand(facts, from, &Type::Ptr, Leak::No)?,
            self.operand(facts, size, &Type::WORD, Leak::No)?,
        ];
        self.emit_memory_call(facts, name, operands);
        self.after_write(facts, to, size.known_int().map_or(u64::MAX, |n| n as u64));
        Ok(())
    }

    /// Sets bytes: evaluated if their number, place and value are known, otherwise as residual code.
    fn set_bytes(&mut self, facts: &mut Facts, to: &Value, byte: &Value, size: &Value) -> Result<(), Stop> {
        if let (Some(byte), Some(size)) = (byte.known_int(), size.known_int())
            && (size == 0 || self.fill(facts, to, byte as u8, size as u64)?)
        {
            return Ok(());
        }
        self.before_write(facts, to, size.known_int().map(|n| n as u64))?;
        if let Some(object) = self.pointee(to) {
            self.materialise(facts, object)?;
        }
        let operands = vec![
            self.operand(facts, to, &Type::Ptr, Leak::No)?,
            self.operand(facts, byte, &Type::Int(8), Leak::No)?,
            self.operand(facts, size, &Type::WORD, Leak::No)?,
        ];
        self.emit_memory_call(facts, "memset", operands);
        self.after_write(facts, to, size.known_int().map_or(u64::MAX, |n| n as u64));
        Ok(())
    }

    /// Memory of known size from the allocator. It is followed like a local variable until its address escapes.
    fn allocate(
        &mut self,
        facts: &mut Facts,
        site: Site,
        instruction: &Instruction,
        args: &[Value],
        size: Option<u64>,
        filled: Option<u8>,
    ) -> Result<Option<Value>, Stop> {
        let Some(size) = size.filter(|size| *size > 0 && *size < 1 << 24) else { return Ok(None) };
        let Op::Call { callee, attributes, .. } = &instruction.op else { return Ok(None) };
        let Operand::Const(callee) = callee else { return Ok(None) };
        let mut operands = Vec::new();
        for arg in args {
            operands.push(self.operand(facts, arg, &Type::WORD, Leak::No)?);
        }
        let op = Op::Call {
            callee: Operand::Const(callee.clone()),
            args: operands,
            variadic: None,
            attributes: attributes.clone(),
        };
        let base = self.emit(facts, Type::Ptr, op);
        let object = self.allocated(facts, site, size, filled, base);
        Ok(Some(Value::Pointer(object, 0)))
    }

    fn free(
        &mut self,
        facts: &mut Facts,
        instruction: &Instruction,
        pointer: &Value,
    ) -> Result<Option<Value>, Stop> {
        let Value::Pointer(object, 0) = *pointer else { return Ok(None) };
        if !self.objects.origin(object).allocated || facts.memory.get(object).is_none() {
            return Ok(None);
        }
        let Op::Call { callee: Operand::Const(callee), attributes, .. } = &instruction.op else {
            return Ok(None);
        };
        let base = self.base(facts, object);
        self.end_of_life(facts, object)?;
        let op = Op::Call {
            callee: Operand::Const(callee.clone()),
            args: vec![base],
            variadic: None,
            attributes: attributes.clone(),
        };
        self.effect(facts, op);
        Ok(Some(Value::undef(&Type::Int(1))))
    }

    fn llvm(
        &mut self,
        facts: &mut Facts,
        instruction: &Instruction,
        name: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let ty = &instruction.ty;
        let nothing = Some(Value::undef(&Type::Int(1)));
        let base = name.split('.').next().unwrap_or(name);
        match (base, args) {
            ("memcpy" | "memmove", [to, from, size, volatile]) if volatile.known_int() == Some(0) => {
                self.copy_bytes(facts, to, from, size)?;
                return Ok(nothing);
            }
            ("memset", [to, byte, size, volatile]) if volatile.known_int() == Some(0) => {
                self.set_bytes(facts, to, byte, size)?;
                return Ok(nothing);
            }
            ("lifetime", _) => {
                let Some(Value::Pointer(object, 0)) = args.last() else { return Ok(nothing) };
                if facts.memory.get(*object).is_some_and(|contents| !contents.real) {
                    let object = *object;
                    if let Some(contents) = facts.memory.get_mut(object) {
                        contents.cells.edit(|cells| cells.clear());
                    }
                }
                return Ok(nothing);
            }
            ("assume" | "dbg" | "experimental" | "donothing" | "invariant" | "prefetch" | "var", _) => {
                return Ok(nothing);
            }
            ("expect", [value, ..]) => return Ok(Some(value.clone())),
            ("is", _) if name.starts_with("is.constant") => {
                return Ok(Some(Value::bool(args.iter().all(Value::is_static))));
            }
            ("objectsize", [pointer, least, ..]) => return Ok(Some(self.object_size(pointer, least, ty))),
            ("stacksave" | "stackrestore", _) => return Ok(Some(Value::Const(Const::Null))),
            _ => {}
        }
        self.pure_intrinsic(facts, name, base, args, ty)
    }

    fn object_size(&self, pointer: &Value, least: &Value, ty: &Type) -> Value {
        let Type::Int(bits) = *ty else { return Value::undef(ty) };
        let known = match pointer {
            Value::Pointer(object, offset) => self
                .objects
                .origin(*object)
                .size
                .and_then(|size| size.checked_sub(u64::try_from(*offset).ok()?)),
            _ => None,
        };
        match known {
            Some(size) => Value::int(bits, u128::from(size)),
            None if least.known_int() == Some(1) => Value::int(bits, 0),
            None => Value::int(bits, u128::MAX),
        }
    }

    /// Intrinsics whose result depends only on their arguments.
    fn pure_intrinsic(
        &mut self,
        facts: &mut Facts,
        name: &str,
        base: &str,
        args: &[Value],
        ty: &Type,
    ) -> Result<Option<Value>, Stop> {
        let Some(first) = args.first() else { return Ok(None) };
        let first_ty = self.type_of(first);
        if let Type::Int(bits) = first_ty {
            let known: Option<Vec<u128>> = args.iter().map(Value::known_int).collect();
            if let Some(known) = known
                && let Some(result) = known_intrinsic(name, base, bits, &known, ty)
            {
                return Ok(Some(result));
            }
            if let [a, b] = args
                && let Some(compare) = comparison(base)
            {
                if a == b {
                    return Ok(Some(a.clone()));
                }
                // A comparison handles known addresses and other static values.
                if a.is_static() && b.is_static() {
                    let holds = self.compare(facts, compare, a.clone(), b.clone(), &first_ty)?;
                    return Ok(Some(self.select(facts, holds, a.clone(), b.clone(), &first_ty)?));
                }
            }
        }
        if let ("fabs" | "sqrt", Value::Const(Const::Double(bits))) = (base, first) {
            let value = f64::from_bits(*bits);
            let value = if base == "fabs" { value.abs() } else { value.sqrt() };
            return Ok(Some(Value::Const(Const::Double(value.to_bits()))));
        }
        Ok(None)
    }
}

fn comparison(intrinsic: &str) -> Option<Compare> {
    Some(match intrinsic {
        "smax" => Compare::Sgt,
        "smin" => Compare::Slt,
        "umax" => Compare::Ugt,
        "umin" => Compare::Ult,
        _ => return None,
    })
}

/// An intrinsic on known integers of this many bits.
fn known_intrinsic(name: &str, base: &str, bits: u32, args: &[u128], ty: &Type) -> Option<Value> {
    let reversed = |value: u128| value.swap_bytes() >> (128 - bits);
    let value = match (base, args) {
        ("bswap", [a]) => reversed(*a),
        ("bitreverse", [a]) => a.reverse_bits() >> (128 - bits),
        ("ctpop", [a]) => u128::from(a.count_ones()),
        ("ctlz", [a, _]) => u128::from(a.leading_zeros() - (128 - bits)),
        ("cttz", [a, _]) => u128::from(a.trailing_zeros().min(bits)),
        ("abs", [a, _]) => signed(bits, *a).unsigned_abs(),
        ("smax" | "smin" | "umax" | "umin", [a, b]) => {
            if comparison(base)?.holds(bits, *a, *b) {
                *a
            } else {
                *b
            }
        }
        ("fshl", [a, b, by]) => {
            let by = by % u128::from(bits);
            if by == 0 { *a } else { a << by | b >> (u128::from(bits) - by) }
        }
        ("fshr", [a, b, by]) => {
            let by = by % u128::from(bits);
            if by == 0 { *b } else { a << (u128::from(bits) - by) | b >> by }
        }
        ("uadd" | "usub" | "umul" | "sadd" | "ssub" | "smul", [a, b]) if name.contains("with.overflow") => {
            let op = match &base[1..] {
                "add" => Binary::Add,
                "sub" => Binary::Sub,
                _ => Binary::Mul,
            };
            let result = binary(op, bits, *a, *b)?;
            let overflow = if base.starts_with('u') {
                match op {
                    Binary::Add => a.checked_add(*b),
                    Binary::Sub => a.checked_sub(*b),
                    _ => a.checked_mul(*b),
                }
                .is_none_or(|exact| exact != result)
            } else {
                let (a, b) = (signed(bits, *a), signed(bits, *b));
                match op {
                    Binary::Add => a.checked_add(b),
                    Binary::Sub => a.checked_sub(b),
                    _ => a.checked_mul(b),
                }
                .is_none_or(|exact| exact != signed(bits, result))
            };
            return Some(Value::Aggregate([Value::int(bits, result), Value::bool(overflow)].into()));
        }
        _ => return None,
    };
    let Type::Int(width) = ty else { return None };
    Some(Value::int(*width, value))
}
