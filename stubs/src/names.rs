//! Names and types of the component language, as Rust writes them.

use drystone_language::program::Type;

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

/// Whether values of the type may be borrowed.
pub fn is_text(ty: &Type) -> bool {
    *ty == Type::Text
}

/// Whether it is a component.
pub fn is_part(ty: &Type) -> bool {
    matches!(ty, Type::Component(_) | Type::Any(_))
}

/// A type in a message.
pub fn owned(ty: &Type) -> &'static str {
    match ty {
        Type::Boolean => "bool",
        Type::Character => "u8",
        Type::Integer => "i64",
        Type::Real => "f64",
        Type::Text => "Text<'a>",
        Type::Component(_) | Type::Any(_) => "Part",
        Type::Record(_) => unreachable!("a message carries the fields of records"),
        Type::Sequence(_) => unreachable!("interfaces with sequences are refused"),
    }
}

/// The type of a method's parameter for it.
pub fn lent(ty: &Type) -> &'static str {
    if is_text(ty) { "&[u8]" } else { owned(ty) }
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
        Type::Record(_) => unreachable!("a message carries the fields of records"),
        Type::Sequence(_) => unreachable!("interfaces with sequences are refused"),
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
