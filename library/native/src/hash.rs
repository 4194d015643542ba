//! Cryptographic hashes, and their usual spelling.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};

pub(crate) fn sha256(data: &[u8]) -> Vec<u8> {
    Sha256::digest(data).to_vec()
}

pub(crate) fn sha512(data: &[u8]) -> Vec<u8> {
    Sha512::digest(data).to_vec()
}

pub(crate) fn blake3(data: &[u8]) -> Vec<u8> {
    blake3::hash(data).as_bytes().to_vec()
}

pub(crate) fn hmac_sha256(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("a key has any length");
    mac.chain_update(data).finalize().into_bytes().to_vec()
}

pub(crate) fn hmac_sha512(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mac = Hmac::<Sha512>::new_from_slice(key).expect("a key has any length");
    mac.chain_update(data).finalize().into_bytes().to_vec()
}

/// Two digits for each byte, in small letters.
pub(crate) fn hex(data: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    data.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[usize::from(digit)]).collect()
}

/// Whether it is hexadecimal, in letters of either case; then sets the bytes.
pub(crate) fn from_hex(text: &[u8], bytes: &mut Cow<'_, [u8]>) -> bool {
    let value = |digit: u8| (digit as char).to_digit(16);
    let pairs = text.chunks(2).map(|pair| match *pair {
        [high, low] => Some((value(high)? * 16 + value(low)?) as u8),
        _ => None,
    });
    let found: Option<Vec<u8>> = pairs.collect();
    let is_hex = found.is_some();
    if let Some(found) = found {
        *bytes = Cow::Owned(found);
    }
    is_hex
}
