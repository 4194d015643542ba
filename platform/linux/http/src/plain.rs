//! Requests and responses of the library's `Http`, as they are.
//!
//! Header fields are one text: a line `name: value` for each, with the name in small letters, and a line end in front
//! of the first. `library/Http.dry` says which values a request and a response consist of.

use std::borrow::Cow;
use std::rc::Rc;
use std::task::Poll;

use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName,
    HeaderValue, SET_COOKIE, TE, TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::request::Parts;

use super::exchange::{Answer, Asking, Exchange, Form};
use super::export::Export;
use super::held::{CutOff, Given, Held, Source};
use super::reply::{Refusal, Reply};
use super::style::is_upload;
use super::surroundings::{Open, PATIENCE, Surroundings, late, say_zipped};
use super::zip;
use drystone_net::datum::Datum;
use http_body_util::BodyExt;

/// The message by which all of its interfaces begin.
const REQUEST: usize = 0;

/// Fields that belong to the connection, or are made with the body.
const OWN: [HeaderName; 6] =
    [CONNECTION, CONTENT_LENGTH, TE, TRANSFER_ENCODING, UPGRADE, HeaderName::from_static("keep-alive")];

/// The answer to a request, whose path goes on so behind the export's.
pub(super) async fn respond(
    export: &Rc<Export>,
    rest: &str,
    (head, body): (Parts, Incoming),
    at: &Surroundings,
) -> Result<Reply, Refusal> {
    let interface = export.interface;
    let mut held = at.exports.holdings.hold();
    let (bytes, mut body) = if is_upload(interface) {
        (Vec::new(), Some(body))
    } else {
        (at.read(body, export.limit, &mut held).await?, None)
    };
    let open = Open::new(export)?;
    let request = (REQUEST, request(export, rest, (&head, bytes), at));
    let takes_zip = zip::is_taken(&head.headers);
    drop(head);
    let (far, asking) = Exchange::begin(interface, Form::Plain, request, at.task.clone());
    export.bring(far);
    loop {
        let Answer::Values(number, values) = asking.answer().await else { return Err(failed(export)) };
        match interface.messages.get()[number].name.get() {
            "Continue" => match body.take() {
                Some(body) => bring(body, export, &asking, at).await?,
                None => return Err(failed(export)),
            },
            "Begin" => {
                let (mut reply, first) = response(values)?;
                *reply.body_mut() = Given::pieces(pieces(first, asking, open), &at.pace);
                return Ok(reply);
            }
            _ => return whole(values, (export.limit, held, takes_zip), at),
        }
    }
}

/// Brings a request's body to the service, piece by piece.
async fn bring(
    mut body: Incoming,
    export: &Export,
    asking: &Asking,
    at: &Surroundings,
) -> Result<(), Refusal> {
    let number = |name: &str| export.message(name).expect("it is declared");
    loop {
        let frame = at.task.clock.within(PATIENCE, body.frame()).await.ok_or_else(late)?;
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))?;
        let Ok(piece) = frame.into_data() else { continue };
        if !asking.say(number("Chunk"), vec![text(piece.to_vec())]).await {
            return Ok(());
        }
    }
    asking.say(number("End"), Vec::new()).await;
    Ok(())
}

/// A response's body that comes in pieces.
fn pieces(first: Vec<u8>, asking: Asking, open: Open) -> Source {
    let mut first = Some(Bytes::from(first)).filter(|first| !first.is_empty());
    Box::new(move || {
        // As long as the body is under way, so is the request.
        let _ = &open;
        if let Some(first) = first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        asking.poll_answer().map(|answer| match answer {
            Answer::Values(_, mut values) => match values.pop() {
                Some(Datum::Text(piece)) => Some(Ok(piece.into_owned().into())),
                _ => None,
            },
            _ => Some(Err(CutOff)),
        })
    })
}

fn failed(export: &Export) -> Refusal {
    let name = export.interface.name.get();
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, format!("{name} has ended without an answer"))
}

fn text(bytes: Vec<u8>) -> Datum<'static> {
    Datum::Text(Cow::Owned(bytes))
}

