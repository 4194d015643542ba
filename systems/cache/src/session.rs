//! The session of one client: bytes that arrive, and their answers.

use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::LONGEST_DATAGRAM;
use crate::cache::Cache;
use crate::command::{Command, Storing, read};
use crate::wrong::Wrong;

/// The longest line of a `get`, which may ask for many keys.
const LONGEST_LINE: usize = 1 << 16;
/// The longest other line: a longer one isn't memcached's.
const LONGEST_OTHER: usize = 1 << 11;
/// Memory that each client has by itself: longer values and answers need memory that all share.
pub const SMALL: usize = 1 << 14;
/// The first byte of requests of memcached's binary protocol, which isn't supported.
const BINARY: u8 = 0x80;
/// The length of a datagram's frame.
const FRAME: usize = 8;
/// The longest answer to a datagram.
const LONGEST_ANSWER: usize = 1 << 21;

/// The receiver of answers.
pub trait Client {
    /// The answers that haven't been sent yet.
    fn out(&mut self) -> &mut Vec<u8>;
    /// Sends them. False: the client is gone.
    fn send(&mut self) -> bool;
    /// Reserves memory for a value of so many bytes, instead of an earlier reservation. False: the client is gone.
    fn reserve(&mut self, bytes: usize) -> bool;
}

/// See the head of this file.
#[derive(Default)]
pub struct Session {
    input: Vec<u8>,
    awaited: Awaited,
}

#[derive(Default)]
enum Awaited {
    #[default]
    Line,
    Value(Storing),
    /// So many more bytes of an unwanted value.
    Rest(usize),
}

/// Ignores poison: no panic leaves the cache half changed.
pub fn locked(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Executes what has arrived; returns whether the session goes on.
    pub fn hear(&mut self, cache: &Mutex<Cache>, bytes: &[u8], client: &mut impl Client) -> bool {
        let mut input = take(&mut self.input);
        input.extend_from_slice(bytes);
        let (mut used, mut goes_on) = (0, true);
        while let Some(more) =
            goes_on.then(|| self.one(cache, &input[used..], client, &mut goes_on)).flatten()
        {
            used += more;
            goes_on &= client.out().len() <= SMALL || client.send();
        }
        input.drain(..used);
        if input.is_empty() && input.capacity() > SMALL {
            input = Vec::new();
        }
        self.input = input;
        goes_on
    }

    /// Executes one complete item of the input; returns how many bytes it had.
    fn one(
        &mut self,
        cache: &Mutex<Cache>,
        input: &[u8],
        client: &mut impl Client,
        goes_on: &mut bool,
    ) -> Option<usize> {
        match take(&mut self.awaited) {
            Awaited::Line if input.first() == Some(&BINARY) => {
                *goes_on = false;
                None
            }
            Awaited::Line => {
                let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
                    *goes_on =
                        may_become_line(input) && (input.len() <= SMALL || client.reserve(LONGEST_LINE));
                    return None;
                };
                let line = &input[..end];
                // A lone carriage return doesn't end a line.
                let line = if end > 1 { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
                *goes_on = self.line(cache, line, client);
                Some(end + 1)
            }
            Awaited::Value(storing) => {
                let Some((value, end)) =
                    input.get(..storing.length + 2).map(|it| it.split_at(storing.length))
                else {
                    self.awaited = Awaited::Value(storing);
                    return None;
                };
                match end {
                    b"\r\n" => locked(cache).put(&storing, value.to_vec(), client.out()),
                    _ if storing.is_quiet && storing.meta.is_none() => {}
                    _ => client.out().extend_from_slice(b"CLIENT_ERROR bad data chunk\r\n"),
                }
                *goes_on = storing.length <= SMALL || client.reserve(0);
                Some(storing.length + 2)
            }
            Awaited::Rest(length) if length > input.len() => {
                self.awaited = Awaited::Rest(length - input.len());
                (!input.is_empty()).then_some(input.len())
            }
            Awaited::Rest(length) => Some(length),
        }
    }

    /// Executes a line; returns whether the session goes on.
    fn line(&mut self, cache: &Mutex<Cache>, line: &[u8], client: &mut impl Client) -> bool {
        match read(line) {
            Ok((Command::Quit, _)) => {
                client.send();
                return false;
            }
            Ok((Command::Store(storing), _)) => {
                // Memory is reserved before the value arrives, and earlier answers are sent, so that they hold none
                // meanwhile.
                let length = storing.length;
                self.awaited = Awaited::Value(storing);
                return length <= SMALL || (client.send() && client.reserve(length));
            }
            Ok((Command::Get { keys, with_version, touch }, _)) => {
                for key in &keys {
                    let get =
                        |most, out: &mut Vec<u8>| locked(cache).get(key, with_version, touch, most, out);
                    if !told(client, get) {
                        return false;
                    }
                }
                client.out().extend_from_slice(b"END\r\n");
            }
            Ok((Command::MetaGet(meta), _)) => {
                return told(client, |most, out| locked(cache).meta_get(&meta, most, out));
            }
            Ok((Command::MetaCount(meta), _)) => locked(cache).meta_count(&meta, client.out()),
            Ok((command, is_quiet)) => {
                let before = client.out().len();
                locked(cache).execute(&command, client.out());
                if is_quiet {
                    client.out().truncate(before);
                }
            }
            Err(wrong) => {
                let told = match wrong {
                    Wrong::Told(told) => told,
                    Wrong::Value { told, key, length } => {
                        key.iter().for_each(|key| locked(cache).forget(key));
                        self.awaited = Awaited::Rest(length + 2);
                        told
                    }
                };
                if !told.is_empty() {
                    client.out().extend_from_slice(told.as_bytes());
                    client.out().extend_from_slice(b"\r\n");
                }
            }
        }
        true
    }
}

