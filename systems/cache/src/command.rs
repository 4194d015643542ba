//! A line of memcached's text protocol, read.

use crate::{LONGEST_KEY, LONGEST_VALUE};

/// How an item is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Whatever is there.
    Set,
    /// Only if there is none.
    Add,
    /// Only if there is one.
    Replace,
    /// Behind what is there.
    Append,
    /// Before what is there.
    Prepend,
    /// If there is still that version.
    If(u64),
}

/// A value that follows on the next line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storing {
    /// How.
    pub way: Way,
    /// Where.
    pub key: Vec<u8>,
    /// What the client wants to have with it.
    pub flags: u32,
    /// As clients say it.
    pub expiry: i64,
    /// Of the value.
    pub length: usize,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Items, with their versions, given another time to expire at.
    Get { keys: Vec<Vec<u8>>, with_version: bool, touch: Option<i64> },
    /// See there.
    Store(Storing),
    /// Takes an item out.
    Delete(Vec<u8>),
    /// Adds, or subtracts.
    Count { key: Vec<u8>, by: u64, up: bool },
    /// Gives an item another time to expire at.
    Touch(Vec<u8>, i64),
    /// All items expire, after so many seconds.
    Flush(i64),
    /// How it goes; of a part that there isn't: nothing.
    Statistics { part: bool },
    /// Who this is.
    Version,
    /// How much is said on the server's side: it is always as much.
    Verbosity,
    /// The client has gone.
    Quit,
}

/// A line, and whether the client wants no answer; or what is wrong with it.
pub type Read = Result<(Command, bool), Wrong>;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such command.
    Unknown,
    /// It isn't said like that.
    Format,
    /// That is no number.
    Delta,
    /// That is no time.
    Expiry,
    /// A value has another length than was said.
    Chunk,
    /// A value that is too long follows: so many bytes.
    TooLarge { key: Vec<u8>, length: usize, quiet: bool },
}

impl Wrong {
    /// As clients know it.
    pub fn text(&self) -> &'static str {
        match self {
            Wrong::Unknown => "ERROR\r\n",
            Wrong::Format => "CLIENT_ERROR bad command line format\r\n",
            Wrong::Delta => "CLIENT_ERROR invalid numeric delta argument\r\n",
            Wrong::Expiry => "CLIENT_ERROR invalid exptime argument\r\n",
            Wrong::Chunk => "CLIENT_ERROR bad data chunk\r\n",
            Wrong::TooLarge { .. } => "SERVER_ERROR object too large for cache\r\n",
        }
    }
}

/// Reads a line, without its end.
pub fn read(line: &[u8]) -> Read {
    let mut words: Vec<&[u8]> = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    // Only where a word may follow at all is this one.
    let quiet = words.len() > 1 && words.last() == Some(&&b"noreply"[..]);
    let Some(&name) = words.first() else { return Err(Wrong::Unknown) };
    let is_get = matches!(name, b"get" | b"gets" | b"gat" | b"gats");
    if quiet && !is_get {
        words.pop();
    }
    let command = match (name, &words[1..]) {
        (b"get" | b"gets", keys @ [_, ..]) => get(keys, name == b"gets", None)?,
        (b"gat" | b"gats", [expiry, keys @ ..]) if !keys.is_empty() => {
            get(keys, name == b"gats", Some(number(expiry).ok_or(Wrong::Expiry)?))?
        }
        (b"set" | b"add" | b"replace" | b"append" | b"prepend", [key, flags, expiry, length]) => {
            let way = match name {
                b"set" => Way::Set,
                b"add" => Way::Add,
                b"replace" => Way::Replace,
                b"append" => Way::Append,
                _ => Way::Prepend,
            };
            storing(way, key, [flags, expiry, length], quiet)?
        }
        (b"cas", [key, flags, expiry, length, version]) => {
            let way = Way::If(number(version).ok_or(Wrong::Format)?);
            storing(way, key, [flags, expiry, length], quiet)?
        }
        (b"delete", [key] | [key, b"0"]) => Command::Delete(short(key)?),
        (b"incr" | b"decr", [key, by]) => {
            Command::Count { key: short(key)?, by: number(by).ok_or(Wrong::Delta)?, up: name == b"incr" }
        }
        (b"touch", [key, expiry]) => Command::Touch(short(key)?, number(expiry).ok_or(Wrong::Expiry)?),
        (b"flush_all", []) => Command::Flush(0),
        (b"flush_all", [delay]) => Command::Flush(number(delay).ok_or(Wrong::Format)?),
        (b"stats", rest) => Command::Statistics { part: !rest.is_empty() },
        (b"version", []) => Command::Version,
        (b"verbosity", _) => Command::Verbosity,
        (b"quit", []) => Command::Quit,
        (b"delete", [_, _, ..]) => return Err(Wrong::Format),
        _ => return Err(Wrong::Unknown),
    };
    Ok((command, quiet && !is_get))
}

fn get(keys: &[&[u8]], with_version: bool, touch: Option<i64>) -> Result<Command, Wrong> {
    let keys = keys.iter().map(|key| short(key)).collect::<Result<_, _>>()?;
    Ok(Command::Get { keys, with_version, touch })
}

fn storing(way: Way, key: &[u8], numbers: [&&[u8]; 3], quiet: bool) -> Result<Command, Wrong> {
    let [flags, expiry, length] = numbers;
    let key = short(key)?;
    let (Some(flags), Some(expiry), Some(length)) = (number(flags), number(expiry), number::<i32>(length))
    else {
        return Err(Wrong::Format);
    };
    let length = usize::try_from(length).map_err(|_| Wrong::Format)?;
    if length > LONGEST_VALUE {
        return Err(Wrong::TooLarge { key, length, quiet });
    }
    Ok(Command::Store(Storing { way, key, flags, expiry, length }))
}

fn short(key: &[u8]) -> Result<Vec<u8>, Wrong> {
    if key.len() <= LONGEST_KEY { Ok(key.to_vec()) } else { Err(Wrong::Format) }
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
