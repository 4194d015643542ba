//! ONC RPC version 2 (RFC 5531): what a program offers in request/reply form is called by anyone's clients, and
//! anyone's servers are called by it, over TCP and UDP.
//!
//! `options` is what `BY` may say, `service` which procedure is which call, `x` the same for `rpcgen`; `message` and
//! `record` are the bytes. `context` has the names. A server is what is `offered`: a `door`, with `connection`s or
//! `datagrams`, which bring `session`s; a client a `caller`, with a `link` to the server. `portmap` is rpcbind.

mod caller;
mod connection;
mod context;
mod datagram_link;
mod datagrams;
mod door;
mod link;
mod listening;
mod message;
mod offered;
mod options;
mod portmap;
mod record;
mod repeats;
mod service;
#[cfg(test)]
mod service_tests;
mod session;
mod stream_link;
mod x;

pub(in crate::bindings) use context::Context;
pub use options::Options;
pub use service::Service;
pub use x::print;

/// What BY says, as somebody has written it.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn read_hints(hints: &drystone_runtime::binding::Hints<'_>) {
    let _ = context::options(hints);
}

/// Bytes from a stranger over TCP, in pieces of this length.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn feed(bytes: &[u8], length: usize) {
    let mut records = record::Records::new(1 << 20);
    let mut read = 0;
    for piece in bytes.chunks(length) {
        records.feed(piece);
        while let record::Record::Whole(record) = records.next() {
            read += record.len();
        }
    }
    assert!(read <= bytes.len());
}

/// Bytes from a stranger as a message, and as values.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn read(bytes: &[u8], parameters: &[drystone_component::Parameter]) {
    use super::xdr::{self, Integers};
    if let message::Called::Call(_, arguments) = message::read_call(bytes) {
        assert!(arguments.len() + 40 <= bytes.len());
    }
    if message::reply_to(bytes).is_some() {
        let _ = message::read_reply(bytes);
    }
    for integers in [Integers::Int, Integers::Hyper] {
        let Some(values) = xdr::read(bytes, parameters, integers) else { continue };
        let mut again = Vec::new();
        values.iter().for_each(|value| xdr::write(&mut again, value, integers).expect("it was read so"));
        // All but what pads texts.
        assert_eq!(again.len(), bytes.len());
        let values = xdr::read(&again, parameters, integers).expect("it was written");
        let mut once_more = Vec::new();
        values.iter().for_each(|value| xdr::write(&mut once_more, value, integers).expect("it was read so"));
        assert_eq!(again, once_more);
    }
}
