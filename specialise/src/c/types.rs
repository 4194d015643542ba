//! The C spelling of types, numeric constants and the helpers that access memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::ir::{self, Type};

/// The C type of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CType {
    /// An unsigned integer of this many bits (1 is `bool`) that holds the value, zero-extended.
    Unsigned(u32),
    /// Any integer type; the value is not negative.
    Number,
    /// Any integer type; only the low bits count.
    Modulo,
    /// A signed integer of this many bits that holds the value, sign-extended.
    Signed(u32),
    /// Not an integer.
    Other,
}

/// The width of the C integer that holds this many bits.
pub(super) fn container(bits: u32) -> u32 {
    match bits {
        0 | 1 => 1,
        2..=8 => 8,
        _ => bits.next_power_of_two(),
    }
}

/// The unsigned C type of a width.
pub(super) fn unsigned(bits: u32) -> &'static str {
    match container(bits) {
        1 => "bool",
        8 => "uint8_t",
        16 => "uint16_t",
        32 => "uint32_t",
        64 => "uint64_t",
        _ => "u128",
    }
}

/// The signed C type of a width.
pub(super) fn signed(bits: u32) -> &'static str {
    match container(bits) {
        1 | 8 => "int8_t",
        16 => "int16_t",
        32 => "int32_t",
        64 => "int64_t",
        _ => "i128",
    }
}

/// A number in C, without a specific type if it fits `int`.
pub(super) fn number(bits: u32, value: u128) -> String {
    match value {
        0..=0x7fff_ffff => value.to_string(),
        0x8000_0000..=0xffff_ffff => format!("0x{value:x}u"),
        0x1_0000_0000..=0xffff_ffff_ffff_ffff if bits <= 64 || value >> 64 == 0 => format!("0x{value:x}ul"),
        _ => format!("((u128)0x{:x}ul << 64 | 0x{:x}ul)", value >> 64, value as u64),
    }
}

/// The value of a number of this many bits with its sign, if it fits 64 bits.
pub(super) fn with_sign(bits: u32, value: u128) -> Option<i64> {
    i64::try_from(ir::signed(bits, value)).ok()
}

/// A signed number in C.
pub(super) fn signed_number(bits: u32, value: u128) -> String {
    match with_sign(bits, value) {
        Some(i64::MIN) => "(-0x7fffffffffffffffl - 1)".to_string(),
        Some(small) if i32::try_from(small).is_ok_and(|small| small != i32::MIN) => small.to_string(),
        Some(large) => format!("{large}l"),
        None => format!("(i128){}", number(bits, value)),
    }
}

/// A double or float constant in C.
pub(super) fn float(value: f64, bits: u64, single: Option<f32>) -> String {
    let suffix = if single.is_some() { "f" } else { "" };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        let payload = if single.is_some() { bits & 0x3f_ffff } else { bits & 0x7_ffff_ffff_ffff };
        return format!("{sign}__builtin_nan{suffix}(\"0x{payload:x}\")");
    }
    if value.is_infinite() {
        return format!("{sign}__builtin_inf{suffix}()");
    }
    match single {
        Some(single) => format!("{single:?}f"),
        None => format!("{value:?}"),
    }
}

/// What the text needs before its functions: structures and small helpers.
#[derive(Default)]
pub(super) struct Prelude {
    tags: BTreeMap<String, String>,
    structures: String,
    helpers: BTreeSet<String>,
}

impl Prelude {
    /// The C type for values of a type.
    pub fn name(&mut self, ty: &Type) -> Result<String, String> {
        Ok(match ty {
            Type::Void => "void".into(),
            Type::Int(bits @ 1..=128) => unsigned(*bits).into(),
            Type::Int(bits) => return Err(format!("an integer of {bits} bits; 128 are the most that C has")),
            Type::Float => "float".into(),
            Type::Double => "double".into(),
            Type::Ptr => "void *".into(),
            Type::Array(..) | Type::Struct { .. } => format!("struct {}", self.tag(ty)?),
            Type::Vector(..) => return Err("a vector; compile with -fno-vectorize -fno-slp-vectorize".into()),
        })
    }

