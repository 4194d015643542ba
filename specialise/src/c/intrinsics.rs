//! LLVM's intrinsics as C: builtins of both gcc and clang, functions of the C library, or small helpers.

use super::expression::{Expr, Want, Writer};
use super::kinds::{MATHEMATICAL, plain};
use super::types::{CType, container, signed, unsigned};
use crate::ir::{Const, Operand, Type};

fn flag(operand: Option<&Operand>) -> bool {
    matches!(operand, Some(Operand::Const(Const::Int { value: 1, .. })))
}

impl Writer<'_> {
    /// A call of an intrinsic.
    pub fn intrinsic(&mut self, name: &str, args: &[Operand], ty: &Type) -> Result<Expr, String> {
        let unknown = || format!("the intrinsic `{name}`");
        let plain = plain(name).ok_or_else(unknown)?;
        if let Some(float) = mathematical(plain) {
            return self.mathematical(float, args);
        }
        if plain == "expect" || plain == "expect.with.probability" || plain.ends_with("invariant.group") {
            return self.expr(args.first().ok_or_else(unknown)?, Want::Exact);
        }
        if let Type::Int(bits) = ty
            && let Some(text) =
                helper(plain, args, *bits, &self.body.type_of(args.first().ok_or_else(unknown)?))
        {
            return self.call_helper(text, args, *bits);
        }
        let (format, level) = match plain {
            "threadlocal.address" | "ssa.copy" => ("{0}", 0),
            "fmuladd" => ("{0} * {1} + {2}", 12),
            "trap" | "debugtrap" | "ubsantrap" => ("__builtin_trap()", 16),
            "stacksave" => ("NULL", 16),
            "is.constant" => ("0", 16),
            "objectsize" if flag(args.get(1)) => ("0", 16),
            "objectsize" => ("~(uint64_t)0", 15),
            "prefetch" => ("__builtin_prefetch({0})", 16),
            "ptrmask" => ("(void *)((uintptr_t){0} & {1})", 15),
            "returnaddress" => ("__builtin_return_address({0})", 16),
            "frameaddress" => ("__builtin_frame_address({0})", 16),
            "memcpy" | "memmove" | "memset" | "memcpy.inline" | "memset.inline" if flag(args.get(3)) => {
                self.volatile_copy(plain)
            }
            "memcpy" | "memcpy.inline" => ("memcpy({0}, {1}, {2})", 16),
            "memmove" => ("memmove({0}, {1}, {2})", 16),
            "memset" | "memset.inline" => ("memset({0}, {1}, {2})", 16),
            "va_start" => {
                let last = self.names_last_parameter();
                return self.va_start(args.first().ok_or_else(unknown)?, last);
            }
            "va_end" => ("__builtin_va_end(*(__builtin_va_list *){0})", 16),
            "va_copy" => ("__builtin_va_copy(*(__builtin_va_list *){0}, *(__builtin_va_list *){1})", 16),
            "fptosi.sat" | "fptoui.sat" => return self.saturated(plain, args, ty),
            _ => return Err(unknown()),
        };
        self.filled(format, level, args, ty)
    }

    /// A pattern in which `{0}`, `{1}` and so on are replaced by arguments.
    fn filled(&mut self, format: &str, level: u8, args: &[Operand], ty: &Type) -> Result<Expr, String> {
        let result = if let Type::Int(bits) = ty { CType::Unsigned(container(*bits)) } else { CType::Other };
        let mut expr = Expr::new(format, level.max(1), result);
        let is_call = level == 16;
        for (at, arg) in args.iter().enumerate() {
            let hole = format!("{{{at}}}");
            if !format.contains(&hole) {
                continue;
            }
            let part = if is_call { self.argument(arg)? } else { self.expr(arg, Want::Exact)? };
            let text = if is_call && !format.contains(&format!("*){hole}")) {
                part.text.clone()
            } else {
                part.at(15)
            };
            expr.text = expr.text.replace(&hole, &text);
            expr = expr.reading(&[&part]);
            if level == 0 {
                expr.level = part.level;
            }
        }
        if matches!(format, "0") {
            expr.ty = CType::Number;
        }
        Ok(expr)
    }

    fn mathematical(&mut self, name: &str, args: &[Operand]) -> Result<Expr, String> {
        let first = args.first().map(|arg| self.body.type_of(arg));
        let suffix = match first {
            Some(Type::Float) => "f",
            Some(Type::Double) => "",
            _ => return Err("mathematical functions of vectors".into()),
        };
        let parts = args.iter().map(|arg| self.expr(arg, Want::Exact)).collect::<Result<Vec<_>, _>>()?;
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        let ty = if name.contains("rint") && name != "rint" || name.ends_with("lround") {
            CType::Signed(64)
        } else {
            CType::Other
        };
        let text = format!("__builtin_{name}{suffix}({})", texts.join(", "));
        Ok(Expr::new(text, 16, ty).reading(&parts.iter().collect::<Vec<_>>()))
    }

    fn call_helper(
        &mut self,
        (name, text): (String, String),
        args: &[Operand],
        bits: u32,
    ) -> Result<Expr, String> {
        if !text.is_empty() {
            self.prelude.helper(&text);
        }
        // The helper takes no flags, and a rotation takes its value once.
        let count = match name.split('_').next() {
            Some("rotl" | "rotr") => vec![0, 2],
            Some("fshl" | "fshr") => vec![0, 1, 2],
            Some("ctlz" | "cttz" | "abs") => vec![0],
            _ if name.starts_with("__builtin") || args.len() == 1 => vec![0],
            _ => vec![0, 1],
        };
        let mut parts = Vec::new();
        for at in count {
            let arg = args.get(at).ok_or("an intrinsic with too few arguments")?;
            parts.push(self.expr(arg, if bits == 1 { Want::Exact } else { Want::Modulo })?);
        }
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        let is_count = name.starts_with("__builtin_popcount");
        let ty = if is_count { CType::Number } else { CType::Unsigned(container(bits)) };
        Ok(Expr::new(format!("{name}({})", texts.join(", ")), 16, ty)
            .reading(&parts.iter().collect::<Vec<_>>()))
    }

    fn volatile_copy(&mut self, plain: &str) -> (&'static str, u8) {
        let (text, call) = match plain.trim_end_matches(".inline") {
            "memset" => (
                "static inline void set_volatile(volatile void *to, uint8_t byte, uint64_t size)\n{\n    \
                 for (uint64_t i = 0; i < size; i++)\n        ((volatile uint8_t *)to)[i] = byte;\n}",
                "set_volatile({0}, {1}, {2})",
            ),
            _ => (
                "static inline void copy_volatile(volatile void *to, const volatile void *from, uint64_t size)\n{\n    \
                 for (uint64_t i = 0; i < size; i++)\n        \
                 ((volatile uint8_t *)to)[i] = ((const volatile uint8_t *)from)[i];\n}",
                "copy_volatile({0}, {1}, {2})",
            ),
        };
        self.prelude.helper(text);
        (call, 16)
    }

    fn names_last_parameter(&self) -> String {
        let last = self.function.params.len().checked_sub(1);
        last.map_or("0".into(), |last| self.names[self.variables.of(last)].clone())
    }

    fn va_start(&mut self, list: &Operand, last: String) -> Result<Expr, String> {
        let list = self.expr(list, Want::Exact)?;
        let text = format!("__builtin_va_start(*(__builtin_va_list *){}, {last})", list.at(15));
        Ok(Expr::new(text, 16, CType::Other).reading(&[&list]))
    }

    fn saturated(&mut self, plain: &str, args: &[Operand], ty: &Type) -> Result<Expr, String> {
        let (Type::Int(bits @ (8 | 16 | 32 | 64)), Some(arg)) = (ty, args.first()) else {
            return Err(format!("the intrinsic `llvm.{plain}` of such a width"));
        };
        let from = self.body.type_of(arg);
        let (source, short) = (self.prelude.name(&from)?, self.prelude.short(&from)?);
        let is_signed = plain == "fptosi.sat";
        let to = if is_signed { signed(*bits) } else { unsigned(*bits) };
        let name = format!(
            "{}_saturated_of_{short}",
            if is_signed { format!("i{bits}") } else { format!("u{bits}") }
        );
        let (low, high) = match is_signed {
            true => (format!("-0x1p{}", bits - 1), format!("0x1p{}", bits - 1)),
            false => ("0".to_string(), format!("0x1p{bits}")),
        };
        let most = if is_signed { (1u64 << (bits - 1)) - 1 } else { u64::MAX >> (64 - bits) };
        let least = if is_signed { format!("-0x{most:x}l - 1") } else { "0".into() };
        self.prelude.helper(&format!(
            "static inline {to} {name}({source} v)\n{{\n    \
             return v != v ? 0 : v <= {low} ? ({to})({least}) : v >= {high} ? ({to})0x{most:x}ul : ({to})v;\n}}"
        ));
        let part = self.expr(arg, Want::Exact)?;
        let result = if is_signed { CType::Signed(*bits) } else { CType::Unsigned(*bits) };
        Ok(Expr::new(format!("{name}({})", part.text), 16, result).reading(&[&part]))
    }
}

