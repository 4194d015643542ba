//! Global variables and their initial contents.

use super::symbols::{Symbols, is_renamed_to};
use super::types::{Prelude, number};
use crate::ir::{Const, Global, GlobalId, Module, Type};

/// All global variables that the functions need: first declarations, then definitions.
pub(super) fn globals(
    module: &Module,
    symbols: &Symbols,
    prelude: &mut Prelude,
) -> Result<String, (String, String)> {
    let mut declarations = String::new();
    let mut definitions = String::new();
    for &at in &symbols.needed_globals {
        let global = &module.globals[at as usize];
        let (declaration, definition) = write(module, symbols, prelude, GlobalId(at), global)
            .map_err(|what| (global.name.to_string(), what))?;
        declarations.push_str(&declaration);
        definitions.push_str(&definition);
    }
    Ok(match (declarations.is_empty(), definitions.is_empty()) {
        (false, false) => format!("{declarations}\n{definitions}"),
        _ => declarations + &definitions,
    })
}

fn write(
    module: &Module,
    symbols: &Symbols,
    prelude: &mut Prelude,
    id: GlobalId,
    global: &Global,
) -> Result<(String, String), String> {
    let name = symbols.global(id);
    let weak = if module.weak.contains(&global.name) { " __attribute__((weak))" } else { "" };
    let label = match is_renamed_to(&global.name, name) && !global.internal {
        true => format!(" __asm__(\"{}\"){weak}", global.name.escape_default()),
        false => weak.to_string(),
    };
    let thread = if global.thread_local { "_Thread_local " } else { "" };
    let constant = if global.constant && global.initial.is_some() { "const " } else { "" };
    let linkage = if global.internal { "static " } else { "extern " };
    let Some(initial) = &global.initial else {
        let object = object(symbols, prelude, id, &global.ty, "")?;
        return Ok((format!("extern {thread}{object}{label};\n"), String::new()));
    };
    let mut structure = String::new();
    let mut values = String::new();
    let object = if symbols.is_parts(id) {
        let mut parts = Parts { symbols, prelude, members: Vec::new(), values: Vec::new(), size: 0 };
        let size = global.ty.layout().size;
        parts.add(initial, size)?;
        let members: String = parts.members.iter().map(|member| format!("    {member};\n")).collect();
        structure = format!("struct {name}_parts {{\n{members}}} __attribute__((packed));\n");
        values = format!("{{\n    {}\n}}", parts.values.join(",\n    "));
        format!("{constant}struct {name}_parts {name}")
    } else {
        if !is_zero(initial) {
            values = value(symbols, initial)?;
        }
        object(symbols, prelude, id, &global.ty, constant)?
    };
    let natural = if symbols.is_parts(id) { 1 } else { global.ty.layout().align };
    let align = match global.align > natural {
        true => format!("_Alignas({}) ", global.align),
        false => String::new(),
    };
    let head = |linkage: &str| format!("{align}{linkage}{thread}{object}");
    let ends = if values.is_empty() { String::new() } else { format!(" = {values}") };
    // Other variables may refer to this one before its definition, so it is declared first. A static variable that
    // holds no address needs nothing before it, so its definition stands among the declarations.
    let refers = holds_address(initial);
    let own = if global.internal { "static " } else { "" };
    if label.is_empty() && global.internal && !refers {
        return Ok((format!("{structure}{}{ends};\n", head("static ")), String::new()));
    }
    let first = format!("{structure}{}{label};\n", head(linkage));
    Ok((first, format!("{}{ends};\n", head(own))))
}

/// The declarator of a global variable, with its own type or as bytes.
fn object(
    symbols: &Symbols,
    prelude: &mut Prelude,
    id: GlobalId,
    ty: &Type,
    constant: &str,
) -> Result<String, String> {
    let name = symbols.global(id);
    if symbols.is_bytes(id) {
        return Ok(format!("{constant}uint8_t {name}[]"));
    }
    // The type of a constant pointer is `void *const`.
    let pointer = if constant.is_empty() { "void *" } else { "void *const " };
    Ok(match ty {
        Type::Ptr => format!("{pointer}{name}"),
        Type::Array(count, element) if **element == Type::Ptr => format!("{pointer}{name}[{count}]"),
        Type::Array(count, element) => format!("{constant}{} {name}[{count}]", prelude.name(element)?),
        _ => format!("{constant}{} {name}", prelude.name(ty)?),
    })
}

fn is_zero(constant: &Const) -> bool {
    match constant {
        Const::Zero(_) | Const::Undef(_) | Const::Null => true,
        Const::Int { value, .. } => *value == 0,
        Const::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        _ => false,
    }
}

fn holds_address(constant: &Const) -> bool {
    match constant {
        Const::Global(..) | Const::Function(_) => true,
        Const::Address(_, inner) | Const::Pointer(inner) => holds_address(inner),
        Const::Aggregate(_, members) => members.iter().any(holds_address),
        _ => false,
    }
}

