//! gzip, for clients that accept it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{ACCEPT_ENCODING, HeaderMap};

/// Bytes: shorter bodies aren't worth it.
const SHORTEST: usize = 1024;

/// Bytes: longer answers are not compressed, as that would block the program for more than some milliseconds.
pub(super) const LONGEST: usize = 256 << 10;

/// The bytes as gzip; `None`: it isn't worth it.
pub(super) fn zipped(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < SHORTEST {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

/// Whether a client accepts gzip: `Accept-Encoding: br, gzip;q=0.5`.
pub(super) fn is_taken(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let mut any = false;
    for coding in values.flat_map(|value| value.split(',')) {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>).unwrap_or(0.0);
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") => return weight > 0.0,
            "*" => any = weight > 0.0,
            _ => {}
        }
    }
    any
}
