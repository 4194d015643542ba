//! Responses, and refusals of requests.

use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, UPGRADE};
use hyper::{Response, StatusCode};

use super::held::Given;

pub(super) type Reply = Response<Given>;

/// Most bytes of a request's head.
pub(super) const MOST_HEAD: usize = 64 * 1024;

/// What is said of a longer one.
pub(super) const LONG_HEAD: &str = "the request's head has more than 65536 bytes, or more than 100 fields";

/// Why a request isn't carried out.
pub(super) struct Refusal {
    status: StatusCode,
    reason: String,
    /// A header field besides.
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

    pub(super) fn too_many(reason: &str) -> Refusal {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason).with(RETRY_AFTER, "1")
    }

    pub(super) fn reply(self) -> Reply {
        let mut reply = reply(self.status, Bytes::from(problem(&self.reason)));
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

/// The body of a response that says what is wrong.
pub(super) fn problem(reason: &str) -> Vec<u8> {
    let mut body = serde_json::json!({ "error": reason }).to_string().into_bytes();
    body.push(b'\n');
    body
}

pub(super) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Given::from(Bytes::new()));
    *reply.status_mut() = status;
    reply
}

pub(super) fn reply(status: StatusCode, body: impl Into<Given>) -> Reply {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}
