//! Requests, and how they are answered: `POST path/Message` is a call, `GET path/openapi.json` the description. What is wrong
//! is said as `{"error":"..."}` with the status for it.

use std::convert::Infallible;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use drystone_component::calls::Call;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};

use super::exchange::{Answer, Exchange};
use super::export::{Admission, Export, Exports};
use super::json;
use super::task::Handle;
use crate::bindings::datum::Datum;

/// How many requests to one interface may be carried out at once.
const MOST_OPEN: usize = 20_000;

/// Most bytes that are read of what nobody wants.
const UNWANTED: usize = 64 * 1024;

/// How long a request's body may take.
const PATIENCE: Duration = Duration::from_secs(30);

type Reply = Response<Full<Bytes>>;

/// Why a request isn't carried out.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) reason: String,
    allow: Option<&'static str>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, reason: impl Into<String>) -> Refusal {
        Refusal { status, reason: reason.into(), allow: None }
    }

    fn method(allow: &'static str) -> Refusal {
        let reason = format!("the method has to be {allow}");
        Refusal { status: StatusCode::METHOD_NOT_ALLOWED, reason, allow: Some(allow) }
    }

    /// What is sent of it.
    pub(super) fn body(&self) -> Vec<u8> {
        let mut body = serde_json::json!({ "error": self.reason }).to_string().into_bytes();
        body.push(b'\n');
        body
    }

    fn reply(self) -> Reply {
        let mut reply = reply(self.status, self.body().into());
        if let Some(allow) = self.allow {
            reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        reply
    }
}

fn reply(status: StatusCode, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// The answer to a request.
pub(super) async fn respond(
    exports: Rc<Exports>,
    task: Handle,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let (head, body) = request.into_parts();
    let answer = match wanted(&exports, &head) {
        Ok((export, Wanted::Call(call))) => carry_out(export, call, body, task).await,
        other => {
            if head.version == Version::HTTP_2 {
                // What nobody wants is read, too: some clients hear nothing else.
                task.clock.within(PATIENCE, Limited::new(body, UNWANTED).collect()).await;
            }
            other.map(|(export, _)| reply(StatusCode::OK, export.description.clone()))
        }
    };
    Ok(answer.unwrap_or_else(Refusal::reply))
}

/// What a request may ask for.
enum Wanted {
    Description,
    Call(Call),
}

fn wanted(exports: &Exports, request: &Parts) -> Result<(Rc<Export>, Wanted), Refusal> {
    let path = request.uri.path();
    let nothing = || Refusal::new(StatusCode::NOT_FOUND, format!("there is nothing at {path}"));
    let (export, rest) = exports.find(path).ok_or_else(nothing)?;
    may_enter(&export, &request.headers, &request.uri)?;
    if rest == "openapi.json" {
        return match request.method {
            Method::GET | Method::HEAD => Ok((export, Wanted::Description)),
            _ => Err(Refusal::method("GET")),
        };
    }
    let name = export.interface.name.get();
    let Some(calls) = &export.calls else {
        let reason = format!("{name} is no interface of requests and replies: talk to it by a WebSocket");
        return Err(Refusal::new(StatusCode::UPGRADE_REQUIRED, reason));
    };
    let call = export.message(&rest).and_then(|message| calls.with(message)).ok_or_else(|| {
        let path = &export.path;
        let reason = format!("{name} has no message {rest}: {path}/openapi.json says which it has");
        Refusal::new(StatusCode::NOT_FOUND, reason)
    })?;
    match request.method {
        Method::POST => Ok((export.clone(), Wanted::Call(call.clone()))),
        _ => Err(Refusal::method("POST")),
    }
}

async fn carry_out(export: Rc<Export>, call: Call, body: Incoming, task: Handle) -> Result<Reply, Refusal> {
    let interface = export.interface;
    let body = read(body, export.limit, &task).await?;
    let parameters = interface.messages.get()[call.message].parameters.get();
    let body: &[u8] = if body.is_empty() && parameters.is_empty() { b"{}" } else { &body };
    let values = json::read(body, parameters).map_err(|why| Refusal::new(StatusCode::BAD_REQUEST, why))?;
    let values = values.into_iter().map(Datum::into_owned).collect();
    let _open = Open::new(&export)?;
    let asked = interface.messages.get()[call.message].name.get();
    let (far, answer) = Exchange::begin(interface, call, values, task);
    export.bring(far);
    match answer.await {
        Answer::Message(message) => Ok(reply(StatusCode::OK, message.into())),
        Answer::Taken => {
            let mut reply = Response::new(Full::default());
            *reply.status_mut() = StatusCode::NO_CONTENT;
            Ok(reply)
        }
        Answer::Failed => {
            let name = interface.name.get();
            let reason = format!("{name} has ended without an answer to {asked}");
            Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason))
        }
    }
}

/// Whether a client may use what is exported: it has the token, and is no other site's page in someone's browser.
pub(super) fn may_enter(export: &Export, headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
    // HTTP/2 has it there.
    let host = uri.authority().map(|authority| Some(authority.as_str()));
    let ours = host.or_else(|| headers.get(HOST).map(|host| host.to_str().ok()));
    match &export.admission {
        Admission::Token(token) => {
            let shown = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
            let shown = shown.and_then(|shown| shown.strip_prefix(b"Bearer "));
            if !shown.is_some_and(|shown| same(shown, token.as_bytes())) {
                let reason = "a token is needed: Authorization: Bearer ..";
                return Err(Refusal::new(StatusCode::UNAUTHORIZED, reason));
            }
        }
        Admission::OwnName if ours.is_some_and(|ours| !ours.is_some_and(is_here)) => {
            let reason = "without a token this is served as localhost, 127.0.0.1 or [::1] only";
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, reason));
        }
        Admission::OwnName | Admission::All => {}
    }
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let theirs = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    match (ours.flatten(), theirs) {
        // Any name can be made to lead here for a while; a certificate or a name of this machine can't.
        (Some(ours), Some((scheme, theirs))) if ours == theirs && (scheme == "https" || is_here(ours)) => {
            Ok(())
        }
        _ => Err(Refusal::new(StatusCode::FORBIDDEN, "pages of other sites may not use this")),
    }
}

/// Whether a host, perhaps with a port, is this machine whoever is asked.
fn is_here(host: &str) -> bool {
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Compares in a time that doesn't tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

async fn read(body: Incoming, limit: usize, task: &Handle) -> Result<Bytes, Refusal> {
    let too_large = || {
        let reason = format!("a request may have {limit} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
    };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    match task.clock.within(PATIENCE, Limited::new(body, limit).collect()).await {
        Some(Ok(body)) => Ok(body.to_bytes()),
        Some(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Some(Err(error)) => Err(Refusal::new(StatusCode::BAD_REQUEST, error.to_string())),
        None => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request took too long")),
    }
}

/// A request that is being carried out.
struct Open(Rc<Export>);

impl Open {
    fn new(export: &Rc<Export>) -> Result<Open, Refusal> {
        if export.open.get() >= MOST_OPEN {
            let reason = "there are too many requests";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        }
        export.open.set(export.open.get() + 1);
        Ok(Open(export.clone()))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
    }
}