/// The values of a request, in the order of `Http.Request`.
pub(super) fn request(
    export: &Export,
    rest: &str,
    (head, body): (&Parts, Vec<u8>),
    at: &Surroundings,
) -> Vec<Datum<'static>> {
    let host = head.uri.authority().map(|authority| authority.as_str().as_bytes());
    let host = host.or_else(|| head.headers.get(HOST).map(HeaderValue::as_bytes)).unwrap_or_default();
    let scheme: &[u8] = if at.is_secure { b"https://" } else { b"http://" };
    let site = export.admission.site.as_ref();
    let called = site.map_or_else(|| [scheme, host].concat(), |site| site.url.clone().into_bytes());
    vec![
        text(head.method.as_str().into()),
        text([b"/", rest.as_bytes()].concat()),
        text(head.uri.query().unwrap_or_default().into()),
        text(written(&head.headers)),
        text(body),
        text([&called, export.path.as_bytes()].concat()),
        text(at.peer.as_bytes().into()),
    ]
}

/// Header fields as a text. Values of the same name are joined, except cookies that are set.
pub(super) fn written(headers: &HeaderMap) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.push(b'\n');
    for name in headers.keys() {
        let separator: &[u8] = if name == COOKIE { b"; " } else { b", " };
        for (index, value) in headers.get_all(name).iter().enumerate() {
            if index > 0 && name != SET_COOKIE {
                out.truncate(out.len() - 1);
                out.extend_from_slice(separator);
            } else {
                out.extend_from_slice(name.as_str().as_bytes());
                out.extend_from_slice(b": ");
            }
            out.extend_from_slice(value.as_bytes());
            out.push(b'\n');
        }
    }
    out
}

/// Reads header fields from a text.
///
/// # Errors
/// The line that is no field.
pub(super) fn read(text: &[u8], headers: &mut HeaderMap) -> Result<(), String> {
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let field = line.iter().position(|&byte| byte == b':').and_then(|colon| {
            let name = HeaderName::from_bytes(&line[..colon]).ok()?;
            Some((name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?))
        });
        let (name, value) =
            field.ok_or_else(|| format!("this is no header field: {}", String::from_utf8_lossy(line)))?;
        if !OWN.contains(&name) {
            headers.append(name, value);
        }
    }
    Ok(())
}

/// A response's status and header fields; and its body.
fn response(values: Vec<Datum<'static>>) -> Result<(Reply, Vec<u8>), Refusal> {
    let wrong = |why: String| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the service's answer can't be sent: {why}"))
    };
    let Ok([Datum::Integer(status), Datum::Text(headers), Datum::Text(body)]) = <[_; 3]>::try_from(values)
    else {
        unreachable!("this is what a response consists of")
    };
    let code = u16::try_from(status).ok().filter(|status| (200..=599).contains(status));
    let code = code.and_then(|status| StatusCode::from_u16(status).ok());
    let code = code.ok_or_else(|| wrong(format!("{status} is no status from 200 to 599")))?;
    let mut reply = Reply::new(Bytes::new().into());
    *reply.status_mut() = code;
    read(&headers, reply.headers_mut()).map_err(wrong)?;
    Ok((reply, body.into_owned()))
}

/// A response with its body.
fn whole(
    values: Vec<Datum<'static>>,
    (limit, held, takes_zip): (usize, Held, bool),
    at: &Surroundings,
) -> Result<Reply, Refusal> {
    let (mut reply, body) = response(values)?;
    if body.len() > limit {
        let reason = format!("the answer has {} bytes, and may have {limit}", body.len());
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, reason));
    }
    if matches!(reply.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        return Ok(reply);
    }
    let may_zip = takes_zip && is_text(reply.headers()) && !reply.headers().contains_key(CONTENT_ENCODING);
    let (body, is_zipped) = at.body(body, (held, may_zip))?;
    *reply.body_mut() = body;
    if is_zipped {
        say_zipped(&mut reply);
    }
    Ok(reply)
}

/// Whether a body is worth compressing.
fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.starts_with("text/")
        || ["json", "xml", "javascript"]
            .iter()
            .any(|end| kind.strip_suffix(end).is_some_and(|before| before.ends_with(['/', '+'])))
}

/// Reads bytes that may be anything as header fields, for fuzzing.
///
/// # Panics
/// What is written of them is read as something else.
pub(super) fn feed(bytes: &[u8]) {
    let read_all = |bytes: &[u8]| {
        let mut headers = HeaderMap::new();
        read(bytes, &mut headers).map(|()| written(&headers))
    };
    if let Ok(text) = read_all(bytes) {
        assert_eq!(read_all(&text), Ok(text));
    }
}