/// Writes a value; a long one once memory is reserved for it, and nothing else is pending. Returns whether the client
/// is still there.
fn told(client: &mut impl Client, mut get: impl FnMut(usize, &mut Vec<u8>) -> Result<(), usize>) -> bool {
    let mut most = SMALL;
    while let Err(length) = get(most, client.out()) {
        // Meanwhile it may have become longer.
        if !client.send() || !client.reserve(length) {
            return false;
        }
        most = length;
    }
    (most == SMALL && client.out().len() <= SMALL) || (client.send() && (most == SMALL || client.reserve(0)))
}

/// Whether the input may be the beginning of a line.
fn may_become_line(line: &[u8]) -> bool {
    let first = line.trim_ascii_start();
    let asks = first.starts_with(b"get ") || first.starts_with(b"gets ");
    line.len() <= if asks { LONGEST_LINE } else { LONGEST_OTHER }
}

/// Bounded answers, which are sent once the whole datagram has been executed.
struct Datagrams(Vec<u8>);

impl Client for Datagrams {
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    fn send(&mut self) -> bool {
        self.0.len() <= LONGEST_ANSWER
    }

    fn reserve(&mut self, _: usize) -> bool {
        true
    }
}

/// The datagrams that answer one: with memcached's frame before the text.
pub fn answers(cache: &Mutex<Cache>, request: &[u8]) -> Vec<Vec<u8>> {
    // As in memcached, requests of several datagrams are ignored.
    let Some((frame, text)) = request.split_at_checked(FRAME).filter(|(frame, _)| frame[4..6] == [0, 1])
    else {
        return Vec::new();
    };
    let (mut session, mut client) = (Session::default(), Datagrams(Vec::new()));
    session.hear(cache, text, &mut client);
    let mut out = client.0;
    if out.len() > LONGEST_ANSWER {
        out = b"SERVER_ERROR answer too long\r\n".to_vec();
    } else if !matches!(session.awaited, Awaited::Line) {
        out.extend_from_slice(b"CLIENT_ERROR bad data chunk\r\n");
    }
    let parts: Vec<&[u8]> = out.chunks(LONGEST_DATAGRAM - FRAME).collect();
    let count = parts.len() as u16;
    let framed = (0u16..).zip(parts).map(|(number, part)| {
        [&frame[..2], &number.to_be_bytes(), &count.to_be_bytes(), &[0, 0], part].concat()
    });
    framed.collect()
}
