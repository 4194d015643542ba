//! XDR (RFC 4506): INTEGER is a hyper (or an int, if the peer's are), REAL a double, BOOLEAN a bool, CHARACTER an
//! unsigned int, TEXT an opaque or string of variable length, which are the same bytes. A sequence is an array of
//! variable length; a record is a structure, and in a sequence one without fields is an int, which is 0.

use std::borrow::Cow;

use drystone_component::Parameter;
use drystone_component::form::Layout;
use drystone_runtime::native::layout_of;

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

    fn datum(&mut self, parameter: &Parameter, integers: Integers) -> Option<Datum<'a>> {
        let layout = layout_of(parameter);
        if let Layout::Sequence(_) = layout {
            let mut own = Vec::new();
            copy(self, layout, integers, &mut own, Integers::Hyper).ok()?;
            return Some(Datum::Sequence(Cow::Owned(own)));
        }
        self.plain(layout, integers)
    }

    /// A value that is neither a sequence nor a record.
    fn plain(&mut self, layout: &Layout, integers: Integers) -> Option<Datum<'a>> {
        Some(match (layout, integers) {
            (Layout::Boolean, _) => Datum::Boolean(match self.word()? {
                0 => false,
                1 => true,
                _ => return None,
            }),
            (Layout::Character, _) => Datum::Character(self.word()?.try_into().ok()?),
            (Layout::Integer, Integers::Int) => Datum::Integer(i32::from_be_bytes(self.take()?).into()),
            (Layout::Integer, Integers::Hyper) => Datum::Integer(i64::from_be_bytes(self.take()?)),
            (Layout::Real, _) => Datum::Real(f64::from_be_bytes(self.take()?)),
            (Layout::Text, _) => Datum::Text(Cow::Borrowed(self.opaque()?)),
            (Layout::Sequence(_) | Layout::Record(_), _) => return None,
        })
    }
}

/// The values that all of these bytes are; `None`: they are not such values.
pub fn read<'a>(bytes: &'a [u8], parameters: &[Parameter], integers: Integers) -> Option<Vec<Datum<'a>>> {
    let mut reader = Reader(bytes);
    let values =
        parameters.iter().map(|parameter| reader.datum(parameter, integers)).collect::<Option<_>>()?;
    reader.0.is_empty().then_some(values)
}

/// Copies a value whose INTEGERs have one width to bytes where they have another.
///
/// # Errors
/// A sentence says which INTEGER has no room there, or that the bytes are something else.
fn copy(
    from: &mut Reader<'_>,
    layout: &Layout,
    width: Integers,
    to: &mut Vec<u8>,
    new_width: Integers,
) -> Result<(), String> {
    let wrong = || "the bytes are no such value".to_string();
    match layout {
        Layout::Sequence(element) => {
            let count = from.word().ok_or_else(wrong)?;
            write_word(to, count);
            // Each element takes a word at least, so a count that lies comes to its end with the bytes.
            (0..count).try_for_each(|_| copy(from, element, width, to, new_width))
        }
        Layout::Record(fields) if fields.is_empty() => {
            from.word().filter(|&word| word == 0).ok_or_else(wrong)?;
            write_word(to, 0);
            Ok(())
        }
        Layout::Record(fields) => {
            fields.iter().try_for_each(|(_, field)| copy(from, field, width, to, new_width))
        }
        plain => write_one(to, &from.plain(plain, width).ok_or_else(wrong)?, new_width),
    }
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

/// Adds the values of these parameters.
///
/// # Errors
/// A sentence says which INTEGER or TEXT the format has no room for.
pub fn write<'v>(
    out: &mut Vec<u8>,
    parameters: &[Parameter],
    values: impl IntoIterator<Item = Datum<'v>>,
    integers: Integers,
) -> Result<(), String> {
    parameters.iter().zip(values).try_for_each(|(parameter, value)| match &value {
        Datum::Sequence(own) => copy(&mut Reader(own), layout_of(parameter), Integers::Hyper, out, integers),
        plain => write_one(out, plain, integers),
    })
}

