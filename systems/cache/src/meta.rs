//! Meta commands (`mg`, `ms`, `md`, `ma`, `me`): a key, and flags of one letter, some with a value. [`Meta`] is a
//! parsed command. [`Told`] is what an answer needs to know of the item: flags that ask for something come back in the
//! same order.

use std::io::Write;

use base64::Engine as _;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD as STANDARD;

use crate::store::Item;
use crate::wrong::{FORMAT, Wrong, short};
use crate::{LONGEST_KEY, words};

/// Words of a line after the command, at most.
pub const MOST_WORDS: usize = 18;
const LONGEST_OPAQUE: usize = 32;

/// Trailing bits are ignored.
const DECODED: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// A parsed meta command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The key's bytes, and whether the client gave them in Base64.
    pub key: Vec<u8>,
    pub is_binary: bool,
    /// All flags, as the client spelled them.
    pub flags: Vec<Vec<u8>>,
    /// `v`: return the value.
    pub value: bool,
    /// `q`: leave out the usual answer.
    pub is_quiet: bool,
    /// `N`: create a missing item, which expires after this time.
    pub made: Option<i32>,
    /// `T`: the new expiry time.
    pub expiry: Option<i32>,
    /// `R`: if less time than this is left, the first client to ask is told to fetch the item anew.
    pub recache: Option<i32>,
    /// `C`: only if the item has this version.
    pub version: Option<u64>,
    /// `I`: mark the item stale.
    pub is_stale: bool,
    /// `M`
    pub mode: Option<u8>,
    /// `F`
    pub client_flags: u32,
    /// `J`, `D`: a new counter's value, and the number to add.
    pub initial: u64,
    pub delta: u64,
}

/// The error for too many flags.
pub const TOO_MANY: &str = "CLIENT_ERROR options flags are too long";

fn wrong(told: &'static str) -> Wrong {
    Wrong::Told(told)
}

/// Parses a key and flags.
pub fn read(words: &[&[u8]]) -> Result<Meta, Wrong> {
    let (key, flags) = (words[0], &words[1..]);
    short(key)?;
    if words.len() > MOST_WORDS {
        return Err(wrong(TOO_MANY));
    }
    flagged(key, flags)
}

/// As [`read`], for `md` and `ma`, which have one error for everything wrong with a flag.
pub fn read_changing(words: &[&[u8]]) -> Result<Meta, Wrong> {
    let is_of_flags = |told: &str| told != FORMAT && told != TOO_MANY;
    read(words).map_err(|why| match why {
        Wrong::Told(told) if is_of_flags(told) => wrong("CLIENT_ERROR invalid or duplicate flag"),
        why => why,
    })
}

/// Parses the flags of a key.
pub fn flagged(key: &[u8], flags: &[&[u8]]) -> Result<Meta, Wrong> {
    const TOKEN: &str = "CLIENT_ERROR bad token in command line format";
    let mut meta = Meta { key: key.to_vec(), delta: 1, ..Meta::default() };
    // All flags are parsed, and the last error is reported.
    let (mut told, mut is_wrong, mut seen) = (FORMAT, false, [false; 127]);
    let mut keep = |read: bool, why: Option<&'static str>| {
        if !read {
            is_wrong = true;
            told = why.unwrap_or(told);
        }
    };
    for &flag in flags {
        let (letter, value) = (flag[0], &flag[1..]);
        match seen.get_mut(usize::from(letter)) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(wrong("CLIENT_ERROR duplicate flag")),
        }
        match letter {
            b'b' => {
                meta.key = of_base64(key).unwrap_or_default();
                meta.is_binary = true;
                keep(!meta.key.is_empty(), Some("CLIENT_ERROR error decoding key"));
            }
            b'N' => {
                meta.made = Some(words::signed(value).unwrap_or_default());
                keep(words::signed(value).is_some(), Some(TOKEN));
            }
            b'T' => {
                meta.expiry = words::signed(value);
                keep(meta.expiry.is_some(), Some(TOKEN));
            }
            b'R' => {
                meta.recache = words::signed(value);
                keep(meta.recache.is_some(), Some(TOKEN));
            }
            b'v' => meta.value = true,
            b'q' => meta.is_quiet = true,
            b'F' => {
                meta.client_flags = words::flags(value).unwrap_or_default();
                keep(words::flags(value).is_some(), None);
            }
            b'C' => {
                meta.version = words::unsigned(value);
                keep(meta.version.is_some(), Some(TOKEN));
            }
            b'M' => {
                meta.mode = value.first().copied();
                keep(value.len() == 1, Some("CLIENT_ERROR incorrect length for M token"));
            }
            b'J' => {
                meta.initial = words::unsigned(value).unwrap_or_default();
                keep(words::unsigned(value).is_some(), Some("CLIENT_ERROR invalid numeric initial value"));
            }
            b'D' => {
                meta.delta = words::unsigned(value).unwrap_or_default();
                keep(words::unsigned(value).is_some(), Some("CLIENT_ERROR invalid numeric delta value"));
            }
            b'I' => meta.is_stale = true,
            b'l' | b'h' | b'u' | b'O' | b'P' | b'L' | b'k' | b's' | b't' | b'c' | b'f' => {}
            _ => return Err(wrong("CLIENT_ERROR invalid flag")),
        }
    }
    if is_wrong {
        return Err(wrong(told));
    }
    meta.flags = flags.iter().map(|flag| flag.to_vec()).collect();
    Ok(meta)
}

