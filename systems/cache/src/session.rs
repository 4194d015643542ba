//! What goes on with one client: bytes that come, and what is said to them.

use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::LONGEST_DATAGRAM;
use crate::cache::Cache;
use crate::command::{Command, Storing, Wrong, read};

/// Many keys may be asked for in one line.
const LONGEST_LINE: usize = 1 << 16;
/// The frame of a datagram.
const FRAME: usize = 8;

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
    Value(Storing, bool),
    /// So many bytes of a value that was too long.
    Rest(usize),
}

/// Nobody leaves it half changed.
pub fn locked(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Does what the client has said so far; whether it goes on.
    pub fn hear(&mut self, cache: &Mutex<Cache>, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        self.input.extend_from_slice(bytes);
        let input = take(&mut self.input);
        let (mut rest, mut goes_on) = (&input[..], true);
        while goes_on {
            let Some(used) = self.one(cache, rest, out, &mut goes_on) else { break };
            rest = &rest[used..];
        }
        self.input = rest.to_vec();
        goes_on
    }

    /// Does one thing, if all of it has come; how many bytes that were.
    fn one(
        &mut self,
        cache: &Mutex<Cache>,
        input: &[u8],
        out: &mut Vec<u8>,
        goes_on: &mut bool,
    ) -> Option<usize> {
        match take(&mut self.awaited) {
            Awaited::Line => {
                let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
                    if input.len() > LONGEST_LINE {
                        out.extend_from_slice(b"CLIENT_ERROR line too long\r\n");
                        *goes_on = false;
                    }
                    return None;
                };
                let line = input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]);
                *goes_on = self.line(cache, line, out);
                Some(end + 1)
            }
            Awaited::Value(storing, quiet) => {
                let Some((value, end)) =
                    input.get(..storing.length + 2).map(|it| it.split_at(storing.length))
                else {
                    self.awaited = Awaited::Value(storing, quiet);
                    return None;
                };
                if end != b"\r\n" {
                    out.extend_from_slice(Wrong::Chunk.text().as_bytes());
                    // What follows the line is the rest of that value.
                    let line = input[storing.length..].iter().position(|byte| *byte == b'\n');
                    return Some(line.map_or(input.len(), |at| storing.length + at + 1));
                }
                let said = locked(cache).put(&storing, value.to_vec());
                if !quiet {
                    out.extend_from_slice(said);
                }
                Some(storing.length + 2)
            }
            Awaited::Rest(length) if length > input.len() => {
                self.awaited = Awaited::Rest(length - input.len());
                (!input.is_empty()).then_some(input.len())
            }
            Awaited::Rest(length) => Some(length),
        }
    }

    fn line(&mut self, cache: &Mutex<Cache>, line: &[u8], out: &mut Vec<u8>) -> bool {
        match read(line) {
            Ok((Command::Quit, _)) => return false,
            Ok((Command::Store(storing), quiet)) => self.awaited = Awaited::Value(storing, quiet),
            Ok((command, quiet)) => {
                let before = out.len();
                locked(cache).execute(command, out);
                if quiet {
                    out.truncate(before);
                }
            }
            Err(wrong) => {
                let mut is_quiet = false;
                if let Wrong::TooLarge { length, quiet, key } = &wrong {
                    locked(cache).forget(key);
                    self.awaited = Awaited::Rest(length + 2);
                    is_quiet = *quiet;
                }
                if !is_quiet {
                    out.extend_from_slice(wrong.text().as_bytes());
                }
            }
        }
        true
    }
}

/// The datagrams by which one is answered: memcached's, with a frame before the text.
pub fn answers(cache: &Mutex<Cache>, request: &[u8]) -> Vec<Vec<u8>> {
    // Requests of several datagrams are none here, as with memcached.
    let Some((frame, text)) = request.split_at_checked(FRAME).filter(|(frame, _)| frame[4..6] == [0, 1])
    else {
        return Vec::new();
    };
    let (mut session, mut out) = (Session::default(), Vec::new());
    session.hear(cache, text, &mut out);
    if !matches!(session.awaited, Awaited::Line) {
        out.extend_from_slice(Wrong::Chunk.text().as_bytes());
    }
    let parts: Vec<&[u8]> = out.chunks(LONGEST_DATAGRAM - FRAME).collect();
    let Ok(count) = u16::try_from(parts.len()) else {
        return vec![[&frame[..2], &[0, 0, 0, 1, 0, 0], &b"SERVER_ERROR answer too long\r\n"[..]].concat()];
    };
    let framed = (0u16..).zip(parts).map(|(number, part)| {
        [&frame[..2], &number.to_be_bytes(), &count.to_be_bytes(), &[0, 0], part].concat()
    });
    framed.collect()
}
