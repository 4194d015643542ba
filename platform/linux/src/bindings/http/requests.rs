//! Requests, and how they are answered: `POST path/Message` is a call, `GET path/openapi.json` the description. What is wrong
//! is said as `{"error":"..."}` with the status for it.

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use drystone_component::calls::Call;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};

use super::admission::{check_host, is_preflight};
use super::exchange::{Answer, Exchange};
use super::export::{Export, Exports};
use super::json;
use super::task::Handle;
use super::upgrade::{self, Upgrade};
use crate::bindings::datum::Datum;

/// How many requests to one interface may be carried out at once.
const MOST_OPEN: usize = 20_000;

/// Most bytes that are read of what nobody wants.
const UNWANTED: usize = 64 * 1024;

/// How long a request's body may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) type Reply = Response<Full<Bytes>>;

/// Why a request isn't carried out.
pub(super) struct Refusal {
    status: StatusCode,
    reason: String,
    /// What is said besides.
    field: Option<(HeaderName, &'static str)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, reason: impl Into<String>) -> Refusal {
        Refusal { status, reason: reason.into(), field: None }
    }

    pub(super) fn with(self, name: HeaderName, value: &'static str) -> Refusal {
        Refusal { field: Some((name, value)), ..self }
    }

    pub(super) fn method(allow: &'static str) -> Refusal {
        let reason = format!("the method has to be {allow}");
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, reason).with(ALLOW, allow)
    }

    pub(super) fn needs_socket(reason: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::UPGRADE_REQUIRED, reason)
    }

    fn too_many(reason: &str) -> Refusal {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason).with(RETRY_AFTER, "1")
    }

    fn reply(self) -> Reply {
        let mut reply = reply(self.status, problem(&self.reason).into());
        let headers = reply.headers_mut();
        if let Some((name, value)) = self.field {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if self.status == StatusCode::UPGRADE_REQUIRED {
            headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        }
        reply
    }
}

/// What is sent of something that is wrong.
pub(super) fn problem(reason: &str) -> Vec<u8> {
    let mut body = serde_json::json!({ "error": reason }).to_string().into_bytes();
    body.push(b'\n');
    body
}

pub(super) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}

