//! A request of HTTP/1.1 that asks for a WebSocket.

use std::cell::RefCell;
use std::rc::Rc;

use data_encoding::BASE64;
use hyper::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode, Version};
use tungstenite::handshake::derive_accept_key;

use super::export::Export;
use super::reply::{Refusal, Reply, empty};
use drystone_net::datum::Datum;

/// The WebSocket to which a connection is upgraded, once its request has been answered.
#[derive(Clone, Default)]
pub(super) struct Upgrade(Rc<RefCell<Option<Agreed>>>);

/// See there.
pub(super) struct Agreed {
    /// One of the exports that it is for.
    pub(super) export: Rc<Export>,
    /// If it is one in halves.
    pub(super) halves: Option<Halves>,
}

/// The exports of a WebSocket in halves.
pub(super) struct Halves {
    pub(super) incoming: Option<Rc<Export>>,
    pub(super) outgoing: Option<Rc<Export>>,
    /// The values of the message by which both begin.
    pub(super) request: Vec<Datum<'static>>,
}

impl Upgrade {
    /// What was agreed, if it was.
    pub(super) fn take(&self) -> Option<Agreed> {
        self.0.borrow_mut().take()
    }

    /// Agrees: the answer by which the WebSocket begins.
    pub(super) fn agree(&self, agreed: Agreed, request: &Parts) -> Result<Reply, Refusal> {
        let key = key(request)?;
        let mut reply = empty(StatusCode::SWITCHING_PROTOCOLS);
        let accept =
            HeaderValue::try_from(derive_accept_key(key.as_bytes())).expect("base64 may stand there");
        let headers = reply.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        *self.0.borrow_mut() = Some(agreed);
        Ok(reply)
    }
}

/// Whether a request asks for a WebSocket, in the right form or not.
pub(super) fn is_wanted(request: &Parts) -> bool {
    request.version == Version::HTTP_11 && has(&request.headers, UPGRADE, "websocket")
}

/// Whether a header field has this word.
fn has(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
}

/// The client's key, if the request is as RFC 6455 requires.
fn key(request: &Parts) -> Result<&HeaderValue, Refusal> {
    let headers = &request.headers;
    let bad = |reason: &str| Refusal::new(StatusCode::BAD_REQUEST, reason);
    if request.method != Method::GET {
        return Err(Refusal::method("GET"));
    }
    if !has(headers, CONNECTION, "upgrade") {
        return Err(bad("who asks for a WebSocket says Connection: Upgrade"));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let reason = "WebSockets are talked in version 13: Sec-WebSocket-Version";
        return Err(Refusal::needs_socket(reason).with(SEC_WEBSOCKET_VERSION, "13"));
    }
    let is_key = |key: &&HeaderValue| BASE64.decode(key.as_bytes()).is_ok_and(|key| key.len() == 16);
    headers
        .get(SEC_WEBSOCKET_KEY)
        .filter(is_key)
        .ok_or_else(|| bad("Sec-WebSocket-Key has to be 16 bytes in base64"))
}
