//! Heads of HTTP messages: all up to the empty line.

use std::io::{Error, ErrorKind, Read, Result};

/// Most bytes of a head.
const MOST: usize = 1 << 14;

/// Most lines of a head.
pub(super) const LINES: usize = 64;

/// Reads a head from a stream, beginning with the bytes that were read already. `None`: the stream ended before a head
/// began.
///
/// # Errors
/// The stream ends within a head, or the head is too long or malformed.
pub(super) fn read<T>(
    stream: &mut impl Read,
    so_far: &mut Vec<u8>,
    parse: impl Fn(&[u8]) -> Result<Option<(usize, T)>>,
) -> Result<Option<T>> {
    loop {
        if let Some((length, head)) = parse(so_far)? {
            so_far.drain(..length);
            return Ok(Some(head));
        }
        if so_far.len() >= MOST {
            return Err(invalid(&format!("a head of more than {MOST} bytes")));
        }
        if !more(stream, so_far)? {
            return if so_far.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
        }
    }
}

/// The length of a head, if it is complete.
pub(super) fn length(parsed: httparse::Result<usize>) -> Result<Option<usize>> {
    match parsed {
        Ok(httparse::Status::Complete(length)) => Ok(Some(length)),
        Ok(httparse::Status::Partial) => Ok(None),
        Err(error) => Err(invalid(&error.to_string())),
    }
}

/// Reads some more bytes. Returns whether there were any.
pub(super) fn more(stream: &mut impl Read, so_far: &mut Vec<u8>) -> Result<bool> {
    let mut buffer = [0; 4096];
    let count = stream.read(&mut buffer)?;
    so_far.extend_from_slice(&buffer[..count]);
    Ok(count > 0)
}

pub(super) fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("what has come is no HTTP: {what}"))
}

/// Whether a header's list contains this word.
pub(super) fn says(value: &[u8], word: &str) -> bool {
    value.split(|byte| *byte == b',').any(|it| it.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}
