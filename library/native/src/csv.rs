//! Rows of CSV (RFC 4180). A row is kept as a text: where each field ends, four bytes each, then how many fields there
//! are, and all their bytes before that.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// The longest row.
const MOST: usize = 1 << 30;

/// Reads the row that begins at `at`, which moves behind it; false at the end of the text. Empty lines are no rows.
pub(crate) fn row(text: &[u8], separator: u8, at: &mut i64, row: &mut Cow<'_, [u8]>) -> Result<bool, String> {
    let from = usize::try_from(*at).ok().filter(|&from| from <= text.len());
    let mut rest = &text[from.ok_or("a row begins outside the text")?..];
    let mut reader: Reader = ReaderBuilder::new().delimiter(separator).build();
    let (mut bytes, mut ends) = (vec![0; 64.max(rest.len().min(256))], vec![0; 16]);
    let (mut written, mut fields) = (0, 0);
    loop {
        let (result, read, more, ended) =
            reader.read_record(rest, &mut bytes[written..], &mut ends[fields..]);
        rest = &rest[read..];
        *at += read as i64;
        written += more;
        fields += ended;
        match result {
            // The end of the text ends the last row, too.
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull if bytes.len() > MOST => {
                return Err("the row is too long".to_string());
            }
            ReadRecordResult::OutputFull => bytes.resize(bytes.len() * 2, 0),
            ReadRecordResult::OutputEndsFull => ends.resize(ends.len() * 2, 0),
            ReadRecordResult::Record => break,
            ReadRecordResult::End => return Ok(false),
        }
    }
    bytes.truncate(written);
    bytes.extend(ends[..fields].iter().flat_map(|&end| (end as u32).to_le_bytes()));
    bytes.extend((fields as u32).to_le_bytes());
    *row = Cow::Owned(bytes);
    Ok(true)
}

/// The number at a place from the end of a row, counted in numbers.
fn number(row: &[u8], from_the_end: usize) -> Option<usize> {
    let at = row.len().checked_sub(from_the_end.checked_mul(4)?)?;
    Some(u32::from_le_bytes(row.get(at..at + 4)?.try_into().ok()?) as usize)
}

pub(crate) fn count(row: &[u8]) -> i64 {
    number(row, 1).unwrap_or(0) as i64
}

pub(crate) fn field(row: &[u8], index: i64) -> Result<Vec<u8>, String> {
    let found = || {
        let count = number(row, 1)?;
        let index = usize::try_from(index).ok().filter(|&index| index < count)?;
        let begin = if index == 0 { 0 } else { number(row, count - index + 2)? };
        row.get(begin..number(row, count - index + 1)?)
    };
    let found = found().ok_or_else(|| alloc::format!("a row of {} fields has no field {index}", count(row)));
    found.map(<[u8]>::to_vec)
}

/// A field as a row has it: in quotes if it needs them.
pub(crate) fn quoted(field: &[u8], separator: u8) -> Vec<u8> {
    let is_special = |&byte: &u8| byte == separator || b"\"\r\n".contains(&byte);
    if !field.is_empty() && !field.iter().any(is_special) {
        return field.to_vec();
    }
    let mut all = vec![b'"'];
    for &byte in field {
        if byte == b'"' {
            all.push(byte);
        }
        all.push(byte);
    }
    all.push(b'"');
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let (mut at, mut kept, mut all) = (0, Cow::Borrowed(&b""[..]), Vec::new());
        while row(text, b',', &mut at, &mut kept).expect("it fits") {
            all.push((0..count(&kept)).map(|index| field(&kept, index).expect("it is there")).collect());
        }
        all
    }

    #[test]
    fn fields_have_separators_quotes_and_line_ends() {
        let found = rows(b"a,\"b,\"\"c\"\"\n\",d\r\n\r\n,,\nlast");
        let expected: &[&[&[u8]]] = &[&[b"a", b"b,\"c\"\n", b"d"], &[b"", b"", b""], &[b"last"]];
        assert_eq!(found, expected);
        assert!(rows(b"").is_empty());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let fields: &[&[u8]] = &[b"", b"plain", b"a,b", b"\"", b"\r\n", b"\xff"];
        let line = fields.iter().map(|field| quoted(field, b',')).collect::<Vec<_>>().join(&b","[..]);
        assert_eq!(rows(&line), [fields]);
        let long = vec![b'x'; 100_000];
        let wide = [&long[..]; 100].join(&b","[..]);
        assert_eq!(rows(&wide)[0].len(), 100);
        assert_eq!(rows(&wide)[0][99], long);
    }

    #[test]
    fn rows_that_are_none_have_no_fields() {
        assert!(field(b"", 0).is_err() && field(b"\xff\xff\xff\xff", 3).is_err());
        assert_eq!(count(b"abc"), 0);
    }
}
