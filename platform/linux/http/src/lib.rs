//! HTTP: components offer services of requests and replies as JSON over HTTP/1.1 and 2, and any other protocol as JSON
//! over a WebSocket. They require such services of other programs the same way.
//!
//! * `context` has the names, `service` what BY says. `json` writes and reads messages, `query` parameters in URLs;
//!   `describe` makes the OpenAPI description that is served beside them.
//! * A server: a `site` is an address, with its `export`s. `mapping` says how one is mapped to HTTP, `admission` who
//!   may use it, `files` are served beside it. A `new_connection` goes to hyper, whose `requests` each become an
//!   `exchange`, or `upgrade` the connection to a `web_socket`. `held` bounds what is kept for clients.
//! * A client: a `caller` sends requests over `client_connection`s, or begins a WebSocket by an `opening_handshake`.
//! * The library's `Http`, whose messages are requests and responses as they are: `style` knows its interfaces, `plain`
//!   answers requests by them, `plain_caller` is a client. `surroundings` has what all requests share.
//! * `task` and `io` run hyper at the reactor, `web_socket_frames` counts what tungstenite reads, `reply` makes
//!   responses, `zip` is gzip.

mod admission;
mod caller;
mod client_connection;
mod context;
mod describe;
mod exchange;
mod export;
mod files;
mod held;
mod io;
mod json;
mod mapping;
mod new_connection;
mod opening_handshake;
mod plain;
mod plain_caller;
mod query;
mod reply;
mod requests;
mod service;
mod site;
mod style;
mod surroundings;
mod task;
mod upgrade;
mod web_socket;
mod web_socket_frames;
mod zip;

use drystone_component::{Interface, Side};
use drystone_kortex::{Addition, Context};
use drystone_net::datum::Datum;
use drystone_reactor::Reactor;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    contexts: &[
        Context { scheme: "http", begin: |host| Box::new(context::Context::plain(&Reactor::of(host))) },
        Context { scheme: "https", begin: |host| Box::new(context::Context::secure(&Reactor::of(host))) },
    ],
    ..Addition::NOTHING
};

/// Reads what BY says, for fuzzing.
pub fn read_hints(hints: &drystone_runtime::binding::Hints<'_>) {
    let _ = context::options(hints);
}

/// Reads bytes that may be anything as what clients write besides JSON, for fuzzing.
///
/// # Panics
/// They are read in two ways.
pub fn feed(bytes: &[u8], parameters: &'static [drystone_component::Parameter]) {
    web_socket_frames::feed(bytes);
    plain::feed(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = admission::Origins::parse(text);
    if let Ok(values) = query::read(text, parameters) {
        assert_eq!(values.len(), parameters.len());
    }
}

/// Reads bytes that may be anything as a message of a client, writes it, and reads it again, for fuzzing.
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
