//! Requests, and how they are answered: `POST path/Message` is a call, `GET path/openapi.json` the description. Errors
//! are answered by `{"error":"..."}` with a status.

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use drystone_component::calls::Call;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH,
    LOCATION, RETRY_AFTER, TRANSFER_ENCODING, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode, Version};

use super::admission::{check_host, is_preflight};
use super::exchange::{Answer, Exchange};
use super::export::{Export, Exports};
use super::files::File;
use super::held::{Given, Held, Pace};
use super::reply::{Refusal, Reply, empty, reply};
use super::task::Handle;
use super::upgrade::{self, Upgrade};
use super::{json, query, zip};
use drystone_net::datum::Datum;

/// Most requests to one interface that are unanswered.
const MOST_OPEN: usize = 20_000;

/// Most bytes that are read of a body that isn't used.
const UNWANTED: usize = 64 * 1024;

/// How long a request's body may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a connection's requests share.
#[derive(Clone)]
pub(super) struct Surroundings {
    pub(super) exports: Rc<Exports>,
    pub(super) task: Handle,
    pub(super) pace: Pace,
    /// The connection may become a WebSocket.
    pub(super) upgrade: Option<Upgrade>,
}

/// The answer to a request.
pub(super) async fn respond(at: Surroundings, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let (head, body) = request.into_parts();
    let (export, rest) = match found(&at.exports, &head) {
        Ok(found) => found,
        Err(refusal) => {
            hear(&head, body, &at.task).await;
            return Ok(refusal.reply());
        }
    };
    let answer = match wanted(&export, &rest, &head) {
        Ok(Wanted::Call(call)) => carry_out(&export, call, (&head, body), &at).await,
        other => {
            hear(&head, body, &at.task).await;
            match (other, &at.upgrade) {
                (Ok(Wanted::Socket), Some(upgrade)) => upgrade.agree(&export, &head),
                (other, _) => other.and_then(|wanted| wanted.reply(&export, &head, &at)),
            }
        }
    };
    let mut reply = answer.unwrap_or_else(Refusal::reply);
    export.admission.tell_browser(&head, reply.headers_mut());
    Ok(reply)
}

/// Reads a body that isn't used, over HTTP/2: some clients don't read the answer before they have sent it.
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
    File(Rc<File>),
    /// A redirection to the same path with a `/` behind it, from where a page's relative names count.
    Folder,
    /// What a browser may send (a preflight request).
    Permission,
}

impl Wanted {
    fn reply(self, export: &Export, request: &Parts, at: &Surroundings) -> Result<Reply, Refusal> {
        match self {
            Wanted::Description => Ok(reply(StatusCode::OK, export.description.clone())),
            Wanted::File(file) => send_file(&file, request, at),
            Wanted::Folder => {
                let mut reply = empty(StatusCode::PERMANENT_REDIRECT);
                let place = HeaderValue::try_from(format!("{}/", request.uri.path()));
                reply.headers_mut().insert(LOCATION, place.expect("it was a path"));
                Ok(reply)
            }
            Wanted::Permission => {
                let mut reply = empty(StatusCode::NO_CONTENT);
                reply.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
                Ok(reply)
            }
            Wanted::Call(_) | Wanted::Socket => unreachable!("it is answered elsewhere"),
        }
    }
}