fn reply(status: StatusCode, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// The answer to a request. The connection may be made a WebSocket, if it is one of HTTP/1.1.
pub(super) async fn respond(
    exports: Rc<Exports>,
    task: Handle,
    upgrade: Option<Upgrade>,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let (head, body) = request.into_parts();
    let (export, rest) = match found(&exports, &head) {
        Ok(found) => found,
        Err(refusal) => {
            hear(&head, body, &task).await;
            return Ok(refusal.reply());
        }
    };
    let answer = match wanted(&export, &rest, &head) {
        Ok(Wanted::Call(call)) => carry_out(&export, call, body, task).await,
        other => {
            hear(&head, body, &task).await;
            match (other, upgrade) {
                (Ok(Wanted::Socket), Some(upgrade)) => upgrade.agree(&export, &head),
                (other, _) => other.map(|wanted| wanted.reply(&export)),
            }
        }
    };
    let mut reply = answer.unwrap_or_else(Refusal::reply);
    export.admission.tell_browser(&head, reply.headers_mut());
    Ok(reply)
}

/// What nobody wants of a request over HTTP/2 is read, too: some clients hear nothing else.
async fn hear(head: &Parts, body: Incoming, task: &Handle) {
    if head.version == Version::HTTP_2 {
        task.clock.within(PATIENCE, Limited::new(body, UNWANTED).collect()).await;
    }
}

/// What a request may ask for.
enum Wanted {
    Description,
    Call(Call),
    Socket,
    /// What may be asked.
    Permission,
}

impl Wanted {
    fn reply(self, export: &Export) -> Reply {
        match self {
            Wanted::Description => reply(StatusCode::OK, export.description.clone()),
            Wanted::Permission => {
                let mut reply = empty(StatusCode::NO_CONTENT);
                reply.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
                reply
            }
            Wanted::Call(_) | Wanted::Socket => unreachable!("it is answered elsewhere"),
        }
    }
}

/// What a request is sent to, and the rest of its path.
fn found(exports: &Exports, request: &Parts) -> Result<(Rc<Export>, String), Refusal> {
    check_host(request)?;
    let path = request.uri.path();
    let nothing = || Refusal::new(StatusCode::NOT_FOUND, format!("there is nothing at {path}"));
    exports.find(path).ok_or_else(nothing)
}

fn wanted(export: &Export, rest: &str, request: &Parts) -> Result<Wanted, Refusal> {
    export.admission.check(request)?;
    if is_preflight(request) {
        return Ok(Wanted::Permission);
    }
    if rest == "openapi.json" {
        return match request.method {
            Method::GET | Method::HEAD => Ok(Wanted::Description),
            _ => Err(Refusal::method("GET")),
        };
    }
    if upgrade::is_wanted(request) {
        let reason = || format!("there is nothing at {}", request.uri.path());
        return match rest {
            "" => Ok(Wanted::Socket),
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, reason())),
        };
    }
    let name = export.interface.name.get();
    let Some(calls) = &export.calls else {
        let reason = format!("{name} is no interface of requests and replies: talk to it by a WebSocket");
        return Err(Refusal::needs_socket(reason));
    };
    let call = export.message(rest).and_then(|message| calls.with(message)).ok_or_else(|| {
        let path = &export.path;
        let reason = format!("{name} has no message {rest}: {path}/openapi.json says which it has");
        Refusal::new(StatusCode::NOT_FOUND, reason)
    })?;
    if request.method != Method::POST {
        return Err(Refusal::method("POST"));
    }
    check_encoding(request)?;
    Ok(Wanted::Call(call.clone()))
}

/// Bodies are taken as they are.
fn check_encoding(request: &Parts) -> Result<(), Refusal> {
    let is = |name, what: &str| {
        let mut values = request.headers.get_all(name).iter();
        values.all(|value| value.as_bytes().eq_ignore_ascii_case(what.as_bytes()))
    };
    if !is(TRANSFER_ENCODING, "chunked") || request.headers.get_all(TRANSFER_ENCODING).iter().count() > 1 {
        let reason = "Transfer-Encoding has to be chunked and nothing else";
        return Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, reason));
    }
    if !is(CONTENT_ENCODING, "identity") {
        let reason = "a request's body may have no Content-Encoding";
        let refusal = Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason);
        return Err(refusal.with(ACCEPT_ENCODING, "identity"));
    }
    Ok(())
}

async fn carry_out(export: &Rc<Export>, call: Call, body: Incoming, task: Handle) -> Result<Reply, Refusal> {
    let interface = export.interface;
    let body = read(body, export.limit, &task).await?;
    let parameters = interface.messages.get()[call.message].parameters.get();
    let body: &[u8] = if body.is_empty() && parameters.is_empty() { b"{}" } else { &body };
    let values = json::read(body, parameters).map_err(|why| Refusal::new(StatusCode::BAD_REQUEST, why))?;
    let values = values.into_iter().map(Datum::into_owned).collect();
    let _open = Open::new(export)?;
    let asked = interface.messages.get()[call.message].name.get();
    let (far, answer) = Exchange::begin(interface, call, values, task);
    export.bring(far);
    match answer.await {
        Answer::Message(message) if message.len() > export.limit => {
            let reason = format!("the answer has {} bytes, and may have {}", message.len(), export.limit);
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, reason))
        }
        Answer::Message(message) => Ok(reply(StatusCode::OK, message.into())),
        Answer::Taken => Ok(empty(StatusCode::NO_CONTENT)),
        Answer::Failed => {
            let name = interface.name.get();
            let reason = format!("{name} has ended without an answer to {asked}");
            Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason))
        }
    }
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
            return Err(Refusal::too_many("there are too many requests"));
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
