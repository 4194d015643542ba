//! The data of LOC (RFC 1876): a position on earth, and its precision.

use super::scanner::{Tokens, Wrong, strange};

/// Thousandths of a second of arc in a degree, and the encoding of the equator and the prime meridian.
const DEGREE: f64 = 3_600_000.0;
const MIDDLE: f64 = (1u32 << 31) as f64;
/// Altitudes are encoded from this many centimetres below the reference.
const BELOW: f64 = 10_000_000.0;

/// `D [M [S]] N D [M [S]] E HEIGHT [SIZE [HORIZONTAL [VERTICAL]]]`, into wire format.
///
/// # Errors
/// A part is none.
pub fn read(tokens: &mut Tokens<'_>) -> Result<[u8; 16], Wrong> {
    let latitude = angle(tokens, 90.0, ["N", "S"])?;
    let longitude = angle(tokens, 180.0, ["E", "W"])?;
    let height = centimetres(tokens.token()?.word(), -100_000.0, 42_849_672.95)? + BELOW;
    let mut precisions = [0x12, 0x16, 0x13];
    for precision in &mut precisions {
        let Some(token) = tokens.peek() else { break };
        tokens.token()?;
        *precision = one_digit(centimetres(token.word(), 0.0, 90_000_000.0)?);
    }
    let [size, horizontal, vertical] = precisions;
    let mut data = [0; 16];
    data[..4].copy_from_slice(&[0, size, horizontal, vertical]);
    for (at, number) in [(4, latitude), (8, longitude), (12, height as u32)] {
        data[at..at + 4].copy_from_slice(&number.to_be_bytes());
    }
    Ok(data)
}

/// Degrees, minutes and seconds, and one of two directions.
fn angle(tokens: &mut Tokens<'_>, most: f64, [positive, negative]: [&str; 2]) -> Result<u32, Wrong> {
    let (mut sum, mut unit) = (0.0, DEGREE);
    for part in 0.. {
        let word = tokens.token()?.word();
        let is_positive = word.eq_ignore_ascii_case(positive);
        if part > 0 && (is_positive || word.eq_ignore_ascii_case(negative)) {
            if sum > most * DEGREE {
                return Err(Wrong(format!("an angle has more than {most} degrees")));
            }
            return Ok((if is_positive { MIDDLE + sum } else { MIDDLE - sum }).round() as u32);
        }
        let limit = if part == 0 { most + 1.0 } else { 60.0 };
        let number = decimal(word)
            .filter(|number| part < 3 && *number < limit && (part == 2 || number.fract() == 0.0));
        sum += number.ok_or_else(|| strange("part of an angle", word))? * unit;
        unit /= 60.0;
    }
    unreachable!("the loop has no end of its own")
}

fn decimal(word: &str) -> Option<f64> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.parse().ok().filter(|_| is_plain)
}

/// Metres, with or without the unit.
fn centimetres(word: &str, least: f64, most: f64) -> Result<f64, Wrong> {
    let number = word.strip_suffix(['m', 'M']).unwrap_or(word);
    let (sign, digits) = number.strip_prefix('-').map_or((1.0, number), |digits| (-1.0, digits));
    let metres = decimal(digits).map(|metres| sign * metres).filter(|metres| (least..=most).contains(metres));
    Ok((metres.ok_or_else(|| strange("length in metres", word))? * 100.0).round())
}

/// A length as one digit and a power of ten.
fn one_digit(centimetres: f64) -> u8 {
    let (mut digit, mut zeros) = (centimetres as u64, 0);
    while digit > 9 {
        digit /= 10;
        zeros += 1;
    }
    (digit as u8) << 4 | zeros
}
