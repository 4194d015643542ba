//! Reads numbers from texts that may be long. Other processes run meanwhile, so the few digits that decide which number
//! it is are found in parts, and then read at once.

use alloc::vec::Vec;

use drystone_component::number::{self, parse_integer, parse_real};

use crate::long::Caller;

/// A text with more bytes is long.
const LONG: usize = if cfg!(miri) { 1 << 8 } else { 1 << 12 };
/// No INTEGER has more digits, without leading zeros.
const LONGEST: usize = 64;
/// After so many digits, only whether the rest is all 0 can still decide which REAL is nearest.
const DIGITS: usize = 800;

/// `NUMBER(t, n)`
#[inline]
pub fn integer(by: Caller, text: &[u8]) -> Option<i64> {
    if text.len() <= LONG { parse_integer(text) } else { parse_integer(&short_integer(by, text)?) }
}

/// `NUMBER(t, x)`
#[inline]
pub fn real(by: Caller, text: &[u8]) -> Option<f64> {
    if text.len() <= LONG {
        return parse_real(text);
    }
    let is_hexadecimal = text.last() == Some(&b'H');
    parse_real(&if is_hexadecimal { short_integer(by, text)? } else { short_real(by, text)? })
}

/// The same number without leading zeros.
#[cold]
#[inline(never)]
fn short_integer(by: Caller, text: &[u8]) -> Option<Vec<u8>> {
    let (sign, unsigned) = number::sign(text);
    if !unsigned.first()?.is_ascii_digit() {
        return None;
    }
    let digits = after_zeros(by, unsigned);
    (digits.len() <= LONGEST).then(|| [sign, b"0", digits].concat())
}

/// The same number, with a few digits and an exponent.
#[cold]
#[inline(never)]
fn short_real(by: Caller, text: &[u8]) -> Option<Vec<u8>> {
    let (sign, unsigned) = number::sign(text);
    let (whole, rest) = digits(by, unsigned);
    if whole.is_empty() {
        return None;
    }
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => digits(by, rest),
        [] => (rest, rest),
        _ => return None,
    };
    let exponent = match rest {
        [] => 0,
        [b'E', rest @ ..] => exponent(by, rest)?,
        _ => return None,
    };
    let whole = after_zeros(by, whole);
    let significant = if whole.is_empty() { after_zeros(by, fraction) } else { fraction };
    let before = whole.len() as i64 - (fraction.len() - significant.len()) as i64;
    let kept: Vec<u8> = whole.iter().chain(significant).copied().take(DIGITS).collect();
    let is_rest_zero = after_zeros(by, whole.get(DIGITS..).unwrap_or(&[])).is_empty()
        && after_zeros(by, significant.get(DIGITS.saturating_sub(whole.len())..).unwrap_or(&[])).is_empty();
    let last: &[u8] = if is_rest_zero { b"" } else { b"1" };
    let exponent = number::integer(exponent.saturating_add(before).clamp(-FARTHEST, FARTHEST));
    Some([sign, b"0.", &kept, last, b"E", exponent.as_bytes()].concat())
}

/// A greater exponent means the same.
const FARTHEST: i64 = 1_000_000;

/// An exponent; if it is no INTEGER, the greatest or least one.
fn exponent(by: Caller, text: &[u8]) -> Option<i64> {
    let (sign, unsigned) = number::sign(text);
    let (all, rest) = digits(by, unsigned);
    if all.is_empty() || !rest.is_empty() {
        return None;
    }
    let great = if sign == b"-" { -i64::MAX } else { i64::MAX };
    Some(short_integer(by, text).and_then(|short| parse_integer(&short)).unwrap_or(great))
}

/// The digits with which the text begins, and the rest.
fn digits(by: Caller, text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(by.position(text, |byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

fn after_zeros(by: Caller, digits: &[u8]) -> &[u8] {
    &digits[by.position(digits, |byte| byte != b'0').unwrap_or(digits.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_number_is_read_as_it_would_be_at_once() {
        let zeros = "0".repeat(LONG);
        let nines = "9".repeat(LONG);
        let integers = ["42", "-42", "+0FFH", "9223372036854775807", "9223372036854775808", "12x", "", "7."];
        for digits in integers {
            let (sign, unsigned) = number::sign(digits.as_bytes());
            let text = [sign, zeros.as_bytes(), unsigned].concat();
            assert_eq!(integer(Caller::HASTY, &text), parse_integer(&text), "{digits}");
            assert_eq!(real(Caller::HASTY, &text), parse_real(&text), "{digits}");
        }
        for text in ["x", "", "-"].map(|start| alloc::format!("{start}{nines}")) {
            assert_eq!(integer(Caller::HASTY, text.as_bytes()), parse_integer(text.as_bytes()));
        }
        let half = "1".repeat(200) + "5" + &zeros;
        let reals = [
            alloc::format!("{zeros}.{zeros}"),
            alloc::format!("{zeros}1.{zeros}5"),
            alloc::format!("-0.{zeros}25E{LONG}"),
            alloc::format!("1{zeros}.5E-{LONG}"),
            alloc::format!("{nines}.{nines}E-{LONG}"),
            alloc::format!("{half}.{zeros}E-4100"),
            // Half-way between two, and a bit more than that, far behind.
            alloc::format!("9007199254740993.{zeros}"),
            alloc::format!("9007199254740993.{zeros}1"),
            alloc::format!("1.5E{zeros}3"),
            alloc::format!("1.5E-{nines}"),
            alloc::format!("0.0E{nines}"),
            alloc::format!("1.5E{nines}"),
            alloc::format!("{nines}."),
            alloc::format!("{zeros}E5"),
            alloc::format!("{zeros}.5E"),
            alloc::format!("{zeros}.5x"),
            alloc::format!(".{zeros}"),
        ];
        for text in &reals {
            assert_eq!(real(Caller::HASTY, text.as_bytes()), parse_real(text.as_bytes()), "{}", &text[..20]);
        }
        let texts: Vec<&[u8]> = reals.iter().map(|text| text.as_bytes()).collect();
        assert!(texts.iter().any(|text| real(Caller::HASTY, text).is_some_and(|x| x != 0.0)));
    }
}
