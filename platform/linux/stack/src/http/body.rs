//! Bodies of HTTP messages.

use std::io::{Error, ErrorKind, Read, Result};

use super::head::{invalid, more, says};

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// After so many bytes.
    Bytes(usize),
    /// In chunks; an empty one is the last.
    Chunks,
    /// At the end of the stream.
    ToEnd,
}

impl Extent {
    /// The extent that the headers declare. Conflicting headers are refused, because other programs may read them
    /// differently.
    pub fn of(headers: &[httparse::Header<'_>]) -> Result<Option<Extent>> {
        let mut lengths = named(headers, "content-length").map(length);
        let length = lengths.next().transpose()?;
        if lengths.any(|it| it.ok() != length) {
            return Err(invalid("lengths that differ"));
        }
        match (named(headers, "transfer-encoding").next_back(), length) {
            (Some(_), Some(_)) => Err(invalid("a length, and chunks")),
            (Some(coding), None) if says(coding, "chunked") => Ok(Some(Extent::Chunks)),
            (Some(_), None) => Err(invalid("a transfer coding that isn't known")),
            (None, length) => Ok(length.map(Extent::Bytes)),
        }
    }
}

fn named<'a>(
    headers: &'a [httparse::Header<'a>],
    name: &'static str,
) -> impl DoubleEndedIterator<Item = &'a [u8]> {
    headers.iter().filter(move |it| it.name.eq_ignore_ascii_case(name)).map(|it| it.value)
}

fn length(value: &[u8]) -> Result<usize> {
    let digits = value.trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(invalid("a length that is no number"));
    }
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| invalid("a length that no memory has"))
}

/// Reads a body of at most `most` bytes, beginning with the bytes that were read already. Bytes after it are left there
/// for the next message.
pub(super) fn read(
    stream: &mut impl Read,
    so_far: &mut Vec<u8>,
    extent: Extent,
    most: usize,
) -> Result<Vec<u8>> {
    match extent {
        Extent::Bytes(length) if length > most => Err(too_long(most)),
        Extent::Bytes(length) => take(stream, so_far, length),
        Extent::Chunks => chunks(stream, so_far, most),
        Extent::ToEnd => {
            while so_far.len() <= most {
                if !more(stream, so_far)? {
                    return Ok(std::mem::take(so_far));
                }
            }
            Err(too_long(most))
        }
    }
}

fn too_long(most: usize) -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("a body of more than {most} bytes"))
}

fn take(stream: &mut impl Read, so_far: &mut Vec<u8>, length: usize) -> Result<Vec<u8>> {
    while so_far.len() < length {
        if !more(stream, so_far)? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(so_far.drain(..length).collect())
}

fn chunks(stream: &mut impl Read, so_far: &mut Vec<u8>, most: usize) -> Result<Vec<u8>> {
    /// Most bytes of a chunk's size line, and of the trailer.
    const LINE: usize = 1024;
    let mut body = Vec::new();
    loop {
        let length = match httparse::parse_chunk_size(so_far) {
            Ok(httparse::Status::Complete((begin, length))) => {
                so_far.drain(..begin);
                length
            }
            Ok(httparse::Status::Partial) if so_far.len() < LINE => {
                if !more(stream, so_far)? {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                continue;
            }
            _ => return Err(invalid("a chunk without a length")),
        };
        if length > (most - body.len()) as u64 {
            return Err(too_long(most));
        }
        body.extend(take(stream, so_far, length as usize)?);
        if length == 0 {
            return trailer(stream, so_far, LINE).map(|()| body);
        }
        if take(stream, so_far, 2)? != b"\r\n" {
            return Err(invalid("a chunk that is longer than it says"));
        }
    }
}

/// Skips the trailer: lines after the last chunk, up to an empty one.
fn trailer(stream: &mut impl Read, so_far: &mut Vec<u8>, most: usize) -> Result<()> {
    let mut skipped = 0;
    loop {
        if let Some(end) = so_far.windows(2).position(|it| it == b"\r\n") {
            so_far.drain(..end + 2);
            skipped += end + 2;
            if end == 0 {
                return Ok(());
            }
        } else if !more(stream, so_far)? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if skipped + so_far.len() > most + 4096 {
            return Err(invalid("too much behind the last chunk"));
        }
    }
}
