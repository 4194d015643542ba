//! Names and types of the component language, as Rust writes them.

use drystone_language::program::{Program, Type};

/// The runtime's path in generated code.
pub const RUNTIME: &str = "::drystone_runtime::native";

/// Words that Rust reserves.
const KEPT: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Words that can't be raw identifiers either.
const NEVER: &[&str] = &["self", "Self", "super", "crate", "_"];

/// A name of a variable or a type.
pub fn name(name: &str) -> String {
    let name = &name.replace('.', "_")[..];
    if NEVER.contains(&name) {
        format!("{name}_")
    } else if KEPT.contains(&name) {
        format!("r#{name}")
    } else {
        name.into()
    }
}

/// Refuses names of which two are the same in Rust.
pub fn clash<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), String> {
    let mut known: Vec<(&str, String)> = Vec::new();
    for given in names {
        let in_rust = name(given);
        if let Some((earlier, _)) = known.iter().find(|(_, known)| *known == in_rust) {
            return Err(format!(
                "{earlier} and {given}, which both are {in_rust} in Rust: rename one of them"
            ));
        }
        known.push((given, in_rust));
    }
    Ok(())
}

/// `ReadLine` as `read_line`.
pub fn snake(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut result = String::new();
    for (i, &letter) in letters.iter().enumerate() {
        let is_small = |j: usize| letters.get(j).is_some_and(|c| c.is_lowercase());
        let begins = i > 0 && letter.is_uppercase() && (is_small(i - 1) || is_small(i + 1));
        if begins && !result.ends_with('_') {
            result.push('_');
        }
        result.extend(letter.to_lowercase());
    }
    name(&result)
}

/// Whether it is a text, which a message may borrow.
pub fn is_text(ty: &Type) -> bool {
    *ty == Type::Text
}

/// Whether it is a component.
pub fn is_part(ty: &Type) -> bool {
    matches!(ty, Type::Component(_) | Type::Any(_))
}

/// Whether it is a record or a sequence, which a method's parameter borrows.
pub fn is_whole(ty: &Type) -> bool {
    matches!(ty, Type::Record(_) | Type::Sequence(_))
}

/// The types of a program in Rust.
#[derive(Clone, Copy)]
pub struct Types<'p>(pub &'p Program);

impl Types<'_> {
    /// A type in a message.
    pub fn owned(self, ty: &Type) -> String {
        if is_text(ty) { "Text<'a>".into() } else { self.kept(ty, "super::") }
    }

    /// A type of what borrows nothing, where `records` leads to the module of the records.
    pub fn kept(self, ty: &Type, records: &str) -> String {
        match ty {
            Type::Boolean => "bool".into(),
            Type::Character => "u8".into(),
            Type::Integer => "i64".into(),
            Type::Real => "f64".into(),
            Type::Text => format!("{RUNTIME}::Text<'static>"),
            Type::Component(_) | Type::Any(_) => "Part".into(),
            Type::Record(id) => records.to_string() + &name(&self.0.records[id.index()].name),
            Type::Sequence(element) => format!("{RUNTIME}::Vec<{}>", self.kept(element, records)),
        }
    }

    /// The type of a method's parameter for it.
    pub fn lent(self, ty: &Type) -> String {
        match ty {
            Type::Text => "&[u8]".into(),
            Type::Record(_) => "&".to_string() + &self.owned(ty),
            Type::Sequence(element) => format!("&[{}]", self.kept(element, "super::")),
            _ => self.owned(ty),
        }
    }
}

/// The method of `Putting` and `Taking` for it.
pub fn method(ty: &Type) -> &'static str {
    match ty {
        Type::Boolean => "boolean",
        Type::Character => "character",
        Type::Integer => "integer",
        Type::Real => "real",
        Type::Text => "text",
        Type::Component(_) | Type::Any(_) => "part",
        Type::Record(_) | Type::Sequence(_) => "value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_rust_likes_them() {
        for (name, expected) in [
            ("ReadLine", "read_line"),
            ("EOF", "eof"),
            ("GetHTTPStatus", "get_http_status"),
            ("Get2D", "get2d"),
            ("Move", "r#move"),
            ("Self", "self_"),
            ("x_Y", "x_y"),
        ] {
            assert_eq!(snake(name), expected, "{name}");
        }
    }
}
