//! All decoders of untrusted bytes, for the fuzzers (`fuzz/`), and for tests with the fuzzers' seeds. A decoder must
//! not panic or use more memory than there are bytes, and what it has decoded must be encoded as the same.

use drystone_component::Name;

use drystone_runtime::binding::Hints;

use crate::control;
use drystone_net::place::Place;
use drystone_net::samples::{ALL, ASKED, SEQUENCES, TOLD};
use {drystone_http as http, drystone_nats as nats, drystone_onc as onc, drystone_udp as udp};

/// Bytes from TCP or UDP, for a server or a client of ONC RPC.
///
/// # Panics
/// A decoder is wrong.
pub fn onc(bytes: &[u8]) {
    for pieces in [1, 7, bytes.len().max(1)] {
        onc::feed(bytes, pieces);
    }
    onc::read(bytes, &ALL);
    SEQUENCES.iter().for_each(|sequence| onc::read(bytes, std::slice::from_ref(sequence)));
}

/// A datagram from UDP, for a server or a client.
///
/// # Panics
/// A decoder is wrong.
pub fn udp(bytes: &[u8]) {
    udp::read(bytes, &ASKED);
}

/// A message from HTTP.
///
/// # Panics
/// A decoder is wrong.
pub fn json(bytes: &[u8]) {
    http::read(bytes, &TOLD);
}

/// URLs, origins of web pages, and frames of WebSockets.
///
/// # Panics
/// A decoder is wrong.
pub fn http(bytes: &[u8]) {
    http::feed(bytes, &ALL);
}

/// Bytes from NATS, or from its key-value store.
///
/// # Panics
/// A decoder is wrong.
pub fn nats(bytes: &[u8]) {
    nats::read(bytes);
}

/// A request to the socket of `--control`.
///
/// # Panics
/// A decoder is wrong.
pub fn control(bytes: &[u8]) {
    if let Some(control::Request::Rebind(wanted)) = control::Request::read(bytes) {
        let (name, by) = wanted.what.binding.expect("a request says which");
        names(format!("{name}\n{by}").as_bytes());
    }
}

/// A name, and after the end of its line a BY.
///
/// # Panics
/// A decoder is wrong.
pub fn names(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (name, hints) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let Ok(hints) = Hints::parse(hints) else { return };
    for factory in &hints.factories {
        for (option, _) in &factory.options {
            let _ = (factory.integer(option), factory.real(option), factory.boolean(option));
        }
    }
    http::read_hints(&hints);
    onc::read_hints(&hints);
    udp::read_hints(&hints);
    let Ok(name) = Name::decode(name) else { return };
    assert!(name.to_string().chars().count() <= 202);
    assert_eq!(Name::decode(name.bytes()), Ok(name));
    let rest = name.rest();
    nats::read_name(rest, &hints);
    if let Ok(place) = Place::parse(rest) {
        let _ = (place.numeric(), place.here());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fuzzers' seeds.
    fn seeds(kind: &str) -> Vec<Vec<u8>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/");
        let entries = std::fs::read_dir(format!("{folder}{kind}")).expect("they are there");
        let files = entries.map(|entry| std::fs::read(entry.expect("it can be read").path()));
        files.map(|bytes| bytes.expect("it can be read")).collect()
    }

    /// All variants of a seed with a change at one place, and some with changes at several.
    fn changed(seed: &[u8], each: impl Fn(&[u8])) {
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as usize
        };
        for at in 0..seed.len() {
            each(&seed[..at]);
            for byte in [0, 1, 4, 0x7f, 0x80, 0xff, b'"', b'{', b'0'] {
                let mut bytes = seed.to_vec();
                bytes[at] = byte;
                each(&bytes);
            }
        }
        for _ in 0..20_000 {
            let mut bytes = seed.to_vec();
            for _ in 0..1 + next() % 8 {
                let at = next() % bytes.len();
                match next() % 3 {
                    0 => bytes[at] = next() as u8,
                    1 => bytes.insert(at, next() as u8),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            each(&bytes);
        }
    }

    #[test]
    fn strangers_may_send_anything() {
        let all = [
            ("onc", onc as fn(&[u8])),
            ("udp", udp),
            ("json", json),
            ("http", http),
            ("nats", nats),
            ("control", control),
            ("names", names),
        ];
        for (kind, decoder) in all {
            let seeds = seeds(kind);
            assert!(!seeds.is_empty());
            seeds.iter().for_each(|seed| changed(seed, decoder));
        }
    }
}
