//! Requests and replies over UDP, a datagram each: the shortest way to call a server. Nothing is sent twice, so nothing
//! is carried out twice, and a lost datagram stays lost. The format is the same for all interfaces, with fixed places,
//! so that a handler in the kernel can answer, too (`docs/src/bindings-udp.md`).
//!
//! * `context` has the names. `datagram` is the format, `service` an interface in it, and `describe` writes it down.
//! * A server: a `server_socket` brings `request`s, and `replies` sends what they are answered. `at_arrival` has a
//!   handler answer before the process does.
//! * A client: a `caller` makes requests by a `client_socket`, which has the ones that are `unanswered`.

mod at_arrival;
mod caller;
mod client_socket;
mod context;
mod datagram;
mod describe;
mod replies;
mod request;
mod server_socket;
mod service;
#[cfg(test)]
mod service_tests;
mod unanswered;

use drystone_kortex::{Addition, Context};
use drystone_reactor::Reactor;

pub use describe::describe;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    contexts: &[Context { scheme: "udp", begin: |host| Box::new(context::Context::new(&Reactor::of(host))) }],
    ..Addition::NOTHING
};

/// Reads what BY says, for fuzzing.
pub fn read_hints(hints: &drystone_runtime::binding::Hints<'_>) {
    let _ = context::options(hints);
}

/// Reads bytes that may be anything as a request to a server and a reply to a client of an interface, for fuzzing.
pub fn read(bytes: &[u8], interface: &'static drystone_component::Interface) {
    let service = service::Service::new(interface).expect("it has requests and replies");
    match service.asked(bytes) {
        service::Asked::Nothing => {}
        service::Asked::Refused(id) => assert_eq!(bytes[4..8], id.to_be_bytes()),
        service::Asked::Request { id, message, parameters } => {
            let values = service.values(message, parameters).expect("they were looked at");
            let again = service.datagram("request", id, message, values.into_iter()).expect("it fitted");
            // All but what pads texts.
            assert_eq!(again.len(), bytes.len());
        }
    }
    for call in &service.calls.calls {
        if let Ok((message, parameters)) = service.answer(call.message, bytes) {
            assert!(service.values(message, parameters).is_some());
        }
    }
}