/// An initialiser of an object of the constant's type.
fn value(symbols: &Symbols, constant: &Const) -> Result<String, String> {
    Ok(match constant {
        Const::Int { bits, value } => number(*bits, *value),
        Const::Float(bits) => {
            let single = f32::from_bits(*bits);
            super::types::float(f64::from(single), u64::from(*bits), Some(single))
        }
        Const::Double(bits) => super::types::float(f64::from_bits(*bits), *bits, None),
        Const::Null => "NULL".into(),
        Const::Zero(ty) | Const::Undef(ty) if ty.is_scalar() => "0".into(),
        Const::Zero(_) | Const::Undef(_) => "{ 0 }".into(),
        Const::Global(..) | Const::Function(_) => symbols.pointer(constant)?,
        Const::Bytes(bytes) => match as_text(bytes) {
            Some(text) => text,
            None => rows(bytes.iter().map(|byte| format!("0x{byte:02x}")).collect()),
        },
        Const::Aggregate(_, members) => {
            let members =
                members.iter().map(|member| value(symbols, member)).collect::<Result<Vec<_>, _>>()?;
            rows(members)
        }
        Const::Address(64, inner) => format!("(uintptr_t){}", value(symbols, inner)?),
        Const::Address(..) => return Err("a part of an address in a constant".into()),
        Const::Pointer(inner) => format!("(void *)(uintptr_t){}", value(symbols, inner)?),
    })
}

/// Values in braces, on several lines if needed.
fn rows(values: Vec<String>) -> String {
    if values.iter().map(|value| value.len() + 2).sum::<usize>() < 80 {
        return format!("{{ {} }}", values.join(", "));
    }
    let mut lines = vec![String::from("   ")];
    for value in values {
        let line = lines.len() - 1;
        if lines[line].len() + value.len() > 100 && lines[line].len() > 3 {
            lines.push(String::from("   "));
        }
        let line = lines.len() - 1;
        lines[line].push_str(&format!(" {value},"));
    }
    format!("{{\n{}\n}}", lines.join("\n"))
}

/// The bytes as a string literal, if they are text that ends with a zero.
fn as_text(bytes: &[u8]) -> Option<String> {
    let (last, text) = bytes.split_last()?;
    let is_text = text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r'));
    if *last != 0 || !is_text || text.is_empty() {
        return None;
    }
    let mut literal = String::from("\"");
    for &byte in text {
        match byte {
            b'\n' => literal.push_str("\\n"),
            b'\t' => literal.push_str("\\t"),
            b'\r' => literal.push_str("\\r"),
            // An unescaped question mark could begin a trigraph.
            b'"' | b'\\' | b'?' => literal.extend(['\\', char::from(byte)]),
            _ => literal.push(char::from(byte)),
        }
    }
    literal.push('"');
    Some(literal)
}

/// A constant divided into the members of a packed structure: bytes, numbers and addresses.
struct Parts<'a> {
    symbols: &'a Symbols,
    prelude: &'a mut Prelude,
    members: Vec<String>,
    values: Vec<String>,
    size: u64,
}

impl Parts<'_> {
    fn member(&mut self, ty: &str, array: &str, value: String, size: u64) {
        let gap = if ty.ends_with('*') { "" } else { " " };
        self.members.push(format!("{ty}{gap}at{}{array}", self.size));
        self.values.push(value);
        self.size += size;
    }

    fn pad(&mut self, to: u64) {
        if to > self.size {
            let gap = to - self.size;
            self.member("uint8_t", &format!("[{gap}]"), "{ 0 }".into(), gap);
        }
    }

    /// Adds a constant, and padding up to a size.
    fn add(&mut self, constant: &Const, size: u64) -> Result<(), String> {
        let start = self.size;
        match constant {
            Const::Aggregate(ty, members) => {
                let offsets = ty.offsets();
                let stride = if let Type::Array(_, element) = ty { element.layout().size } else { 0 };
                for (at, member) in members.iter().enumerate() {
                    let offset = offsets.get(at).copied().unwrap_or(at as u64 * stride);
                    self.pad(start + offset);
                    self.add(member, member.ty().layout().size)?;
                }
            }
            Const::Bytes(bytes) if !bytes.is_empty() => {
                let text = value(self.symbols, constant)?;
                self.member("uint8_t", &format!("[{}]", bytes.len()), text, bytes.len() as u64);
            }
            Const::Zero(_) | Const::Undef(_) | Const::Null | Const::Bytes(_) => {}
            _ => {
                let ty = constant.ty();
                let name = self.prelude.name(&ty)?;
                let text = value(self.symbols, constant)?;
                self.member(&name, "", text, ty.layout().size);
            }
        }
        self.pad(start + size);
        Ok(())
    }
}
