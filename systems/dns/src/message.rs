//! Whole messages: parses queries, and composes responses.

use domain::base::iana::Rtype;

use crate::answer::{LONGEST, Ready};
use crate::name;
use crate::zone::Zone;

const HEADER: usize = 12;
/// The size of responses without EDNS0, and our limit with it: longer datagrams would be fragmented.
const OLD_SIZE: usize = 512;
const OUR_SIZE: usize = 1232;
/// EDNS0's record type.
const OPT: u16 = 41;
const DNSSEC_OK: u8 = 0x80;
const CLASS_IN: u16 = 1;
const CLASS_ANY: u16 = 255;

/// Flags of a header: in its first byte, and codes in its second.
const RESPONSE: u8 = 0x80;
const OPERATION: u8 = 0x78;
const AUTHORITATIVE: u8 = 0x04;
const TRUNCATED: u8 = 0x02;
const RECURSION_DESIRED: u8 = 0x01;
const BAD_FORMAT: u8 = 1;
const FAILED: u8 = 2;
const NOT_IMPLEMENTED: u8 = 4;
const REFUSED: u8 = 5;
/// EDNS0: the part of a code that doesn't fit into the header.
const BAD_VERSION: u8 = 1;

/// A parsed query.
struct Query<'a> {
    /// Name, type and class, as in the message.
    question: &'a [u8],
    name: &'a [u8],
    rtype: u16,
    class: u16,
}

/// The query's EDNS0 record.
struct Extended {
    size: usize,
    version: u8,
    dnssec: u8,
}

/// The response to a message, if it is a query; `is_datagram`: it came in a datagram.
pub fn response(zone: &Zone, message: &[u8], is_datagram: bool) -> Option<Vec<u8>> {
    let header = message.first_chunk::<HEADER>().filter(|header| header[2] & RESPONSE == 0)?;
    let (query, extended) = read(header, message);
    let operation = header[2] & OPERATION;
    let empty = |code| Ready { flags: [RESPONSE, code], ..Ready::default() };
    let (ready, more) = match &query {
        _ if operation != 0 => {
            (Ready { flags: [RESPONSE | operation, NOT_IMPLEMENTED], ..Ready::default() }, 0)
        }
        None => (empty(BAD_FORMAT), 0),
        Some(_) if extended.as_ref().is_some_and(|it| it.version != 0) => (empty(0), BAD_VERSION),
        Some(query) => (answer(zone, query).unwrap_or_else(empty), 0),
    };
    let most = match (&extended, is_datagram) {
        (_, false) => LONGEST,
        (Some(extended), true) => extended.size.clamp(OLD_SIZE, OUR_SIZE),
        (None, true) => OLD_SIZE,
    };
    let question = query.filter(|_| operation == 0).map_or(&[][..], |query| query.question);
    Some(composed(header, question, ready, extended.map(|it| it.told(more)), most))
}

/// The zone's answer, or an error code.
fn answer(zone: &Zone, query: &Query<'_>) -> Result<Ready, u8> {
    let name = query.name.to_ascii_lowercase();
    let is_transfer = matches!(Rtype::from_int(query.rtype), Rtype::AXFR | Rtype::IXFR);
    if !matches!(query.class, CLASS_IN | CLASS_ANY) || is_transfer || !zone.has(&name) {
        return Err(REFUSED);
    }
    let mut ready = zone.answer(&name, Rtype::from_int(query.rtype)).ok_or(FAILED)?;
    if query.class == CLASS_ANY {
        // For other classes another server may be authoritative.
        ready.flags[0] &= !AUTHORITATIVE;
    }
    Ok(ready)
}

/// A response of at most so many bytes. If the records don't fit, they are left out, and it is marked as truncated.
fn composed(
    header: &[u8; HEADER],
    question: &[u8],
    ready: Ready,
    extension: Option<[u8; 11]>,
    most: usize,
) -> Vec<u8> {
    let extension = extension.as_ref().map_or(&[][..], |extension| extension);
    let is_cut = HEADER + question.len() + ready.bytes.len() + extension.len() > most;
    let (counts, bytes) = if is_cut { ([0; 3], &[][..]) } else { (ready.counts, &ready.bytes[..]) };
    let [answers, authorities, additional] = counts;
    let counts = [
        u16::from(!question.is_empty()),
        answers,
        authorities,
        additional + u16::from(!extension.is_empty()),
    ];
    let truncated = if is_cut { TRUNCATED } else { 0 };
    let mut response = header[..2].to_vec();
    response.extend([ready.flags[0] | truncated | header[2] & RECURSION_DESIRED, ready.flags[1]]);
    response.extend(counts.into_iter().flat_map(u16::to_be_bytes));
    [question, bytes, extension].into_iter().for_each(|part| response.extend_from_slice(part));
    response
}

/// The query, if it is well-formed, and its EDNS0 record, as far as that can be found.
fn read<'a>(header: &[u8; HEADER], message: &'a [u8]) -> (Option<Query<'a>>, Option<Extended>) {
    let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let mut rest = &message[HEADER..];
    let mut query = None;
    for _ in 0..count(4) {
        let Some(next) = Query::read(rest) else { return (None, None) };
        rest = &rest[next.question.len()..];
        query = Some(next);
    }
    let mut is_wellformed = count(4) == 1;
    let mut extended = None;
    for _ in 0..u32::from(count(6)) + u32::from(count(8)) + u32::from(count(10)) {
        let Some((record, after)) = record(rest) else { return (None, extended) };
        if record.rtype == OPT {
            is_wellformed &= extended.is_none() && record.owner == [0];
            extended.get_or_insert(record.extended);
        }
        rest = after;
    }
    (query.filter(|_| is_wellformed), extended)
}

impl<'a> Query<'a> {
    fn read(bytes: &'a [u8]) -> Option<Query<'a>> {
        let name = name::first(bytes)?;
        let question = bytes.get(..name.len() + 4)?;
        Some(Query {
            question,
            name,
            rtype: number(question, name.len())?,
            class: number(question, name.len() + 2)?,
        })
    }
}

impl Extended {
    /// The EDNS0 record of the response.
    fn told(&self, code: u8) -> [u8; 11] {
        let [high, low] = (OUR_SIZE as u16).to_be_bytes();
        [0, 0, OPT as u8, high, low, code, 0, self.dnssec, 0, 0, 0]
    }
}

/// A record of a query.
struct Record<'a> {
    owner: &'a [u8],
    rtype: u16,
    /// Its fields, if it is an EDNS0 record.
    extended: Extended,
}

/// Parses a record; returns what follows, too.
fn record(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (owner, record) = after_name(bytes)?;
    let (rtype, size, length) = (number(record, 0)?, number(record, 2)?, number(record, 8)?);
    let extended = Extended { size: size.into(), version: record[5], dnssec: record[6] & DNSSEC_OK };
    Some((Record { owner, rtype, extended }, record.get(10 + usize::from(length)..)?))
}

/// Skips a name that may end with a pointer; returns what follows.
fn after_name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        match usize::from(*bytes.get(at)?) {
            0 => return bytes.split_at_checked(at + 1),
            length @ 1..64 => at += 1 + length,
            192.. => return bytes.split_at_checked(at + 2),
            _ => return None,
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
