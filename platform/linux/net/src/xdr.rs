//! XDR (RFC 4506): INTEGER is a hyper (or an int, if the peer's are), REAL a double, BOOLEAN a bool, CHARACTER an
//! unsigned int, TEXT an opaque or string of variable length, which are the same bytes.

use std::borrow::Cow;

use drystone_component::{Parameter, Type};

use crate::datum::Datum;

/// The width of INTEGERs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// 32 bits; larger values are refused.
    Int,
    /// 64 bits.
    Hyper,
}

/// Reads bytes from their beginning. Its methods give `None` where the bytes end too early or have no such value.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    /// An unsigned int.
    pub fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// An opaque of variable length. Its padding should be zeros, but some implementations send other bytes.
    pub fn opaque(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.word()?).ok()?;
        let padded = length.checked_next_multiple_of(4)?;
        let (bytes, rest) = self.0.split_at_checked(padded)?;
        self.0 = rest;
        Some(&bytes[..length])
    }

    fn datum(&mut self, ty: Type, integers: Integers) -> Option<Datum<'a>> {
        Some(match (ty, integers) {
            (Type::Boolean, _) => Datum::Boolean(match self.word()? {
                0 => false,
                1 => true,
                _ => return None,
            }),
            (Type::Character, _) => Datum::Character(self.word()?.try_into().ok()?),
            (Type::Integer, Integers::Int) => Datum::Integer(i32::from_be_bytes(self.take()?).into()),
            (Type::Integer, Integers::Hyper) => Datum::Integer(i64::from_be_bytes(self.take()?)),
            (Type::Real, _) => Datum::Real(f64::from_be_bytes(self.take()?)),
            (Type::Text, _) => Datum::Text(Cow::Borrowed(self.opaque()?)),
            (Type::Component | Type::Sequence, _) => return None,
        })
    }
}

/// The values that all of these bytes are; `None`: they are not such values.
pub fn read<'a>(bytes: &'a [u8], parameters: &[Parameter], integers: Integers) -> Option<Vec<Datum<'a>>> {
    let mut reader = Reader(bytes);
    let values =
        parameters.iter().map(|parameter| reader.datum(parameter.ty, integers)).collect::<Option<_>>()?;
    reader.0.is_empty().then_some(values)
}

/// Adds an unsigned int.
pub fn write_word(out: &mut Vec<u8>, word: u32) {
    out.extend_from_slice(&word.to_be_bytes());
}

/// Adds an opaque of variable length.
///
/// # Errors
/// It is longer than XDR allows.
pub fn write_opaque(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), String> {
    let length = u32::try_from(bytes.len()).map_err(|_| "a text is too long for XDR".to_string())?;
    write_word(out, length);
    out.extend_from_slice(bytes);
    out.resize(out.len() + bytes.len().wrapping_neg() % 4, 0);
    Ok(())
}

/// Adds a value.
///
/// # Errors
/// A sentence says which INTEGER or TEXT the format has no room for.
pub fn write(out: &mut Vec<u8>, datum: &Datum<'_>, integers: Integers) -> Result<(), String> {
    match datum {
        Datum::Boolean(x) => write_word(out, u32::from(*x)),
        Datum::Character(x) => write_word(out, u32::from(*x)),
        Datum::Integer(x) if integers == Integers::Int => {
            let short = i32::try_from(*x).map_err(|_| format!("{x} is no integer of 32 bits"))?;
            out.extend_from_slice(&short.to_be_bytes());
        }
        Datum::Integer(x) => out.extend_from_slice(&x.to_be_bytes()),
        Datum::Real(x) => out.extend_from_slice(&x.to_be_bytes()),
        Datum::Text(x) => write_opaque(out, x)?,
        Datum::Sequence(_) => unreachable!("interfaces with sequences are refused when a binding is made"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Type; 5] = [Type::Boolean, Type::Character, Type::Integer, Type::Real, Type::Text];

    fn parameters(types: &[Type]) -> Vec<Parameter> {
        types.iter().map(|&ty| Parameter::new("x", ty)).collect()
    }

    fn written(values: &[Datum<'_>], integers: Integers) -> Vec<u8> {
        let mut out = Vec::new();
        values.iter().for_each(|value| write(&mut out, value, integers).expect("there is room for it"));
        out
    }

    fn values() -> Vec<Datum<'static>> {
        let text = Datum::Text(Cow::Borrowed(b"\xffabcd"));
        vec![Datum::Boolean(true), Datum::Character(200), Datum::Integer(-3), Datum::Real(1.5), text]
    }

    #[test]
    fn values_have_the_bytes_that_the_standard_says() {
        let long = [
            0, 0, 0, 1, 0, 0, 0, 200, 255, 255, 255, 255, 255, 255, 255, 253, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 5, 255, b'a', b'b', b'c', b'd', 0, 0, 0,
        ];
        assert_eq!(written(&values(), Integers::Hyper), long);
        assert_eq!(written(&values()[2..3], Integers::Int), [255, 255, 255, 253]);
    }

    #[test]
    fn what_was_written_is_read() {
        for integers in [Integers::Int, Integers::Hyper] {
            let bytes = written(&values(), integers);
            assert_eq!(read(&bytes, &parameters(&ALL), integers), Some(values()));
            for length in 0..bytes.len() {
                assert_eq!(read(&bytes[..length], &parameters(&ALL), integers), None, "{length} bytes");
            }
            assert_eq!(read(&[&bytes[..], &[0]].concat(), &parameters(&ALL), integers), None);
        }
    }

    #[test]
    fn what_has_no_room_or_no_meaning_is_refused() {
        let large = Datum::Integer(1 << 31);
        let refused = write(&mut Vec::new(), &large, Integers::Int).unwrap_err();
        assert_eq!(refused, "2147483648 is no integer of 32 bits");
        assert_eq!(read(&[0, 0, 0, 2], &parameters(&ALL[..1]), Integers::Int), None);
        assert_eq!(read(&[0, 0, 1, 0], &parameters(&ALL[1..2]), Integers::Int), None);
        assert_eq!(read(&[255, 255, 255, 255], &parameters(&ALL[4..]), Integers::Int), None);
    }
}
