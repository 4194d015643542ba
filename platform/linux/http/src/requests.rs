//! Requests, and how they are answered: `POST path/Message` is a call, `GET path/openapi.json` the description. Errors
//! are answered by `{"error":"..."}` with a status.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, Ordering};

use drystone_component::calls::Call;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, HeaderValue,
    IF_NONE_MATCH, LOCATION, RETRY_AFTER, TRANSFER_ENCODING, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode, Version};

use super::admission::{check_host, is_preflight};
use super::exchange::{Answer, Exchange, Form};
use super::export::{Export, Exports};
use super::files::File;
use super::held::Given;
use super::plain;
use super::reply::{LONG_HEAD, MOST_HEAD, Refusal, Reply, empty, reply};
use super::style::Style;
use super::surroundings::{Open, PATIENCE, Surroundings, say_zipped};
use super::task::Handle;
use super::upgrade::{self, Agreed, Halves};
use super::{json, query, zip};
use drystone_net::datum::Datum;

/// Most bytes that are read of a body that isn't used.
const UNWANTED: usize = 64 * 1024;

/// The answer to a request.
pub(super) async fn respond(at: Rc<Surroundings>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let (head, body) = request.into_parts();
    let (export, rest) = match found(&at.exports, &head) {
        Ok(found) => found,
        Err(refusal) => {
            hear(&head, body, &at.task).await;
            return Ok(refusal.reply());
        }
    };
    let other_half = if export.style.is_half() { at.exports.other_half(&export) } else { None };
    let is_admitted = other_half.as_ref().map_or(Ok(()), |other| other.admission.check(&head));
    let answer = match is_admitted.and_then(|()| wanted(&export, &rest, &head)) {
        Ok(Wanted::Call(call)) => carry_out(&export, call, (&head, body), &at).await,
        Ok(Wanted::Plain) => {
            // The head is dropped before the service answers: its bytes are the connection's, which reads on.
            let asked = export.admission.origins.are_known().then(|| head.clone());
            let reply = plain::respond(&export, &rest, (head, body), &at).await;
            let mut reply = reply.unwrap_or_else(Refusal::reply);
            if let Some(head) = asked {
                export.admission.tell_browser(&head, reply.headers_mut());
            }
            return Ok(reply);
        }
        other => {
            hear(&head, body, &at.task).await;
            match (other, &at.upgrade) {
                (Ok(Wanted::Socket), Some(upgrade)) => {
                    let halves =
                        export.style.is_half().then(|| halves(&export, other_half, (&head, &rest), &at));
                    upgrade.agree(Agreed { export: export.clone(), halves }, &head)
                }
                (other, _) => other.and_then(|wanted| wanted.reply(&export, &head, &at)),
            }
        }
    };
    let mut reply = answer.unwrap_or_else(Refusal::reply);
    export.admission.tell_browser(&head, reply.headers_mut());
    Ok(reply)
}

/// The halves of a WebSocket, with the message by which both begin.
fn halves(
    export: &Rc<Export>,
    other: Option<Rc<Export>>,
    (head, rest): (&Parts, &str),
    at: &Surroundings,
) -> Halves {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let mut request = vec![Datum::Integer(LAST.fetch_add(1, Ordering::Relaxed) + 1)];
    request.append(&mut plain::request(export, rest, (head, Vec::new()), at));
    let (this, other) = (Some(export.clone()), other);
    let (incoming, outgoing) =
        if matches!(export.style, Style::Incoming) { (this, other) } else { (other, this) };
    Halves { incoming, outgoing, request }
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
    /// What the service answers.
    Plain,
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
                reply.headers_mut().insert(ALLOW, HeaderValue::from_static(export.admission.methods));
                Ok(reply)
            }
            Wanted::Call(_) | Wanted::Plain | Wanted::Socket => unreachable!("it is answered elsewhere"),
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
    check_length(request)?;
    check_host(request)?;
    let path = request.uri.path();
    let nothing = || Refusal::new(StatusCode::NOT_FOUND, format!("there is nothing at {path}"));
    exports.find(path).ok_or_else(nothing)
}

