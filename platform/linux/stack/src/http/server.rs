//! A small HTTP server.

use std::io::{ErrorKind, Read, Result, Write};

use super::body::{self, Extent};
use super::head::{self, LINES, says};

/// Most bytes of a request's body.
const MOST: usize = 1 << 20;

/// A client's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path, still percent-encoded.
    pub path: String,
    /// The body.
    pub body: Vec<u8>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 200, if all is well.
    pub status: u16,
    /// The body's media type, such as `text/plain`.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// A text with a status.
    pub fn text(status: u16, text: impl Into<String>) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body: text.into().into_bytes() }
    }
}

/// Answers a client's requests, one after the other, until there are no more.
///
/// # Errors
/// The stream fails. A malformed request is answered with 400, and is the last.
pub fn serve(stream: &mut (impl Read + Write), mut respond: impl FnMut(&Request) -> Answer) -> Result<()> {
    let mut so_far = Vec::new();
    loop {
        let (request, stays) = match next(stream, &mut so_far) {
            Ok(Some(next)) => next,
            Ok(None) => return Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::FileTooLarge) => {
                return write(stream, &Answer::text(400, error.to_string()), true, false);
            }
            Err(error) => return Err(error),
        };
        let answer = respond(&request);
        write(stream, &answer, request.method != "HEAD", stays)?;
        if !stays {
            return Ok(());
        }
    }
}

/// The next request, and whether another one may follow.
fn next(stream: &mut (impl Read + Write), so_far: &mut Vec<u8>) -> Result<Option<(Request, bool)>> {
    let Some(head) = head::read(stream, so_far, parse)? else { return Ok(None) };
    let Head { mut request, stays, extent, waits } = head;
    if waits && so_far.is_empty() {
        write!(stream, "HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    request.body = body::read(stream, so_far, extent, MOST)?;
    Ok(Some((request, stays)))
}

struct Head {
    request: Request,
    stays: bool,
    extent: Extent,
    /// The client waits for `100 Continue` before it sends the body.
    waits: bool,
}

fn parse(bytes: &[u8]) -> Result<Option<(usize, Head)>> {
    let mut headers = [httparse::EMPTY_HEADER; LINES];
    let mut parsed = httparse::Request::new(&mut headers);
    let Some(length) = head::length(parsed.parse(bytes))? else { return Ok(None) };
    let asks = |name: &str, word: &str| {
        parsed.headers.iter().any(|it| it.name.eq_ignore_ascii_case(name) && says(it.value, word))
    };
    let is_newer = parsed.version == Some(1);
    let stays = !asks("connection", "close") && (is_newer || asks("connection", "keep-alive"));
    let waits = is_newer && asks("expect", "100-continue");
    let extent = Extent::of(parsed.headers)?.unwrap_or(Extent::Bytes(0));
    let text = |text: Option<&str>| text.unwrap_or_default().to_string();
    let request = Request { method: text(parsed.method), path: text(parsed.path), body: Vec::new() };
    Ok(Some((length, Head { request, stays, extent, waits })))
}

fn write(stream: &mut impl Write, answer: &Answer, has_body: bool, stays: bool) -> Result<()> {
    let Answer { status, kind, body } = answer;
    let connection = if stays { "keep-alive" } else { "close" };
    let mut bytes = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n",
        reason(*status),
        body.len()
    )
    .into_bytes();
    if has_body {
        bytes.extend_from_slice(body);
    }
    stream.write_all(&bytes)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        500 => "Internal Server Error",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The client's bytes, and the answers to them.
    struct Wire<'a>(&'a [u8], Vec<u8>);

    impl Read for Wire<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for Wire<'_> {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            self.1.write(bytes)
        }
        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    fn served(sent: &[u8]) -> (Vec<Request>, String) {
        let (mut wire, mut all) = (Wire(sent, Vec::new()), Vec::new());
        let _ = serve(&mut wire, |request| {
            all.push(request.clone());
            Answer::text(200, "well")
        });
        (all, String::from_utf8_lossy(&wire.1).into_owned())
    }

    #[test]
    fn several_requests_come_by_one_connection() {
        let sent = b"GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 2\r\n\r\n\
                     hiHEAD /c HTTP/1.0\r\n\r\nGET /d HTTP/1.1\r\n\r\n";
        let (all, answers) = served(sent);
        let paths: Vec<_> = all.iter().map(|it| (it.path.as_str(), it.body.len())).collect();
        assert_eq!(paths, [("/a", 0), ("/b", 2), ("/c", 0)], "the last one ends it");
        assert_eq!(answers.matches("\r\n\r\nwell").count(), 2, "{answers}");
    }

    #[test]
    fn what_is_no_request_is_told_so() {
        for sent in ["nonsense\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"] {
            let (all, answers) = served(sent.as_bytes());
            assert!(all.is_empty() && answers.starts_with("HTTP/1.1 400 "), "{answers}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_sent_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            served(&bytes);
            served(&[b"GET / HTTP/1.1\r\n", &bytes[..]].concat());
        }
    }
}
