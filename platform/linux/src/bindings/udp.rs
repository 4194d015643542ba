//! Requests and replies in a datagram each, over UDP: the shortest way to call a server. Nothing is sent twice, so
//! nothing is carried out twice, and what gets lost is lost. The form of a datagram is the same for all interfaces and
//! has a place for everything, so that something simpler than a process may answer it, too
//! (`docs/src/bindings-udp.md`).
//!
//! `datagram` is that form, `service` an interface in it, `describe` the same for people, and `context` has the names.
//! A server is a `port`, by which `request`s come and whose `replies` answer them, `at_arrival` what answers them
//! before its process does; a client a `caller`, with a `link` to the server that knows what is `unanswered`.

mod at_arrival;
mod caller;
mod context;
mod datagram;
mod describe;
mod link;
mod port;
mod replies;
mod request;
mod service;
#[cfg(test)]
mod service_tests;
mod unanswered;

pub(in crate::bindings) use context::Context;
pub use describe::describe;

/// What BY says, as somebody has written it.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn read_hints(hints: &drystone_runtime::binding::Hints<'_>) {
    let _ = context::options(hints);
}

/// Bytes from a stranger, to a server and to a client of an interface.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn read(bytes: &[u8], interface: &'static drystone_component::Interface) {
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
