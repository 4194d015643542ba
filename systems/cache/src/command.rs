//! Parses a line of memcached's text protocol. Errors are memcached's, word for word.

use crate::meta::{self, Meta};
use crate::words;
use crate::wrong::{FORMAT, TOO_LARGE, UNKNOWN, Wrong, short};

/// How an item is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Whether or not there is an item.
    Set,
    /// Only if there is no item.
    Add,
    /// Only if there is an item.
    Replace,
    /// Behind the present value.
    Append,
    /// Before the present value.
    Prepend,
}

/// A command with a value, which follows on the next line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storing {
    /// How.
    pub way: Way,
    /// Only if the item still has this version.
    pub version: Option<u64>,
    /// Where.
    pub key: Vec<u8>,
    /// The client's flags for the item.
    pub flags: u32,
    /// The expiry time as the client gives it.
    pub expiry: i32,
    /// The length of the value.
    pub length: usize,
    /// The client wants no answer to a success.
    pub is_quiet: bool,
    /// Set if it is a meta command, which has an answer of its own.
    pub meta: Option<Box<Meta>>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Returns items, with their versions or with a new expiry time.
    Get { keys: Vec<Vec<u8>>, with_version: bool, touch: Option<i32> },
    /// Stores an item.
    Store(Storing),
    /// Deletes an item.
    Delete(Vec<u8>),
    /// Adds or subtracts.
    Count { key: Vec<u8>, by: u64, up: bool },
    /// Sets an item's expiry time.
    Touch(Vec<u8>, i32),
    /// Makes all items expire in so many seconds.
    Flush(i32),
    /// Counters: all, or one part.
    Statistics(Part),
    /// The server's version.
    Version,
    /// The server's verbosity, which has no effect.
    Verbosity,
    /// Returns an item, as the flags of a meta command say.
    MetaGet(Meta),
    /// Deletes an item, or marks it stale.
    MetaDelete(Meta),
    /// Adds or subtracts.
    MetaCount(Meta),
    /// Returns what is known of an item.
    MetaTell(Vec<u8>),
    /// A marker: all earlier commands have been answered.
    MetaNothing,
    /// The client closes, or doesn't speak memcached's protocol.
    Quit,
}

/// What `stats` is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `stats` without an argument.
    All,
    Items,
    Slabs,
    Sizes,
    Settings,
    /// Resets the counters.
    Reset,
}

/// A command and whether the client wants no answer; or the error in the line.
pub type Read = Result<(Command, bool), Wrong>;

/// Parses a line without its end.
pub fn read(line: &[u8]) -> Read {
    let words = words::of(line);
    let Some((&name, rest)) = words.split_first() else { return Err(Wrong::Told(UNKNOWN)) };
    if let Some(told) = told(name, rest)? {
        return Ok((told, false));
    }
    let is_quiet = rest.last() == Some(&&b"noreply"[..]);
    match changing(name, rest, is_quiet) {
        // A quiet command's errors aren't reported either, except that the command is unknown.
        Err(Wrong::Told(told)) if is_quiet && told != UNKNOWN => Err(Wrong::Told("")),
        Err(Wrong::Value { key, length, .. }) if is_quiet => Err(Wrong::Value { told: "", key, length }),
        command => Ok((command?, is_quiet)),
    }
}

/// A command that is always answered.
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

/// A command that changes something, and may be quiet.
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
        // A browser: an attacker may have put commands into its request's body.
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
    // The value is read even if it is refused.
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