/// Refuses a long head. hyper does so only while it hasn't got all of one, so it depends on how the bytes come.
fn check_length(request: &Parts) -> Result<(), Refusal> {
    let target = request.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let fields = request.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    if target + fields.sum::<usize>() > MOST_HEAD {
        return Err(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, LONG_HEAD));
    }
    Ok(())
}

fn wanted(export: &Export, rest: &str, request: &Parts) -> Result<Wanted, Refusal> {
    export.admission.check(request)?;
    if is_preflight(request) {
        return Ok(Wanted::Permission);
    }
    if rest == "openapi.json" && !export.description.is_empty() {
        return match request.method {
            Method::GET | Method::HEAD => Ok(Wanted::Description),
            _ => Err(Refusal::method("GET")),
        };
    }
    let is_get = matches!(request.method, Method::GET | Method::HEAD);
    let file = || export.mapping.files.find(rest).filter(|_| is_get);
    if matches!(export.style, Style::Plain) {
        return match file() {
            Some(file) => Ok(found_file(file, rest, request)),
            None => check_transfer(request).map(|()| Wanted::Plain),
        };
    }
    if upgrade::is_wanted(request) {
        let reason = || format!("there is nothing at {}", request.uri.path());
        return match rest {
            "" => Ok(Wanted::Socket),
            _ if export.style.is_half() => Ok(Wanted::Socket),
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, reason())),
        };
    }
    if let Some(file) = file() {
        return Ok(found_file(file, rest, request));
    }
    let name = export.interface.name.get();
    let Some(calls) = export.style.calls() else {
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

fn found_file(file: Rc<File>, rest: &str, request: &Parts) -> Wanted {
    let is_folder = rest.is_empty() && !request.uri.path().ends_with('/');
    if is_folder { Wanted::Folder } else { Wanted::File(file) }
}

/// Whether all fields of a name say the same.
fn are(request: &Parts, name: &HeaderName, what: &str) -> bool {
    let mut values = request.headers.get_all(name).iter();
    values.all(|value| value.as_bytes().eq_ignore_ascii_case(what.as_bytes()))
}

/// Refuses what isn't understood of how a body is sent.
fn check_transfer(request: &Parts) -> Result<(), Refusal> {
    if !are(request, &TRANSFER_ENCODING, "chunked")
        || request.headers.get_all(TRANSFER_ENCODING).iter().count() > 1
    {
        let reason = "Transfer-Encoding has to be chunked and nothing else";
        return Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, reason));
    }
    if request.method == Method::CONNECT {
        return Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, "this is no proxy"));
    }
    Ok(())
}

/// Refuses encodings of bodies.
fn check_encoding(request: &Parts) -> Result<(), Refusal> {
    check_transfer(request)?;
    if !are(request, &CONTENT_ENCODING, "identity") {
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
        let body = at.read(body, export.limit, &mut held).await?;
        let body: &[u8] = if body.is_empty() && parameters.is_empty() { b"{}" } else { &body };
        json::read(body, parameters).map_err(bad)?.into_iter().map(Datum::into_owned).collect()
    } else {
        query::read(head.uri.query().unwrap_or_default(), parameters).map_err(bad)?
    };
    let _open = Open::new(export)?;
    let asked = interface.messages.get()[call.message].name.get();
    let form = if call.answers.is_empty() { Form::Notice } else { Form::Call };
    let (far, asking) = Exchange::begin(interface, form, (call.message, values), at.task.clone());
    export.bring(far);
    match asking.answer().await {
        Answer::Message(_, message) if message.len() > export.limit => {
            let reason = format!("the answer has {} bytes, and may have {}", message.len(), export.limit);
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, reason))
        }
        Answer::Message(number, message) => {
            let (body, is_zipped) = at.body(message, (held, zip::is_taken(&head.headers)))?;
            let mut answer = reply(StatusCode::OK, body);
            answer.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            if is_zipped {
                say_zipped(&mut answer);
            }
            Ok(with_status(answer, export.mapping.status(number)))
        }
        Answer::Taken => Ok(empty(StatusCode::NO_CONTENT)),
        Answer::Failed | Answer::Values(..) => {
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
