//! A line of memcached's text protocol, read. What is told of a wrong one is memcached's, word by word.

use crate::meta::{self, Meta};
use crate::words;
use crate::wrong::{FORMAT, TOO_LARGE, UNKNOWN, Wrong, short};

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
}

/// A value that follows on the next line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storing {
    /// How.
    pub way: Way,
    /// Only if there is an item of that version still.
    pub version: Option<u64>,
    /// Where.
    pub key: Vec<u8>,
    /// What the client wants to have with it.
    pub flags: u32,
    /// As clients say it.
    pub expiry: i32,
    /// Of the value.
    pub length: usize,
    /// The client wants no answer if all is well.
    pub is_quiet: bool,
    /// It was said by a meta command, which wants another answer.
    pub meta: Option<Box<Meta>>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Items, with their versions, given another time to expire at.
    Get { keys: Vec<Vec<u8>>, with_version: bool, touch: Option<i32> },
    /// See there.
    Store(Storing),
    /// Takes an item out.
    Delete(Vec<u8>),
    /// Adds, or subtracts.
    Count { key: Vec<u8>, by: u64, up: bool },
    /// Gives an item another time to expire at.
    Touch(Vec<u8>, i32),
    /// All items expire, after so many seconds.
    Flush(i32),
    /// How it goes: all, or a part of it.
    Statistics(Part),
    /// Who this is.
    Version,
    /// How much is said on the server's side: it is always as much.
    Verbosity,
    /// An item, as the flags of a meta command want it.
    MetaGet(Meta),
    /// Takes an item out, or says that it is stale.
    MetaDelete(Meta),
    /// Adds, or subtracts.
    MetaCount(Meta),
    /// What is known of an item.
    MetaTell(Vec<u8>),
    /// All that was said before has been answered.
    MetaNothing,
    /// The client has gone, or isn't one of memcached's.
    Quit,
}

/// What `stats` is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Without a word.
    All,
    Items,
    Slabs,
    Sizes,
    Settings,
    /// Counts from now on.
    Reset,
}

/// A line, and whether the client wants no answer; or what is wrong with it.
pub type Read = Result<(Command, bool), Wrong>;

/// Reads a line, without its end.
pub fn read(line: &[u8]) -> Read {
    let words = words::of(line);
    let Some((&name, rest)) = words.split_first() else { return Err(Wrong::Told(UNKNOWN)) };
    if let Some(told) = told(name, rest)? {
        return Ok((told, false));
    }
    let is_quiet = rest.last() == Some(&&b"noreply"[..]);
    match changing(name, rest, is_quiet) {
        // Who wants no answer isn't told what is wrong either, but that there is no such command.
        Err(Wrong::Told(told)) if is_quiet && told != UNKNOWN => Err(Wrong::Told("")),
        Err(Wrong::Value { key, length, .. }) if is_quiet => Err(Wrong::Value { told: "", key, length }),
        command => Ok((command?, is_quiet)),
    }
}

/// A command that is answered in any case.
fn told(name: &[u8], rest: &[&[u8]]) -> Result<Option<Command>, Wrong> {
    Ok(Some(match (name, rest) {
        (b"get" | b"gets" | b"bget", [_, ..]) => get(rest, name == b"gets", None)?,
        (b"gat" | b"gats", [expiry, keys @ ..]) => {
            let expiry = words::signed(expiry).ok_or(Wrong::Told(EXPIRY))?;
            get(keys, name == b"gats", Some(expiry))?
        }
        (b"stats", _) => Command::Statistics(part(rest)?),
        (b"version", _) => Command::Version,
        (b"quit", _) => Command::Quit,
        (b"mn", _) => Command::MetaNothing,
        (b"mg", [_, ..]) => Command::MetaGet(meta::read(rest)?),
        (b"md", [_, ..]) => Command::MetaDelete(meta::read_changing(rest)?),
        (b"ma", [_, ..]) => Command::MetaCount(meta::read_changing(rest)?),
        (b"me", []) => return Err(Wrong::Told(FORMAT)),
        (b"me", _) => Command::MetaTell(meta::read_key(rest)?),
        (b"ms", [_, ..]) => Command::Store(meta_storing(rest)?),
        _ => return Ok(None),
    }))
}