/// Parses the key of `me`.
pub fn read_key(words: &[&[u8]]) -> Result<Vec<u8>, Wrong> {
    let key = short(words[0])?;
    match words[1..].first() {
        Some(&flag) if flag.starts_with(b"b") => {
            of_base64(&key).filter(|key| !key.is_empty()).ok_or(wrong("CLIENT_ERROR error decoding key"))
        }
        _ => Ok(key),
    }
}

/// Whether flags that are returned as they are are short enough.
pub fn is_short(flags: &[Vec<u8>]) -> Result<(), &'static str> {
    let is_long = |flag: &Vec<u8>| flag[0] == b'O' && flag.len() > LONGEST_OPAQUE;
    if flags.iter().any(is_long) { Err("CLIENT_ERROR opaque token too long") } else { Ok(()) }
}

/// Other characters are ignored.
fn of_base64(text: &[u8]) -> Option<Vec<u8>> {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    DECODED.decode(text.iter().copied().filter(is_sign).collect::<Vec<u8>>()).ok()
}

/// What is known of an item.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Seconds until it expires; `None`: never.
    pub left: Option<u64>,
    /// Seconds since the last request for it.
    pub idle: u64,
    /// Whether it has been asked for.
    pub is_hit: bool,
    /// Its version.
    pub version: u64,
}

impl Meta {
    /// Writes the flags of the answer from the item; without one (`None`), only those that repeat the request.
    pub fn answer(&self, item: Option<(&Item, Told)>, asked: &[u8], out: &mut Vec<u8>) {
        for flag in self.flags.iter().filter(|flag| asked.contains(&flag[0])) {
            match (flag[0], item) {
                (b'O', _) => {
                    out.push(b' ');
                    out.extend_from_slice(flag);
                }
                (b'k', _) => {
                    out.extend_from_slice(b" k");
                    match self.is_binary_for(item) {
                        true => out.extend_from_slice(STANDARD.encode(&self.key).as_bytes()),
                        false => out.extend_from_slice(&self.key),
                    }
                    if self.is_binary_for(item) {
                        out.extend_from_slice(b" b");
                    }
                }
                (b't', Some((_, Told { left: None, .. }))) => out.extend_from_slice(b" t-1"),
                (letter, Some((item, told))) => {
                    let number = match letter {
                        b's' => item.value.len() as u64,
                        b't' => told.left.unwrap_or(0),
                        b'c' => told.version,
                        b'f' => u64::from(item.flags),
                        b'l' => told.idle,
                        b'h' => u64::from(told.is_hit),
                        _ => continue,
                    };
                    let _ = write!(out, " {}{number}", char::from(letter));
                }
                (_, None) => {}
            }
        }
    }

    /// Whether the key is returned in Base64: as it was given when the item was stored.
    fn is_binary_for(&self, item: Option<(&Item, Told)>) -> bool {
        item.map_or(self.is_binary, |(item, _)| item.is_binary) && self.key.len() <= LONGEST_KEY
    }
}
