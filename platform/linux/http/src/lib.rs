//! HTTP: what a program exports in request/reply form is reached by what everyone has, as JSON over HTTP/1.1 and 2;
//! other protocols go as JSON over a WebSocket. A component requires such a service the same way.
//!
//! `json` is how messages are written, `describe` the OpenAPI description that is served beside, `context` has the
//! names. A server is a `site` with its `export`s, each in a `manner` of its own, perhaps with `files` beside it; each
//! connection comes through a `gate`, which hands it on to hyper. Its `requests` become `exchange`s, if `admission`
//! lets them in; one may `upgrade` the connection, which tungstenite has then as a `socket`, whose `frames` are
//! counted. What is `held` for clients is bounded. `query` reads what stands in URLs, `zip` is gzip. A client of a
//! `service` is a `caller`, whose requests go over `line`s, or a `handshake` for a WebSocket, over connections that are
//! `dial`ed. `task` and `io` are what hyper needs to run here.

mod admission;
mod caller;
mod context;
mod describe;
mod exchange;
mod export;
mod files;
mod frames;
mod gate;
mod handshake;
mod held;
mod io;
mod json;
mod line;
mod manner;
mod query;
mod reply;
mod requests;
mod service;
mod site;
mod socket;
mod task;
mod upgrade;
mod zip;

use drystone_component::{Interface, Side};
use drystone_kortex::{Addition, Context};
use drystone_net::datum::Datum;
use drystone_reactor::Reactor;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    offers: &[],
    contexts: &[
        Context { scheme: "http", begin: |host| Box::new(context::Context::plain(&Reactor::of(host))) },
        Context { scheme: "https", begin: |host| Box::new(context::Context::secure(&Reactor::of(host))) },
    ],
    factories: &[],
};

/// What BY says, as somebody has written it.
pub fn read_hints(hints: &drystone_runtime::binding::Hints<'_>) {
    let _ = context::options(hints);
}

/// What clients write besides JSON.
pub fn feed(bytes: &[u8], parameters: &'static [drystone_component::Parameter]) {
    frames::feed(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = admission::Origins::parse(text);
    if let Ok(values) = query::read(text, parameters) {
        assert_eq!(values.len(), parameters.len());
    }
}

/// Bytes from a stranger as a message of an interface that the client sends, which is written and read again.
///
/// # Panics
/// It isn't the same then.
pub fn read(bytes: &[u8], interface: &'static Interface) {
    let Ok((number, values)) = json::read_message(bytes, interface, Side::Client) else { return };
    let message = &interface.messages.get()[number];
    let written = |values: Vec<Datum<'_>>| {
        let mut out = Vec::new();
        json::write(&mut out, message, values.into_iter());
        out
    };
    let once = written(values);
    let (_, again) = json::read_message(&once, interface, Side::Client).expect("it was written");
    assert_eq!(once, written(again));
}
