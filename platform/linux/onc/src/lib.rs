//! ONC RPC version 2 (RFC 5531): what a program offers in request/reply form is called by anyone's clients, and
//! anyone's servers are called by it, over TCP and UDP.
//!
//! * `context` has the names, and what BY says (`options`).
//! * `service` is an interface as an RPC program; `x` writes it for `rpcgen`.
//! * `message` and `record` are the bytes of calls and replies; `repeats` finds calls that come again over UDP.
//! * A client: `caller` is a communication of this program with a server. It makes calls by a `client`, over TCP
//!   (`client_stream`) or UDP (`client_datagrams`).
//! * A server: `offered` is an exported name. Calls come over TCP (`server_listener`, `server_stream`) or UDP
//!   (`server_datagrams`), each to a `server_session`, which is a communication with this program.
//! * `portmap` asks rpcbind for ports, and registers servers there.

mod caller;
mod client;
mod client_datagrams;
mod client_stream;
mod context;
mod message;
mod offered;
mod options;
mod portmap;
mod record;
mod repeats;
mod server;
mod server_datagrams;
mod server_listener;
mod server_session;
mod server_stream;
mod service;
#[cfg(test)]
mod service_tests;
mod x;

use drystone_kortex::{Addition, Context};
use drystone_reactor::Reactor;

pub use options::Options;
pub use service::Service;
pub use x::print;

/// What this crate adds to a program's system.
pub static ADDITION: Addition = Addition {
    contexts: &[
        Context { scheme: "onc", begin: |host| Box::new(context::Context::tcp(&Reactor::of(host))) },
        Context { scheme: "onc+udp", begin: |host| Box::new(context::Context::udp(&Reactor::of(host))) },
    ],
    ..Addition::NOTHING
};

/// Reads what BY says, for fuzzing.
pub fn read_hints(hints: &drystone_runtime::binding::Hints<'_>) {
    let _ = context::options(hints);
}

/// Reads bytes that may be anything as records over TCP, in pieces of this length, for fuzzing.
///
/// # Panics
/// There is more in the records than in the bytes.
pub fn feed(bytes: &[u8], length: usize) {
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

/// Reads bytes that may be anything as a message, and as values, for fuzzing.
///
/// # Panics
/// Values are not the same when they are written and read again.
pub fn read(bytes: &[u8], parameters: &[drystone_component::Parameter]) {
    use drystone_net::xdr::{self, Integers};
    if let message::Called::Call(_, arguments) = message::read_call(bytes) {
        assert!(arguments.len() + 40 <= bytes.len());
    }
    if message::reply_to(bytes).is_some() {
        let _ = message::read_reply(bytes);
    }
    for integers in [Integers::Int, Integers::Hyper] {
        let Some(values) = xdr::read(bytes, parameters, integers) else { continue };
        let mut again = Vec::new();
        xdr::write(&mut again, parameters, values, integers).expect("it was read so");
        // All but what pads texts.
        assert_eq!(again.len(), bytes.len());
        let values = xdr::read(&again, parameters, integers).expect("it was written");
        let mut once_more = Vec::new();
        xdr::write(&mut once_more, parameters, values, integers).expect("it was read so");
        assert_eq!(again, once_more);
    }
}