    /// A declaration of a name with a type.
    pub fn declare(&mut self, ty: &Type, name: &str) -> Result<String, String> {
        let ty = self.name(ty)?;
        Ok(if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") })
    }

    /// The short name of a type, as part of helpers' names.
    pub fn short(&mut self, ty: &Type) -> Result<String, String> {
        Ok(match ty {
            Type::Int(1) => "bool".into(),
            Type::Int(bits) => format!("u{bits}"),
            Type::Float => "float".into(),
            Type::Double => "double".into(),
            Type::Ptr => "ptr".into(),
            Type::Array(..) | Type::Struct { .. } => self.tag(ty)?,
            _ => self.name(ty)?,
        })
    }

    /// The tag of the structure that represents an aggregate. Arrays are structures with one member `e`.
    fn tag(&mut self, ty: &Type) -> Result<String, String> {
        let key = format!("{ty:?}");
        if let Some(tag) = self.tags.get(&key) {
            return Ok(tag.clone());
        }
        let (tag, members, packed) = match ty {
            Type::Array(count, element) => {
                let tag = format!("array{count}_{}", self.short(element)?);
                (tag, self.declare(element, &format!("e[{count}]"))?, false)
            }
            Type::Struct { fields, packed } => {
                let mut names = Vec::new();
                let mut members = Vec::new();
                for (at, field) in fields.iter().enumerate() {
                    names.push(self.short(field)?);
                    members.push(self.declare(field, &format!("f{at}"))?);
                }
                (names.join("_"), members.join("; "), *packed)
            }
            _ => return Err("a structure of no fields".into()),
        };
        let suffix = if packed { "_packed" } else { "" };
        let mut tag = format!("{tag}{suffix}");
        if tag.len() > 40 || tag.starts_with(|first: char| first.is_ascii_digit()) || self.has_tag(&tag) {
            tag = format!("aggregate{}", self.tags.len());
        }
        let attribute = if packed { " __attribute__((packed))" } else { "" };
        let members = if members.is_empty() { members } else { format!("{members}; ") };
        let _ = writeln!(self.structures, "struct {tag} {{ {members}}}{attribute};");
        self.tags.insert(key, tag.clone());
        Ok(tag)
    }

    fn has_tag(&self, tag: &str) -> bool {
        self.tags.values().any(|other| other == tag)
    }

    /// The structure that is passed by value where the IR passes a pointer to this many bytes.
    pub fn by_value(&mut self, size: u64, align: u64) -> String {
        let tag = format!("bytes{size}_{align}");
        let key = format!("by value {tag}");
        if self.tags.insert(key, tag.clone()).is_none() {
            // An alignment of 8 must come from the member, because the member's type decides how the structure is
            // passed.
            let member = match (size % 8, align) {
                (0, 8) => format!("uint64_t f0[{}]", size / 8),
                (_, 0..=8) => format!("_Alignas({}) uint8_t f0[{size}]", align.max(1)),
                _ => format!("_Alignas({align}) uint8_t f0[{size}]"),
            };
            let _ = writeln!(self.structures, "struct {tag} {{ {member}; }};");
        }
        format!("struct {tag}")
    }

    /// The helper that reads a value from an address of any alignment.
    pub fn load(&mut self, ty: &Type) -> Result<String, String> {
        let name = format!("load_{}", self.short(ty)?);
        let declaration = self.declare(ty, &name)?;
        let value = self.declare(ty, "v")?;
        let text = match ty {
            Type::Int(1) => {
                format!("static inline bool {name}(const void *p) {{ return *(const uint8_t *)p & 1; }}")
            }
            Type::Int(bits) if container(*bits) != *bits => format!(
                "static inline {declaration}(const void *p) {{ {value} = 0; memcpy(&v, p, {}); return v & {}; }}",
                ty.store_size(),
                number(*bits, (1 << bits) - 1)
            ),
            _ => format!(
                "static inline {declaration}(const void *p) {{ {value}; memcpy(&v, p, sizeof v); return v; }}"
            ),
        };
        self.helpers.insert(text);
        Ok(name)
    }

    /// The helper that writes a value to an address of any alignment.
    pub fn store(&mut self, ty: &Type) -> Result<String, String> {
        let name = format!("store_{}", self.short(ty)?);
        let value = self.declare(ty, "v")?;
        let size = match ty {
            Type::Int(1) => "1".to_string(),
            Type::Int(bits) if container(*bits) != *bits => ty.store_size().to_string(),
            _ => "sizeof v".to_string(),
        };
        self.helpers
            .insert(format!("static inline void {name}(void *p, {value}) {{ memcpy(p, &v, {size}); }}"));
        Ok(name)
    }

    /// A type for volatile and atomic accesses to memory that other code accesses with other types.
    pub fn aliasing(&mut self, ty: &Type, align: u64) -> Result<String, String> {
        let name = format!("{}_at{align}", self.short(ty)?);
        let base = self.name(ty)?;
        self.helpers.insert(format!("typedef {base} {name} __attribute__((may_alias, aligned({align})));"));
        Ok(name)
    }

    /// The helper that reinterprets the bits of one type as another.
    pub fn reinterpret(&mut self, from: &Type, to: &Type) -> Result<String, String> {
        let name = format!("{}_of_{}", self.short(to)?, self.short(from)?);
        let declaration = self.declare(to, &name)?;
        let (parameter, result) = (self.declare(from, "v")?, self.declare(to, "r")?);
        self.helpers.insert(format!(
            "static inline {declaration}({parameter}) {{ {result}; memcpy(&r, &v, sizeof r); return r; }}"
        ));
        Ok(name)
    }

    /// Adds a helper's text.
    pub fn helper(&mut self, text: &str) {
        self.helpers.insert(text.to_string());
    }

    /// The whole text.
    pub fn text(&self) -> String {
        let mut text = self.structures.clone();
        // Types come before functions, which may use them.
        let (types, functions): (Vec<&String>, Vec<&String>) =
            self.helpers.iter().partition(|helper| helper.starts_with("typedef"));
        for part in [types, functions] {
            if !text.is_empty() && !part.is_empty() && !text.ends_with("\n\n") {
                text.push('\n');
            }
            for helper in part {
                text.push_str(helper);
                text.push('\n');
            }
        }
        text
    }
}
