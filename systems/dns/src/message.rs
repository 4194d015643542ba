//! Whole messages: what a query is, and the response to it.

use domain::base::iana::Rtype;

use crate::name;
use crate::zone::Zone;

const HEADER: usize = 12;
/// What is sent without being asked for more, and what we send at most if asked: more would be cut into pieces on its way.
const OLD_SIZE: usize = 512;
const OUR_SIZE: usize = 1232;
/// The longest message over TCP.
pub const LONGEST: usize = 65535;
/// Of EDNS0.
const OPT: u16 = 41;
const DNSSEC_OK: u8 = 0x80;
const CLASS_IN: u16 = 1;

/// Flags of a header: in its first byte, and codes in its second.
const RESPONSE: u8 = 0x80;
const OPERATION: u8 = 0x78;
const TRUNCATED: u8 = 0x02;
const RECURSION_DESIRED: u8 = 0x01;
const BAD_FORMAT: u8 = 1;
const NOT_IMPLEMENTED: u8 = 4;
const REFUSED: u8 = 5;

/// What a query wants.
struct Query<'a> {
    /// Name, type and class, as they stand there.
    question: &'a [u8],
    name: &'a [u8],
    rtype: u16,
    class: u16,
    extended: Option<Extended>,
}

/// What EDNS0 says.
struct Extended {
    size: usize,
    version: u8,
    dnssec: u8,
}

/// The response to a message, if it is a query; of a datagram, if it came in one.
pub fn response(zone: &Zone, message: &[u8], is_datagram: bool) -> Option<Vec<u8>> {
    let header = message.first_chunk::<HEADER>().filter(|header| header[2] & RESPONSE == 0)?;
    if header[2] & OPERATION != 0 {
        return Some(head(header, header[2] & OPERATION, NOT_IMPLEMENTED, None));
    }
    let Some(query) = Query::read(header, message) else {
        return Some(head(header, 0, BAD_FORMAT, None));
    };
    let most = match (&query.extended, is_datagram) {
        (_, false) => LONGEST,
        (Some(extended), true) => extended.size.clamp(OLD_SIZE, OUR_SIZE),
        (None, true) => OLD_SIZE,
    };
    if query.extended.as_ref().is_some_and(|it| it.version != 0) {
        return Some(head(header, 0, 0, Some((&query, 1))));
    }
    let name = query.name.to_ascii_lowercase();
    let is_transfer = (250..=252).contains(&query.rtype);
    if query.class != CLASS_IN || is_transfer || !zone.has(&name) {
        return Some(head(header, 0, REFUSED, Some((&query, 0))));
    }
    let Some(ready) = zone.answer(&name, Rtype::from_int(query.rtype)) else {
        return Some(head(header, 0, 2, Some((&query, 0))));
    };
    let extension = query.extension(0);
    let whole = HEADER + query.question.len() + ready.bytes.len() + extension.len();
    if whole > most {
        return Some(head(header, ready.flags[0] | TRUNCATED, ready.flags[1], Some((&query, 0))));
    }
    let mut response = head(header, ready.flags[0], ready.flags[1], Some((&query, 0)));
    let end = response.len() - extension.len();
    response.splice(end..end, ready.bytes);
    let [answers, authorities, additional] = ready.counts;
    let counts = [answers, authorities, additional + u16::from(!extension.is_empty())];
    for (at, count) in (6..).step_by(2).zip(counts) {
        response[at..at + 2].copy_from_slice(&count.to_be_bytes());
    }
    Some(response)
}

/// A response without records: the header, and the question and EDNS0 if they were understood. `code` is what doesn't fit into the header.
fn head(header: &[u8; HEADER], flags: u8, code: u8, query: Option<(&Query<'_>, u8)>) -> Vec<u8> {
    let mut response = header[..2].to_vec();
    response.extend([RESPONSE | flags | header[2] & RECURSION_DESIRED, code]);
    let extension = query.map(|(query, code)| query.extension(code)).unwrap_or_default();
    response.extend([0, u8::from(query.is_some()), 0, 0, 0, 0, 0, u8::from(!extension.is_empty())]);
    response.extend_from_slice(query.map_or(&[], |(query, _)| query.question));
    response.extend(extension);
    response
}

impl<'a> Query<'a> {
    fn read(header: &[u8; HEADER], message: &'a [u8]) -> Option<Query<'a>> {
        let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        if count(4) != 1 {
            return None;
        }
        let name = name::first(&message[HEADER..])?;
        let question = message.get(HEADER..HEADER + name.len() + 4)?;
        let (rtype, class) = (number(question, name.len())?, number(question, name.len() + 2)?);
        let mut rest = &message[HEADER + question.len()..];
        let mut extended = None;
        for _ in 0..u32::from(count(6)) + u32::from(count(8)) + u32::from(count(10)) {
            let (owner, record) = after_name(rest)?;
            let length = usize::from(number(record, 8)?);
            if number(record, 0)? == OPT {
                if extended.is_some() || owner != [0] {
                    return None;
                }
                let size = usize::from(number(record, 2)?);
                extended = Some(Extended { size, version: record[5], dnssec: record[6] & DNSSEC_OK });
            }
            rest = record.get(10 + length..)?;
        }
        Some(Query { question, name, rtype, class, extended })
    }

    /// What is said of EDNS0, if the query says something.
    fn extension(&self, code: u8) -> Vec<u8> {
        let Some(Extended { dnssec, .. }) = &self.extended else { return Vec::new() };
        let [high, low] = (OUR_SIZE as u16).to_be_bytes();
        vec![0, 0, OPT as u8, high, low, code, 0, *dnssec, 0, 0, 0]
    }
}

/// A name that perhaps ends with a pointer, and what follows.
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