fn mathematical(plain: &str) -> Option<&str> {
    let known = MATHEMATICAL.split_whitespace().any(|one| one == plain);
    known.then_some(match plain {
        "minnum" => "fmin",
        "maxnum" => "fmax",
        other => other,
    })
}

/// The name and text of a helper for an intrinsic on integers; the text is empty for a builtin.
fn helper(plain: &str, args: &[Operand], bits: u32, of: &Type) -> Option<(String, String)> {
    let of = of.bits() as u32;
    if of == 1 {
        // The only bit of a signed one-bit number is its sign.
        let operator = match plain {
            "umin" | "smax" => '&',
            "umax" | "smin" => '|',
            _ => return None,
        };
        let text =
            format!("static inline bool {plain}_bool(bool a, bool b)\n{{\n    return a {operator} b;\n}}");
        return Some((format!("{plain}_bool"), text));
    }
    if container(of) != of || of < 8 {
        return None;
    }
    let (u, s) = (unsigned(of), signed(of));
    let inline = |name: String, parameters: &str, code: &str| {
        let text = format!("static inline {} {name}({parameters})\n{{\n    {code}\n}}", unsigned(bits));
        Some((name, text))
    };
    let two = format!("{u} a, {u} b");
    let name = |kind: &str| format!("{kind}_u{of}");
    let mask = of - 1;
    match plain {
        "bswap" if of <= 64 => Some((format!("__builtin_bswap{of}"), String::new())),
        "bswap" => inline(
            name("bswap"),
            "u128 v",
            "return (u128)__builtin_bswap64((uint64_t)v) << 64 | __builtin_bswap64((uint64_t)(v >> 64));",
        ),
        "bitreverse" => inline(
            name("bitreverse"),
            &format!("{u} v"),
            &format!(
                "{u} r = 0;\n    for (int i = 0; i < {of}; i++)\n        r = r << 1 | (v >> i & 1);\n    return r;"
            ),
        ),
        "ctpop" if of <= 32 => Some(("__builtin_popcount".into(), String::new())),
        "ctpop" if of == 64 => Some(("__builtin_popcountl".into(), String::new())),
        "ctpop" => inline(
            name("ctpop"),
            "u128 v",
            "return __builtin_popcountl((uint64_t)v) + __builtin_popcountl((uint64_t)(v >> 64));",
        ),
        "ctlz" | "cttz" => {
            let builtin = if plain == "ctlz" { "__builtin_clz" } else { "__builtin_ctz" };
            let code = match (plain, of) {
                ("ctlz", 8 | 16) => format!("return v ? __builtin_clz(v) - {} : {of};", 32 - of),
                ("ctlz", 128) => "return v >> 64 ? __builtin_clzl((uint64_t)(v >> 64)) : \
                                  (uint64_t)v ? 64 + __builtin_clzl((uint64_t)v) : 128;"
                    .into(),
                (_, 128) => "return (uint64_t)v ? __builtin_ctzl((uint64_t)v) : \
                             v >> 64 ? 64 + __builtin_ctzl((uint64_t)(v >> 64)) : 128;"
                    .into(),
                (_, 64) => format!("return v ? {builtin}l(v) : 64;"),
                _ => format!("return v ? {builtin}(v) : {of};"),
            };
            inline(name(plain), &format!("{u} v"), &code)
        }
        "abs" => inline(name("abs"), &format!("{u} v"), &format!("return ({s})v < 0 ? 0 - v : v;")),
        "smax" => inline(name("smax"), &two, &format!("return ({s})a > ({s})b ? a : b;")),
        "smin" => inline(name("smin"), &two, &format!("return ({s})a < ({s})b ? a : b;")),
        "umax" => inline(name("umax"), &two, "return a > b ? a : b;"),
        "umin" => inline(name("umin"), &two, "return a < b ? a : b;"),
        "ucmp" => inline(format!("ucmp_u{of}_u{bits}"), &two, "return (a > b) - (a < b);"),
        "scmp" => inline(
            format!("scmp_u{of}_u{bits}"),
            &two,
            &format!("return (({s})a > ({s})b) - (({s})a < ({s})b);"),
        ),
        "uadd.sat" => {
            inline(name("uadd_sat"), &two, &format!("{u} r = a + b;\n    return r < a ? ({u})-1 : r;"))
        }
        "usub.sat" => inline(name("usub_sat"), &two, "return a > b ? a - b : 0;"),
        "sadd.sat" | "ssub.sat" => {
            let kind = &plain[1..4];
            let code = format!(
                "{s} r;\n    if (!__builtin_{kind}_overflow(({s})a, ({s})b, &r))\n        return r;\n    \
                 return (({u})-1 >> 1) + (({s})a < 0);"
            );
            // The cast keeps the shift within the unsigned type's width; otherwise C promotes narrower types to a
            // negative `int`.
            let code = code.replace(&format!("(({u})-1 >> 1)"), &format!("({u})(({u})-1 >> 1)"));
            inline(name(&format!("s{kind}_sat")), &two, &code)
        }
        "fshl" | "fshr" if args.first() == args.get(1) => {
            let (there, back) = if plain == "fshl" { ("<<", ">>") } else { (">>", "<<") };
            let kind = if plain == "fshl" { "rotl" } else { "rotr" };
            let code = format!("return a {there} (by & {mask}) | a {back} (-by & {mask});");
            inline(name(kind), &format!("{u} a, {u} by"), &code)
        }
        "fshl" => inline(
            name("fshl"),
            &format!("{two}, {u} by"),
            &format!("by &= {mask};\n    return by ? a << by | b >> ({of} - by) : a;"),
        ),
        "fshr" => inline(
            name("fshr"),
            &format!("{two}, {u} by"),
            &format!("by &= {mask};\n    return by ? b >> by | a << ({of} - by) : b;"),
        ),
        _ => None,
    }
}
