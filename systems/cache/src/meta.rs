//! Meta commands (`mg`, `ms`, `md`, `ma`, `me`): a key, and flags of one letter, some with a value behind it. [`Meta`]
//! is what they say, [`Told`] how they are answered: flags that ask for something come back in the same order.

use std::io::Write;

use base64::Engine as _;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD as STANDARD;

use crate::store::Item;
use crate::wrong::{FORMAT, Wrong, short};
use crate::{LONGEST_KEY, words};

/// Words of a line, at most; the command isn't counted.
pub const MOST_WORDS: usize = 18;
const LONGEST_OPAQUE: usize = 32;

/// Bits that are left over count for nothing.
const DECODED: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// What a meta command says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The key's bytes, and whether they were said in Base64.
    pub key: Vec<u8>,
    pub is_binary: bool,
    /// All flags, as they stand there.
    pub flags: Vec<Vec<u8>>,
    /// `v`: the value is wanted.
    pub value: bool,
    /// `q`: what is usual isn't told.
    pub is_quiet: bool,
    /// `N`: an item is made if there is none, which expires so.
    pub made: Option<i32>,
    /// `T`: it expires so from now on.
    pub expiry: Option<i32>,
    /// `R`: whoever asks first when it has less time left is told to fetch it anew.
    pub recache: Option<i32>,
    /// `C`: only if the item has this version.
    pub version: Option<u64>,
    /// `I`: the item is stale.
    pub is_stale: bool,
    /// `M`
    pub mode: Option<u8>,
    /// `F`
    pub client_flags: u32,
    /// `J`, `D`: what a counter begins with, and what is added.
    pub initial: u64,
    pub delta: u64,
}

/// What is told of too many flags.
pub const TOO_MANY: &str = "CLIENT_ERROR options flags are too long";

fn wrong(told: &'static str) -> Wrong {
    Wrong::Told(told)
}

/// Reads a key and flags.
pub fn read(words: &[&[u8]]) -> Result<Meta, Wrong> {
    let (key, flags) = (words[0], &words[1..]);
    short(key)?;
    if words.len() > MOST_WORDS {
        return Err(wrong(TOO_MANY));
    }
    flagged(key, flags)
}

/// The same for `md` and `ma`, where all that is wrong with a flag is told alike.
pub fn read_changing(words: &[&[u8]]) -> Result<Meta, Wrong> {
    let is_of_flags = |told: &str| told != FORMAT && told != TOO_MANY;
    read(words).map_err(|why| match why {
        Wrong::Told(told) if is_of_flags(told) => wrong("CLIENT_ERROR invalid or duplicate flag"),
        why => why,
    })
}

/// Reads the flags of a key.
pub fn flagged(key: &[u8], flags: &[&[u8]]) -> Result<Meta, Wrong> {
    const TOKEN: &str = "CLIENT_ERROR bad token in command line format";
    let mut meta = Meta { key: key.to_vec(), delta: 1, ..Meta::default() };
    // All flags are gone through, and the last one that is wrong is told.
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

/// The key of `me`.
pub fn read_key(words: &[&[u8]]) -> Result<Vec<u8>, Wrong> {
    let key = short(words[0])?;
    match words[1..].first() {
        Some(&flag) if flag.starts_with(b"b") => {
            of_base64(&key).filter(|key| !key.is_empty()).ok_or(wrong("CLIENT_ERROR error decoding key"))
        }
        _ => Ok(key),
    }
}

/// Whether what comes back as it was said isn't too long.
pub fn is_short(flags: &[Vec<u8>]) -> Result<(), &'static str> {
    let is_long = |flag: &Vec<u8>| flag[0] == b'O' && flag.len() > LONGEST_OPAQUE;
    if flags.iter().any(is_long) { Err("CLIENT_ERROR opaque token too long") } else { Ok(()) }
}

/// Other signs count for nothing.
fn of_base64(text: &[u8]) -> Option<Vec<u8>> {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    DECODED.decode(text.iter().copied().filter(is_sign).collect::<Vec<u8>>()).ok()
}

/// What is known of an item when it is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Seconds that are left; none if it never expires.
    pub left: Option<u64>,
    /// Seconds since somebody asked for it.
    pub idle: u64,
    /// Somebody has asked for it.
    pub is_hit: bool,
    /// Its version.
    pub version: u64,
}

impl Meta {
    /// The flags that come back, as the item has it; of one that there isn't (none) only what was said.
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

    /// Whether the key is told in Base64: as who stored the item said it.
    fn is_binary_for(&self, item: Option<(&Item, Told)>) -> bool {
        item.map_or(self.is_binary, |(item, _)| item.is_binary) && self.key.len() <= LONGEST_KEY
    }
}
