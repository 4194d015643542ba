//! Numbers as text, and text as numbers: what WRITE, WRITEHEX, TEXT and NUMBER mean. Knows nothing of texts in memory:
//! it writes to a small buffer and reads bytes.
//!
//! A REAL is written with the fewest digits that read back as the same REAL: plainly (`0.001`, `3.0`, `1500000.0`) if
//! its first digit stands between the fourth place after the point and the sixteenth before it, else with an exponent
//! (`1.0E20`, `1.5E-7`). There is always a digit on both sides of the point.

use core::fmt::Write;

/// A short piece of writing.
#[derive(Clone, Copy)]
pub struct Writing {
    bytes: [u8; Writing::LONGEST],
    length: usize,
}

impl Writing {
    /// The longest is a REAL of 17 digits with everything: `-1.2345678901234567E-300`.
    const LONGEST: usize = 32;

    const fn new() -> Writing {
        Writing { bytes: [0; Writing::LONGEST], length: 0 }
    }

    /// What is written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn push_zeros(&mut self, count: usize) {
        self.bytes[self.length..][..count].fill(b'0');
        self.length += count;
    }
}

impl Write for Writing {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// An INTEGER in decimal.
pub fn integer(value: i64) -> Writing {
    let mut writing = Writing::new();
    let mut rest = value.unsigned_abs();
    let mut first = Writing::LONGEST;
    loop {
        first -= 1;
        writing.bytes[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        first -= 1;
        writing.bytes[first] = b'-';
    }
    writing.bytes.copy_within(first.., 0);
    writing.length = Writing::LONGEST - first;
    writing
}

/// An INTEGER in upper-case hexadecimal; negative ones have all 16 digits.
pub fn hexadecimal(value: i64) -> Writing {
    formatted(format_args!("{value:X}"))
}

/// TRUE or FALSE.
pub fn boolean(value: bool) -> &'static [u8] {
    if value { b"TRUE" } else { b"FALSE" }
}

/// A REAL in the shortest form that reads back.
pub fn real(value: f64) -> Writing {
    if value.is_nan() {
        return formatted(format_args!("NAN"));
    }
    let mut writing = Writing::new();
    if value.is_sign_negative() {
        writing.push(b"-");
    }
    if value.is_infinite() {
        writing.push(b"INF");
        return writing;
    }
    // Rust's own form is `d.dddde-x`, or `de-x`, with the fewest digits.
    let scientific = formatted(format_args!("{:e}", value.abs()));
    let mut digits = Writing::new();
    let mut rest = scientific.as_bytes().iter();
    for digit in rest.by_ref().take_while(|&&byte| byte != b'e').filter(|byte| byte.is_ascii_digit()) {
        digits.push(&[*digit]);
    }
    let exponent = decimal(rest.as_slice());
    let digits = digits.as_bytes();
    match exponent {
        -4..=-1 => {
            writing.push(b"0.");
            writing.push_zeros((-1 - exponent) as usize);
            writing.push(digits);
        }
        0..=15 => {
            let whole = exponent as usize + 1;
            writing.push(&digits[..digits.len().min(whole)]);
            writing.push_zeros(whole.saturating_sub(digits.len()));
            writing.push(b".");
            writing.push(fraction(digits.get(whole..)));
        }
        _ => {
            writing.push(&digits[..1]);
            writing.push(b".");
            writing.push(fraction(digits.get(1..)));
            writing.push(b"E");
            writing.push(integer(exponent).as_bytes());
        }
    }
    writing
}

fn fraction(digits: Option<&[u8]>) -> &[u8] {
    digits.filter(|digits| !digits.is_empty()).unwrap_or(b"0")
}

/// Reads an exponent that Rust wrote.
fn decimal(bytes: &[u8]) -> i64 {
    let (sign, digits) = match bytes {
        [b'-', digits @ ..] => (-1, digits),
        digits => (1, digits),
    };
    sign * digits.iter().fold(0, |sum, digit| 10 * sum + i64::from(digit - b'0'))
}

fn formatted(arguments: core::fmt::Arguments) -> Writing {
    let mut writing = Writing::new();
    // It never fails: everything written here fits.
    let _ = writing.write_fmt(arguments);
    writing
}

/// The INTEGER that the whole text spells, with an optional sign: `42`, `-7`, `0FFH`.
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, unsigned) = split_sign(text);
    let (digits, radix) = match unsigned {
        [digits @ .., b'H'] => (digits, 16),
        digits => (digits, 10),
    };
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    digits.iter().try_fold(0i64, |sum, &byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'F' if radix == 16 => byte - b'A' + 10,
            _ => return None,
        };
        let digit = if negative { -i64::from(digit) } else { i64::from(digit) };
        sum.checked_mul(radix)?.checked_add(digit)
    })
}

/// The REAL that the whole text spells, with an optional sign: `1.5E-7`, `2.`, or an INTEGER.
pub fn parse_real(text: &[u8]) -> Option<f64> {
    let (_, unsigned) = split_sign(text);
    if unsigned.last() == Some(&b'H') {
        return Some(parse_integer(text)? as f64);
    }
    if !is_real(unsigned) {
        return None;
    }
    let value: f64 = core::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// `digit {digit} [ "." {digit} [ "E" [sign] digit {digit} ] ]`
fn is_real(text: &[u8]) -> bool {
    let after_digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = after_digits(text);
    match &text[whole..] {
        _ if whole == 0 => false,
        [] => true,
        [b'.', rest @ ..] => match &rest[after_digits(rest)..] {
            [] => true,
            [b'E', exponent @ ..] => {
                let (_, digits) = split_sign(exponent);
                !digits.is_empty() && after_digits(digits) == digits.len()
            }
            _ => false,
        },
        _ => false,
    }
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    let (sign, rest) = sign(text);
    (sign == b"-", rest)
}

/// The sign with which a number begins, if it has one, and the rest.
pub fn sign(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(usize::from(matches!(text.first(), Some(b'-' | b'+'))))
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