fn send_file(file: &File, request: &Parts, at: &Surroundings) -> Result<Reply, Refusal> {
    let tag = HeaderValue::try_from(&file.tag).expect("it is a number");
    let known = request.headers.get_all(IF_NONE_MATCH).into_iter().filter_map(|tags| tags.to_str().ok());
    let is_known = known.flat_map(|tags| tags.split(',')).any(|known| {
        let known = known.trim();
        known == "*" || known.strip_prefix("W/").unwrap_or(known) == file.tag
    });
    let mut reply = if is_known {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        let zipped = file.zipped.as_ref().filter(|_| zip::is_taken(&request.headers));
        let body = zipped.unwrap_or(&file.body).clone();
        // All clients share the file's bytes, so none are held.
        let mut reply = reply(StatusCode::OK, Given::new(body, at.exports.holdings.hold(), &at.pace));
        reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
        if zipped.is_some() {
            reply.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        reply
    };
    let headers = reply.headers_mut();
    headers.insert(ETAG, tag);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if file.zipped.is_some() {
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    Ok(reply)
}

/// The export that a request is for, and the rest of its path.
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
    let is_get = matches!(request.method, Method::GET | Method::HEAD);
    if let Some(file) = export.mapping.files.find(rest).filter(|_| is_get) {
        let is_folder = rest.is_empty() && !request.uri.path().ends_with('/');
        return Ok(if is_folder { Wanted::Folder } else { Wanted::File(file) });
    }
    let name = export.interface.name.get();
    let Some(calls) = &export.calls else {
        let reason = format!("{name} is no interface of requests and replies: talk to it by a WebSocket");
        return Err(Refusal::needs_socket(reason));
    };
    let call = export.message(rest).and_then(|message| calls.with(message)).ok_or_else(|| {
        let path = &export.path;
        let reason = match rest {
            "" => format!("here is {name}: {path}/openapi.json says which messages it has"),
            _ => format!("{name} has no message {rest}: {path}/openapi.json says which it has"),
        };
        Refusal::new(StatusCode::NOT_FOUND, reason)
    })?;
    match (&request.method, export.mapping.reads(call.message)) {
        (&Method::POST, _) => check_encoding(request)?,
        (&Method::GET | &Method::HEAD, true) => {}
        (_, true) => return Err(Refusal::method("GET, POST")),
        (_, false) => return Err(Refusal::method("POST")),
    }
    Ok(Wanted::Call(call.clone()))
}

/// Refuses encodings of bodies.
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

async fn carry_out(
    export: &Rc<Export>,
    call: Call,
    (head, body): (&Parts, Incoming),
    at: &Surroundings,
) -> Result<Reply, Refusal> {
    let interface = export.interface;
    let mut held = at.exports.holdings.hold();
    let parameters = interface.messages.get()[call.message].parameters.get();
    let bad = |why| Refusal::new(StatusCode::BAD_REQUEST, why);
    let values = if head.method == Method::POST {
        let body = read(body, export.limit, &at.task, &mut held).await?;
        let body: &[u8] = if body.is_empty() && parameters.is_empty() { b"{}" } else { &body };
        json::read(body, parameters).map_err(bad)?.into_iter().map(Datum::into_owned).collect()
    } else {
        query::read(head.uri.query().unwrap_or_default(), parameters).map_err(bad)?
    };
    let _open = Open::new(export)?;
    let asked = interface.messages.get()[call.message].name.get();
    let (far, answer) = Exchange::begin(interface, call, values, at.task.clone());
    export.bring(far);
    match answer.await {
        Answer::Message(_, message) if message.len() > export.limit => {
            let reason = format!("the answer has {} bytes, and may have {}", message.len(), export.limit);
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, reason))
        }
        Answer::Message(number, message) => {
            let answer = say(message, head, held, at)?;
            Ok(with_status(answer, export.mapping.status(number)))
        }
        Answer::Taken => Ok(empty(StatusCode::NO_CONTENT)),
        Answer::Failed => {
            let name = interface.name.get();
            let reason = format!("{name} has ended without an answer to {asked}");
            Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason))
        }
    }
}

fn with_status(mut reply: Reply, status: StatusCode) -> Reply {
    *reply.status_mut() = status;
    if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    reply
}

/// The response with an answer, whose bytes are held until the client has taken them.
fn say(mut message: Vec<u8>, request: &Parts, mut held: Held, at: &Surroundings) -> Result<Reply, Refusal> {
    let may_zip = message.len() <= zip::LONGEST && zip::is_taken(&request.headers);
    let zipped = if may_zip { zip::zipped(&message) } else { None };
    let is_zipped = zipped.is_some();
    message = zipped.unwrap_or(message);
    if !held.set(message.len()) {
        return Err(full());
    }
    let mut reply = reply(StatusCode::OK, Given::new(message.into(), held, &at.pace));
    let headers = reply.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_zipped {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    Ok(reply)
}

fn full() -> Refusal {
    Refusal::too_many("the server holds too much for its clients")
}

async fn read(body: Incoming, limit: usize, task: &Handle, held: &mut Held) -> Result<Vec<u8>, Refusal> {
    let too_large = || {
        let reason = format!("a request may have {limit} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
    };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let all = async {
        let (mut body, mut bytes) = (body, Vec::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))?;
            let Ok(piece) = frame.into_data() else { continue };
            if bytes.len() + piece.len() > limit {
                return Err(too_large());
            }
            if !held.set(bytes.len() + piece.len()) {
                return Err(full());
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    };
    let late = || Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request took too long");
    task.clock.within(PATIENCE, all).await.unwrap_or_else(|| Err(late()))
}

/// Counts a request as unanswered, until it is dropped.
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
