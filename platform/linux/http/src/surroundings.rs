//! What requests share: their connection, and bounds of what is read and under way.

use std::rc::Rc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, HeaderValue, VARY};

use super::export::{Export, Exports};
use super::held::{Given, Held, Pace};
use super::reply::{Refusal, Reply};
use super::task::Handle;
use super::upgrade::Upgrade;
use super::zip;

/// Most requests to one interface that are unanswered.
const MOST_OPEN: usize = 20_000;

/// How long a request's body may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What a connection's requests share.
pub(super) struct Surroundings {
    pub(super) exports: Rc<Exports>,
    pub(super) task: Handle,
    pub(super) pace: Pace,
    /// The connection may become a WebSocket.
    pub(super) upgrade: Option<Upgrade>,
    /// The client's address.
    pub(super) peer: Rc<str>,
    pub(super) is_secure: bool,
}

impl Surroundings {
    /// Reads a body as a whole.
    pub(super) async fn read(
        &self,
        body: Incoming,
        limit: usize,
        held: &mut Held,
    ) -> Result<Vec<u8>, Refusal> {
        let too_large = || {
            let reason = format!("a request may have {limit} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
        };
        if body.is_end_stream() {
            return Ok(Vec::new());
        }
        if body.size_hint().lower() > limit as u64 {
            return Err(too_large());
        }
        let all = async {
            let (mut body, mut bytes) = (body, Vec::new());
            while let Some(frame) = body.frame().await {
                let frame =
                    frame.map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))?;
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
        self.task.clock.within(PATIENCE, all).await.unwrap_or_else(|| Err(late()))
    }

    /// A body whose bytes are held until the client has taken them, compressed if that `may` be and is worth it.
    pub(super) fn body(
        &self,
        mut bytes: Vec<u8>,
        (mut held, may_zip): (Held, bool),
    ) -> Result<(Given, bool), Refusal> {
        let may_zip = may_zip && bytes.len() <= zip::LONGEST;
        let zipped = if may_zip { zip::zipped(&bytes) } else { None };
        let is_zipped = zipped.is_some();
        bytes = zipped.unwrap_or(bytes);
        if !held.set(bytes.len()) {
            return Err(full());
        }
        Ok((Given::new(bytes.into(), held, &self.pace), is_zipped))
    }
}

/// Says that a reply's body is gzip.
pub(super) fn say_zipped(reply: &mut Reply) {
    let headers = reply.headers_mut();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
}

fn full() -> Refusal {
    Refusal::too_many("the server holds too much for its clients")
}

pub(super) fn late() -> Refusal {
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request took too long")
}

/// Counts a request as unanswered, until it is dropped.
pub(super) struct Open(Rc<Export>);

impl Open {
    pub(super) fn new(export: &Rc<Export>) -> Result<Open, Refusal> {
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
