//! Numbers and characters by code: `42`, `0FFH`, `0DX`, `2.`, `1.5E-3`.

use super::TokenKind;
use crate::source::{Diagnostic, Span};

/// A number at the start of a text.
pub(super) struct Number {
    /// How many bytes it takes.
    pub length: usize,
    /// Its kind and value.
    pub kind: TokenKind,
    /// The error, if there is one. The caller sets its place.
    pub fault: Option<Diagnostic>,
}

/// The largest magnitude: that of the smallest INTEGER.
const LARGEST: u64 = 1 << 63;

/// Reads the number that the text, whose first byte is a digit, starts with.
pub(super) fn scan(text: &str) -> Number {
    let bytes = text.as_bytes();
    let digits = run(bytes, 0, |byte| byte.is_ascii_digit());
    if bytes.get(digits) == Some(&b'.') && bytes.get(digits + 1) != Some(&b'.') {
        return real(text, digits + 1);
    }
    let length = run(bytes, 0, is_word);
    match text[..length].split_at(length - 1) {
        (hexadecimal, "H") if is_hexadecimal(hexadecimal) => integer(length, hexadecimal, 16),
        (hexadecimal, "X") if is_hexadecimal(hexadecimal) => character(length, hexadecimal),
        _ if digits == length => integer(length, &text[..length], 10),
        _ => malformed(&text[..length]),
    }
}

fn real(text: &str, fraction: usize) -> Number {
    let bytes = text.as_bytes();
    let mut length = run(bytes, fraction, |byte| byte.is_ascii_digit());
    if bytes.get(length) == Some(&b'E') {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let digits = run(bytes, length + 1 + sign, |byte| byte.is_ascii_digit());
        if digits > length + 1 + sign {
            length = digits;
        }
    }
    let end = run(bytes, length, is_word);
    match text[..length].parse::<f64>() {
        Ok(value) if end == length && value.is_finite() => {
            Number { length, kind: TokenKind::Real(value), fault: None }
        }
        Ok(_) if end == length => {
            faulty(length, bad_number(format!("`{}` is larger than any REAL", &text[..length])))
        }
        _ => malformed(&text[..end]),
    }
}

fn integer(length: usize, digits: &str, radix: u32) -> Number {
    match u64::from_str_radix(digits, radix) {
        Ok(value) if radix == 16 && value >= LARGEST => {
            Number { length, kind: TokenKind::Bits(value as i64), fault: None }
        }
        Ok(value) if value <= LARGEST => Number { length, kind: TokenKind::Integer(value), fault: None },
        _ => faulty(length, too_large(Span::default())),
    }
}

/// The error for an integer that 64 bits can't hold.
pub(crate) fn too_large(place: Span) -> Diagnostic {
    Diagnostic::new("integer-too-large", place, "this number is larger than any INTEGER")
        .help("the largest INTEGER is 9223372036854775807; 64 bits are 16 hexadecimal digits")
}

fn bad_number(message: String) -> Diagnostic {
    Diagnostic::new("bad-number", Span::default(), message)
}

fn character(length: usize, digits: &str) -> Number {
    match u8::from_str_radix(digits, 16) {
        Ok(code) => Number { length, kind: TokenKind::Character(code), fault: None },
        Err(_) => {
            let fault = bad_number(format!("there is no CHARACTER with the code `{digits}X`"))
                .help("a CHARACTER is one byte: 0X to 0FFX");
            faulty(length, fault)
        }
    }
}

fn malformed(text: &str) -> Number {
    let fault = bad_number(format!("`{text}` is no number"))
        .help("numbers look like 42, 0FFH (hexadecimal), 0DX (character), 2., 0.05 and 1.5E-3 (real)");
    faulty(text.len(), fault)
}

fn faulty(length: usize, fault: Diagnostic) -> Number {
    Number { length, kind: TokenKind::BadNumber, fault: Some(fault) }
}

fn run(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take_while(|&&byte| belongs(byte)).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
}
