//! Requests and replies between a client and the service (`extension::composite::shipping`). A client's requests are
//! read from untrusted bytes; the service's replies are written.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use drystone_component::wire::{Reader, put_opaque, put_u64};
use drystone_extension::composite::shipping::{BUDGET, CANCELLED, ENDED, REFUSED, STOPPED, UNKNOWN};
use drystone_extension::composite::{Failure, Why};

/// Most communications of a program.
const MOST_NAMES: u32 = 4096;

/// A client's request.
pub(crate) enum Request {
    /// Run this program, or the one with this hash.
    Run(Vec<u8>, Beginning),
    /// Resume a run that has stopped, with so many more rounds, and with other values unless the table is empty.
    Resume { table: Vec<u8>, rounds: u64 },
}

/// The input of a run.
pub(crate) struct Beginning {
    /// The names of the exports that its communications lead to.
    pub(crate) names: Vec<Vec<u8>>,
    /// The values of its variables, as XDR.
    pub(crate) table: Vec<u8>,
    pub(crate) rounds: u64,
}

impl Beginning {
    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.table.len() + self.names.iter().map(|name| name.len() + size_of::<Vec<u8>>()).sum::<usize>()
    }
}

impl Request {
    /// Reads a `Run`.
    pub(crate) fn run(bytes: &[u8]) -> Result<Request, String> {
        let mut reader = Reader::new(bytes);
        let program = reader.opaque("program")?.to_vec();
        let names = names(reader.opaque("names")?)?;
        let table = reader.opaque("table")?.to_vec();
        let rounds = rounds(&mut reader)?;
        reader.end()?;
        Ok(Request::Run(program, Beginning { names, table, rounds }))
    }

    /// Reads a `Resume`.
    pub(crate) fn resume(bytes: &[u8]) -> Result<Request, String> {
        let mut reader = Reader::new(bytes);
        let table = reader.opaque("table")?.to_vec();
        let rounds = rounds(&mut reader)?;
        reader.end()?;
        Ok(Request::Resume { table, rounds })
    }
}

fn rounds(reader: &mut Reader<'_>) -> Result<u64, String> {
    let rounds = reader.hyper("rounds")? as i64;
    u64::try_from(rounds).map_err(|_| "rounds is below 0".to_string())
}

fn names(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut reader = Reader::new(bytes);
    let count = reader.word("the number of names")?;
    if count > MOST_NAMES {
        return Err(format!(
            "a program talks over {MOST_NAMES} communications at most, and there are {count}"
        ));
    }
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(reader.opaque("a name")?.to_vec());
    }
    reader.end()?;
    Ok(names)
}

/// The service's reply.
pub(crate) enum Reply {
    /// The run has ended, with these values.
    Ended(Vec<u8>),
    /// The run has stopped and can be resumed.
    Stopped { fault: i64, location: i64, why: String, table: Vec<u8> },
    /// No program with this hash is remembered.
    Unknown,
    /// The request is refused, for this reason.
    Refused(String),
}

impl Reply {
    /// A run has stopped, with these values.
    pub(crate) fn stopped(why: &Why, table: Vec<u8>) -> Reply {
        let (fault, location) = match why {
            Why::Failed(Failure { fault, location, .. }) => (*fault as i64, i64::from(*location)),
            Why::Budget => (BUDGET, 0),
            Why::Cancelled => (CANCELLED, 0),
        };
        Reply::Stopped { fault, location, why: why.to_string(), table }
    }

    /// The message's number in the interface.
    pub(crate) fn number(&self) -> usize {
        match self {
            Reply::Ended(_) => ENDED,
            Reply::Stopped { .. } => STOPPED,
            Reply::Unknown => UNKNOWN,
            Reply::Refused(_) => REFUSED,
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Reply::Ended(table) => table.len(),
            Reply::Stopped { why, table, .. } => why.len() + table.len(),
            Reply::Unknown => 0,
            Reply::Refused(why) => why.len(),
        }
    }

    /// Writes the message's values.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Reply::Ended(table) => put_opaque(out, table),
            Reply::Stopped { fault, location, why, table } => {
                put_u64(out, *fault as u64);
                put_u64(out, *location as u64);
                put_opaque(out, why.as_bytes());
                put_opaque(out, table);
            }
            Reply::Unknown => {}
            Reply::Refused(why) => put_opaque(out, why.as_bytes()),
        }
    }
}