/// A command that changes something, which clients may want to be silent.
fn changing(name: &[u8], rest: &[&[u8]], is_quiet: bool) -> Result<Command, Wrong> {
    Ok(match (name, rest) {
        (b"set", _) => store(Way::Set, rest, is_quiet)?,
        (b"add", _) => store(Way::Add, rest, is_quiet)?,
        (b"replace", _) => store(Way::Replace, rest, is_quiet)?,
        (b"append", _) => store(Way::Append, rest, is_quiet)?,
        (b"prepend", _) => store(Way::Prepend, rest, is_quiet)?,
        (b"cas", [key, flags, expiry, length, version] | [key, flags, expiry, length, version, _]) => {
            stored(Way::Set, [key, flags, expiry, length], Some(version), is_quiet)?
        }
        (b"delete", [key, more @ ..]) if more.len() < 3 => match more {
            [] | [b"0"] | [b"noreply"] | [b"0", b"noreply"] => Command::Delete(short(key)?),
            _ => return Err(Wrong::Told(DELETE)),
        },
        (b"incr" | b"decr", [key, by] | [key, by, _]) => {
            let key = short(key)?;
            let by = words::unsigned(by).ok_or(Wrong::Told("CLIENT_ERROR invalid numeric delta argument"))?;
            Command::Count { key, by, up: name == b"incr" }
        }
        (b"touch", [key, expiry] | [key, expiry, _]) => {
            Command::Touch(short(key)?, words::signed(expiry).ok_or(Wrong::Told(EXPIRY))?)
        }
        (b"flush_all", [] | [b"noreply"]) => Command::Flush(0),
        (b"flush_all", [delay] | [delay, _]) => {
            Command::Flush(words::signed(delay).ok_or(Wrong::Told(EXPIRY))?)
        }
        (b"verbosity", [level] | [level, _]) => {
            words::unsigned(level).map(|_| Command::Verbosity).ok_or(Wrong::Told(FORMAT))?
        }
        // A browser, which somebody has say other commands in its request's body.
        (_, [.., last])
            if last.starts_with(b"HTTP/") && name.len() > 1 && !b"acdgimst".contains(&name[0]) =>
        {
            Command::Quit
        }
        _ => return Err(Wrong::Told(UNKNOWN)),
    })
}

const EXPIRY: &str = "CLIENT_ERROR invalid exptime argument";
const DELETE: &str = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]";

fn get(keys: &[&[u8]], with_version: bool, touch: Option<i32>) -> Result<Command, Wrong> {
    let keys = keys.iter().map(|key| short(key)).collect::<Result<_, _>>()?;
    Ok(Command::Get { keys, with_version, touch })
}

fn store(way: Way, words: &[&[u8]], is_quiet: bool) -> Result<Command, Wrong> {
    match *words {
        [key, flags, expiry, length] | [key, flags, expiry, length, _] => {
            stored(way, [key, flags, expiry, length], None, is_quiet)
        }
        _ => Err(Wrong::Told(UNKNOWN)),
    }
}

fn stored(way: Way, words: [&[u8]; 4], version: Option<&[u8]>, is_quiet: bool) -> Result<Command, Wrong> {
    let [key, flags, expiry, length] = words;
    let key = short(key)?;
    let (Some(flags), Some(expiry), Some(length)) =
        (words::flags(flags), words::signed(expiry), words::signed(length))
    else {
        return Err(Wrong::Told(FORMAT));
    };
    let version = version.map(|word| words::unsigned(word).ok_or(Wrong::Told(FORMAT))).transpose()?;
    let length = usize::try_from(length).map_err(|_| Wrong::Told(FORMAT))?;
    if !crate::fits(key.len(), flags, length) {
        return Err(Wrong::Value { told: TOO_LARGE, key: Some(key), length });
    }
    Ok(Command::Store(Storing { way, version, key, flags, expiry, length, is_quiet, meta: None }))
}

fn part(words: &[&[u8]]) -> Result<Part, Wrong> {
    match words.first().copied() {
        None => Ok(Part::All),
        Some(b"items") => Ok(Part::Items),
        Some(b"slabs") => Ok(Part::Slabs),
        Some(b"sizes") => Ok(Part::Sizes),
        Some(b"settings") => Ok(Part::Settings),
        Some(b"reset") => Ok(Part::Reset),
        Some(_) => Err(Wrong::Told(UNKNOWN)),
    }
}

/// `ms KEY LENGTH FLAGS..`
fn meta_storing(words: &[&[u8]]) -> Result<Storing, Wrong> {
    let [key, length, flags @ ..] = words else { return Err(Wrong::Told(FORMAT)) };
    short(key)?;
    if words.len() > meta::MOST_WORDS {
        return Err(Wrong::Told(meta::TOO_MANY));
    }
    let length = words::signed(length).and_then(|length| usize::try_from(length).ok());
    let length = length.filter(|length| *length <= i32::MAX as usize - 2).ok_or(Wrong::Told(FORMAT))?;
    // The value is read in any case.
    let refused = |told| Wrong::Value { told, key: None, length };
    let meta = meta::flagged(key, flags).map_err(|wrong| match wrong {
        Wrong::Told(told) => refused(told),
        wrong => wrong,
    })?;
    let way = match meta.mode {
        None | Some(b'S') => Way::Set,
        Some(b'E') => Way::Add,
        Some(b'A') => Way::Append,
        Some(b'P') => Way::Prepend,
        Some(b'R') => Way::Replace,
        Some(_) => return Err(refused("CLIENT_ERROR invalid mode for ms M token")),
    };
    meta::is_short(&meta.flags).map_err(refused)?;
    if !crate::fits(meta.key.len(), meta.client_flags, length) {
        return Err(Wrong::Value { told: TOO_LARGE, key: Some(meta.key), length });
    }
    Ok(Storing {
        way,
        version: meta.version,
        key: meta.key.clone(),
        flags: meta.client_flags,
        expiry: meta.expiry.unwrap_or(0),
        length,
        is_quiet: meta.is_quiet,
        meta: Some(Box::new(meta)),
    })
}