/// Adds a value that is neither a sequence nor a record.
fn write_one(out: &mut Vec<u8>, datum: &Datum<'_>, integers: Integers) -> Result<(), String> {
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
        Datum::Sequence(_) => unreachable!("a sequence is copied by its layout"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::samples::{ALL, SEQUENCES};

    fn written(parameters: &[Parameter], values: &[Datum<'_>], integers: Integers) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, parameters, values.iter().cloned(), integers).expect("there is room for them");
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
        assert_eq!(written(&ALL, &values(), Integers::Hyper), long);
        assert_eq!(written(&ALL[2..3], &values()[2..3], Integers::Int), [255, 255, 255, 253]);
    }

    #[test]
    fn what_was_written_is_read() {
        for integers in [Integers::Int, Integers::Hyper] {
            for (parameters, values) in [(&ALL[..], values()), (&SEQUENCES[..], sequences())] {
                let bytes = written(parameters, &values, integers);
                assert_eq!(read(&bytes, parameters, integers), Some(values));
                for length in 0..bytes.len() {
                    assert_eq!(read(&bytes[..length], parameters, integers), None, "{length} bytes");
                }
                assert_eq!(read(&[&bytes[..], &[0]].concat(), parameters, integers), None);
            }
        }
    }

    #[test]
    fn what_has_no_room_or_no_meaning_is_refused() {
        let large = [Datum::Integer(1 << 31)];
        let refused = write(&mut Vec::new(), &ALL[2..3], large, Integers::Int).unwrap_err();
        assert_eq!(refused, "2147483648 is no integer of 32 bits");
        let large = [Datum::Sequence(Cow::Borrowed(&[0, 0, 0, 1, 0, 0, 0, 0, 0x80, 0, 0, 0]))];
        let refused = write(&mut Vec::new(), &SEQUENCES[..1], large, Integers::Int).unwrap_err();
        assert_eq!(refused, "2147483648 is no integer of 32 bits");
        assert_eq!(read(&[0, 0, 0, 2], &ALL[..1], Integers::Int), None);
        assert_eq!(read(&[0, 0, 1, 0], &ALL[1..2], Integers::Int), None);
        assert_eq!(read(&[255, 255, 255, 255], &ALL[4..], Integers::Int), None);
    }

    /// `[-3, 4]`, `[]`, `[["abcde", ""], []]`, and `[()]`, where `()` has no fields.
    fn sequences() -> Vec<Datum<'static>> {
        let shapes = [0, 0, 0, 0];
        let texts = [
            [0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 5, b'a', b'b', b'c', b'd'],
            [b'e', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ];
        let mut texts = texts.concat();
        texts.truncate(28);
        let integers = [[0, 0, 0, 2, 255, 255, 255, 255, 255, 255], [255, 253, 0, 0, 0, 0, 0, 0, 0, 4]];
        let all = [integers.concat(), shapes.to_vec(), texts, vec![0, 0, 0, 1, 0, 0, 0, 0]];
        all.map(|bytes| Datum::Sequence(Cow::Owned(bytes))).into()
    }

    #[test]
    fn sequences_are_arrays_whose_integers_are_as_wide_as_the_others() {
        let bytes = written(&SEQUENCES[..1], &sequences()[..1], Integers::Int);
        assert_eq!(bytes, [0, 0, 0, 2, 255, 255, 255, 253, 0, 0, 0, 4]);
        let padded = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, b'a', 1, 2, 3];
        let read = read(&padded, &SEQUENCES[2..3], Integers::Int).expect("bytes that pad may be any");
        let Datum::Sequence(own) = &read[0] else { panic!("it is a sequence") };
        assert_eq!(own[12..], [b'a', 0, 0, 0]);
    }

    #[test]
    fn counts_that_lie_take_no_memory() {
        for (sequence, parameter) in SEQUENCES.iter().enumerate() {
            for count in [1, 2, u32::MAX / 8, u32::MAX] {
                let bytes = count.to_be_bytes();
                assert_eq!(
                    read(&bytes, std::slice::from_ref(parameter), Integers::Hyper),
                    None,
                    "{sequence}"
                );
            }
        }
        let inner = [[0, 0, 0, 2], [0, 0, 0, 0], [255; 4]].concat();
        assert_eq!(read(&inner, &SEQUENCES[2..3], Integers::Hyper), None);
        assert_eq!(read(&[0, 0, 0, 1, 0, 0, 0, 1], &SEQUENCES[3..], Integers::Hyper), None, "no record");
    }
}
