//! An HTTP client for GET.

use std::io::{Error, ErrorKind, Read, Result, Write};

use super::body::{self, Extent};
use super::head::{self, LINES};

/// A server's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// 200, if all is well.
    pub status: u16,
    /// Names as they were sent, with their values.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let found = self.headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_slice())
    }
}

/// Gets a path from a server; its body may have at most `most` bytes. Afterwards the connection can't be reused.
///
/// # Errors
/// The response is malformed or too long, or the stream fails.
pub fn get(stream: &mut (impl Read + Write), host: &str, path: &str, most: usize) -> Result<Response> {
    let is_strange = |text: &str| text.bytes().any(|byte| !byte.is_ascii_graphic());
    if !path.starts_with('/') || is_strange(path) || is_strange(host) {
        let what = format!("`{path}` at `{host}` can't be asked for: encode what isn't ASCII, and blanks");
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    response(stream, most)
}

/// Reads a response to GET.
fn response(stream: &mut impl Read, most: usize) -> Result<Response> {
    let mut so_far = Vec::new();
    loop {
        let head = head::read(stream, &mut so_far, parse)?;
        let (mut response, extent) = head.ok_or(ErrorKind::UnexpectedEof)?;
        match response.status {
            // An interim response: the final one comes later.
            100..=199 => continue,
            204 | 304 => {}
            _ => response.body = body::read(stream, &mut so_far, extent, most)?,
        }
        return Ok(response);
    }
}

fn parse(bytes: &[u8]) -> Result<Option<(usize, (Response, Extent))>> {
    let mut headers = [httparse::EMPTY_HEADER; LINES];
    let mut parsed = httparse::Response::new(&mut headers);
    let Some(length) = head::length(parsed.parse(bytes))? else { return Ok(None) };
    let extent = Extent::of(parsed.headers)?.unwrap_or(Extent::ToEnd);
    let headers = parsed.headers.iter().map(|it| (it.name.to_string(), it.value.to_vec())).collect();
    let response = Response { status: parsed.code.unwrap_or_default(), headers, body: Vec::new() };
    Ok(Some((length, (response, extent))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(bytes: &[u8]) -> Result<Response> {
        response(&mut &*bytes, 100)
    }

    #[test]
    fn bodies_end_where_they_say() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloand more",
            "HTTP/1.1 200 OK\r\n\r\nhello",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n\
             3;x=y\r\nllo\r\n0\r\nA: b\r\n\r\n",
        ] {
            let response = answer(text.as_bytes()).expect("it is an answer");
            assert_eq!((response.status, &response.body[..]), (200, &b"hello"[..]), "{text}");
        }
    }

    #[test]
    fn what_others_may_take_otherwise_is_refused() {
        for (headers, body) in [
            ("Content-Length: 5\r\nContent-Length: 4", "hello"),
            ("Content-Length: +5", "hello"),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
            ("Transfer-Encoding: gzip", "hello"),
            ("Transfer-Encoding: chunked", "2\r\nhello\r\n0\r\n\r\n"),
            ("Content-Length: 101", "hello"),
            ("Content-Length: 6", "hello"),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n{body}");
            assert!(answer(text.as_bytes()).is_err(), "{text}");
        }
    }

    const PARTS: [&str; 9] = [
        "HTTP/1.1 200 OK\r\n",
        "Content-Length: 9",
        "Transfer-Encoding: chunked",
        "\r\n",
        "\r\n\r\n",
        "ffffffffffffffff\r\n",
        "3\r\nabc",
        "0\r\n",
        "\0",
    ];

    proptest! {
        #[test]
        fn no_answer_makes_it_panic_or_take_more_than_was_allowed(
            parts in proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..12)
        ) {
            if let Ok(response) = answer(parts.concat().as_bytes()) {
                prop_assert!(response.body.len() <= 100);
            }
        }
    }
}
