//! LLVM's intrinsic functions that C code needs.

use crate::error::{Attempt, refuse};
use crate::translation::Translation;
use crate::{abi, shape};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, TrapCode, Value, types};
use drystone_specialise::ir::{Binary, Const, Operand, Type};

/// The name of an intrinsic without the types that it is for.
fn root(name: &str) -> &str {
    let mut root = name;
    while let Some((before, last)) = root.rsplit_once('.') {
        let mut letters = last.chars();
        let is_type = matches!(letters.next(), Some('i' | 'f' | 'p' | 'v'))
            && letters.next().is_some_and(|letter| letter.is_ascii_digit());
        if !is_type {
            break;
        }
        root = before;
    }
    root
}

impl Translation<'_, '_, '_> {
    /// A call of an intrinsic, whose name is given without `llvm.`; gives the scalars of the result.
    pub fn intrinsic(&mut self, name: &str, result: &Type, args: &[Operand]) -> Attempt<Vec<Value>> {
        let root = root(name);
        match root {
            "assume"
            | "donothing"
            | "prefetch"
            | "var.annotation"
            | "lifetime.start"
            | "lifetime.end"
            | "invariant.end"
            | "experimental.noalias.scope.decl"
            | "sideeffect"
            | "pseudoprobe" => Ok(Vec::new()),
            _ if root.starts_with("dbg.") => Ok(Vec::new()),
            "memcpy" | "memcpy.inline" => self.copy("memcpy", args).map(|()| Vec::new()),
            "memmove" => self.copy("memmove", args).map(|()| Vec::new()),
            "memset" | "memset.inline" => self.fill(args).map(|()| Vec::new()),
            "trap" | "debugtrap" | "ubsantrap" => {
                self.trap();
                Ok(Vec::new())
            }
            _ => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(self.scalar(arg)?);
                }
                let bits = match args.first().map(|arg| self.body.type_of(arg)) {
                    Some(Type::Int(bits)) => bits,
                    _ => 64,
                };
                if let Some(operation) = root.strip_suffix(".with.overflow") {
                    return self.with_overflow(operation, bits, &values);
                }
                match (root, &values[..]) {
                    ("expect", [a, _]) | ("expect.with.probability", [a, _, _]) => Ok(vec![*a]),
                    (
                        "ssa.copy"
                        | "launder.invariant.group"
                        | "strip.invariant.group"
                        | "threadlocal.address",
                        [a],
                    ) => Ok(vec![*a]),
                    ("ptr.annotation" | "annotation", [a, ..]) => Ok(vec![*a]),
                    ("ptrmask", [a, mask]) => Ok(vec![self.builder.ins().band(*a, *mask)]),
                    ("invariant.start", _) => Ok(vec![self.number(types::I64, 0)]),
                    ("is.constant", [_]) => Ok(vec![self.number(types::I8, 0)]),
                    ("objectsize", [_, ..]) => self.unknown_size(result, args).map(|size| vec![size]),
                    _ if matches!(result, Type::Float | Type::Double) => {
                        self.float_function(root, result, &values).map(|value| vec![value])
                    }
                    _ => self.int_function(root, bits, result, &values).map(|value| vec![value]),
                }
            }
        }
    }

    /// Stops the program; what follows is never reached, but has to stand somewhere.
    fn trap(&mut self) {
        self.builder.ins().trap(TrapCode::unwrap_user(1));
        let rest = self.builder.create_block();
        self.builder.set_cold_block(rest);
        self.builder.switch_to_block(rest);
    }

    /// Nothing is known of the size of what a pointer leads to: it has at most all bytes, and at least none.
    fn unknown_size(&mut self, result: &Type, args: &[Operand]) -> Attempt<Value> {
        let least = matches!(args.get(1), Some(Operand::Const(Const::Int { value: 1, .. })));
        let register = shape::register(result)?;
        Ok(self.number(register, if least { 0 } else { u128::MAX }))
    }

    fn int_function(&mut self, root: &str, bits: u32, result: &Type, values: &[Value]) -> Attempt<Value> {
        match (root, values) {
            ("bswap", &[a]) => {
                let swapped = self.builder.ins().bswap(a);
                Ok(self.brought_down(swapped, bits))
            }
            ("bitreverse", &[a]) => {
                let reversed = self.builder.ins().bitrev(a);
                Ok(self.brought_down(reversed, bits))
            }
            ("ctpop", &[a]) => Ok(self.builder.ins().popcnt(a)),
            ("ctlz", &[a, _]) => {
                let register = self.register_of(a);
                let zeros = self.builder.ins().clz(a);
                let beyond = self.number(register, u128::from(register.bits() - bits));
                Ok(self.builder.ins().isub(zeros, beyond))
            }
            ("cttz", &[a, _]) => {
                let register = self.register_of(a);
                let a = match shape::fills(bits) {
                    true => a,
                    false => {
                        let end = self.number(register, 1 << bits);
                        self.builder.ins().bor(a, end)
                    }
                };
                Ok(self.builder.ins().ctz(a))
            }
            ("fshl" | "fshr", &[a, b, by]) => self.funnel_shift(root, bits, a, b, by),
            ("smin", &[a, b]) => Ok(self.chosen(IntCC::SignedLessThan, bits, a, b)),
            ("smax", &[a, b]) => Ok(self.chosen(IntCC::SignedGreaterThan, bits, a, b)),
            ("umin", &[a, b]) => Ok(self.chosen(IntCC::UnsignedLessThan, bits, a, b)),
            ("umax", &[a, b]) => Ok(self.chosen(IntCC::UnsignedGreaterThan, bits, a, b)),
            ("abs", &[a, _]) => {
                let zero = self.number(self.register_of(a), 0);
                let negated = self.int_binary(Binary::Sub, bits, zero, a)?;
                let negative = self.compared(IntCC::SignedLessThan, bits, a, zero);
                Ok(self.builder.ins().select(negative, negated, a))
            }
            ("scmp", &[a, b]) => self.order(IntCC::SignedGreaterThan, bits, result, a, b),
            ("ucmp", &[a, b]) => self.order(IntCC::UnsignedGreaterThan, bits, result, a, b),
            ("uadd.sat" | "sadd.sat" | "usub.sat" | "ssub.sat", &[a, b]) => self.saturating(root, bits, a, b),
            ("fptosi.sat", &[a]) => self.cast_saturating(a, result, |ins, to, a| ins.fcvt_to_sint_sat(to, a)),
            ("fptoui.sat", &[a]) => self.cast_saturating(a, result, |ins, to, a| ins.fcvt_to_uint_sat(to, a)),
            _ => refuse(format!("the intrinsic `llvm.{root}` can't be compiled")),
        }
    }

    /// The lowest bits of a register that hold the result of turning a narrower number round.
    fn brought_down(&mut self, value: Value, bits: u32) -> Value {
        if shape::fills(bits) {
            return value;
        }
        let register = self.register_of(value);
        let beyond = self.number(types::I32, u128::from(register.bits() - bits));
        self.builder.ins().ushr(value, beyond)
    }

    fn chosen(&mut self, condition: IntCC, bits: u32, a: Value, b: Value) -> Value {
        let first = self.compared(condition, bits, a, b);
        self.builder.ins().select(first, a, b)
    }

    /// 1, 0 or -1.
    fn order(&mut self, greater: IntCC, bits: u32, result: &Type, a: Value, b: Value) -> Attempt<Value> {
        let Type::Int(to) = result else { return refuse("an integer is expected here") };
        let above = self.compared(greater, bits, a, b);
        let below = self.compared(greater, bits, b, a);
        let (above, below) = (self.resized(above, *to)?, self.resized(below, *to)?);
        self.int_binary(Binary::Sub, *to, above, below)
    }

    /// Bits of two numbers side by side.
    fn funnel_shift(&mut self, root: &str, bits: u32, a: Value, b: Value, by: Value) -> Attempt<Value> {
        if a == b && shape::fills(bits) {
            return Ok(match root {
                "fshl" => self.builder.ins().rotl(a, by),
                _ => self.builder.ins().rotr(a, by),
            });
        }
        let register = self.register_of(a);
        let width = self.number(register, u128::from(bits));
        let last = self.number(register, u128::from(bits - 1));
        let one = self.number(register, 1);
        let by = match bits.is_power_of_two() {
            true => self.builder.ins().band(by, last),
            false => self.int_binary(Binary::URem, bits, by, width)?,
        };
        // The other number moves the rest of the way in two steps: a shift by the whole width means nothing.
        let rest = self.builder.ins().isub(last, by);
        let (high, low) = match root {
            "fshl" => {
                let high = self.builder.ins().ishl(a, by);
                let low = self.builder.ins().ushr(b, one);
                (high, self.builder.ins().ushr(low, rest))
            }
            _ => {
                let high = self.builder.ins().ishl(a, one);
                (self.builder.ins().ishl(high, rest), self.builder.ins().ushr(b, by))
            }
        };
        let whole = self.builder.ins().bor(high, low);
        Ok(self.trimmed(whole, bits))
    }

    /// Whether a number of so many bits is negative.
    fn negative(&mut self, value: Value, bits: u32) -> Value {
        let zero = self.number(self.register_of(value), 0);
        self.compared(IntCC::SignedLessThan, bits, value, zero)
    }

    /// Arithmetic, and whether its result doesn't fit.
    fn with_overflow(&mut self, operation: &str, bits: u32, values: &[Value]) -> Attempt<Vec<Value>> {
        let &[a, b] = values else { return refuse("arithmetic with overflow takes two numbers") };
        match operation {
            "uadd" => {
                let sum = self.int_binary(Binary::Add, bits, a, b)?;
                Ok(vec![sum, self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, a)])
            }
            "usub" => {
                let difference = self.int_binary(Binary::Sub, bits, a, b)?;
                Ok(vec![difference, self.builder.ins().icmp(IntCC::UnsignedLessThan, a, b)])
            }
            "sadd" => {
                let sum = self.int_binary(Binary::Add, bits, a, b)?;
                let (from_a, from_b) = (self.builder.ins().bxor(sum, a), self.builder.ins().bxor(sum, b));
                let both = self.builder.ins().band(from_a, from_b);
                Ok(vec![sum, self.negative(both, bits)])
            }
            "ssub" => {
                let difference = self.int_binary(Binary::Sub, bits, a, b)?;
                let (apart, moved) = (self.builder.ins().bxor(a, b), self.builder.ins().bxor(a, difference));
                let both = self.builder.ins().band(apart, moved);
                Ok(vec![difference, self.negative(both, bits)])
            }
            "umul" | "smul" => self.product(operation == "smul", bits, a, b),
            _ => refuse(format!("the intrinsic `llvm.{operation}.with.overflow` can't be compiled")),
        }
    }

    /// A product, and whether it doesn't fit: it is made in a register of twice the width.
    fn product(&mut self, is_signed: bool, bits: u32, a: Value, b: Value) -> Attempt<Vec<Value>> {
        let Some(double) = self.register_of(a).double_width().filter(|double| double.is_int() && bits <= 64)
        else {
            return refuse(format!("products of {bits} bits can't be checked for overflow"));
        };
        let widened = |this: &mut Self, value| match is_signed {
            true => {
                let value = this.signed(value, bits);
                this.builder.ins().sextend(double, value)
            }
            false => this.builder.ins().uextend(double, value),
        };
        let (wide_a, wide_b) = (widened(self, a), widened(self, b));
        let whole = self.builder.ins().imul(wide_a, wide_b);
        let product = self.resized(whole, bits)?;
        let again = widened(self, product);
        Ok(vec![product, self.builder.ins().icmp(IntCC::NotEqual, whole, again)])
    }

    /// Arithmetic whose result is the nearest number that fits.
    fn saturating(&mut self, root: &str, bits: u32, a: Value, b: Value) -> Attempt<Value> {
        let register = self.register_of(a);
        let Some((operation, _)) = root.split_once('.') else { return refuse("no such operation") };
        let results = self.with_overflow(operation, bits, &[a, b])?;
        let nearest = match operation {
            "uadd" => {
                let most = self.number(register, u128::MAX);
                self.trimmed(most, bits)
            }
            "usub" => self.number(register, 0),
            _ => {
                let least = self.number(register, 1 << (bits - 1));
                let most = self.number(register, (1 << (bits - 1)) - 1);
                let negative = self.negative(a, bits);
                self.builder.ins().select(negative, least, most)
            }
        };
        Ok(self.builder.ins().select(results[1], nearest, results[0]))
    }

    fn cast_saturating(
        &mut self,
        value: Value,
        result: &Type,
        cast: fn(cranelift_frontend::FuncInstBuilder, cranelift_codegen::ir::Type, Value) -> Value,
    ) -> Attempt<Value> {
        match result {
            Type::Int(32 | 64) => Ok(cast(self.builder.ins(), shape::register(result)?, value)),
            _ => refuse("floats can be made 32- and 64-bit integers with saturation"),
        }
    }

    fn float_function(&mut self, root: &str, result: &Type, values: &[Value]) -> Attempt<Value> {
        let rounds = self.unit.has("has_sse41");
        let fuses = self.unit.has("has_fma");
        let ins = self.builder.ins();
        Ok(match (root, values) {
            ("fabs", &[a]) => ins.fabs(a),
            ("sqrt", &[a]) => ins.sqrt(a),
            ("copysign", &[a, b]) => ins.fcopysign(a, b),
            ("floor", &[a]) if rounds => ins.floor(a),
            ("ceil", &[a]) if rounds => ins.ceil(a),
            ("trunc", &[a]) if rounds => ins.trunc(a),
            ("rint" | "nearbyint" | "roundeven", &[a]) if rounds => ins.nearest(a),
            ("fma", &[a, b, c]) if fuses => ins.fma(a, b, c),
            ("fmuladd", &[a, b, c]) => {
                let product = ins.fmul(a, b);
                self.builder.ins().fadd(product, c)
            }
            _ => return self.math_function(root, result, values),
        })
    }

    /// The function of C's mathematical library that an intrinsic stands for.
    fn math_function(&mut self, root: &str, result: &Type, values: &[Value]) -> Attempt<Value> {
        let name = match root {
            "minnum" => "fmin",
            "maxnum" => "fmax",
            "floor" | "ceil" | "trunc" | "rint" | "nearbyint" | "round" | "fma" | "pow" | "exp" | "exp2"
            | "log" | "log2" | "log10" | "sin" | "cos" => root,
            _ => return refuse(format!("the intrinsic `llvm.{root}` can't be compiled")),
        };
        let register = shape::register(result)?;
        let single = if *result == Type::Float { "f" } else { "" };
        let signature = abi::of_library(&vec![register; values.len()], register);
        self.library_call(&format!("{name}{single}"), &signature, values)
    }
}
