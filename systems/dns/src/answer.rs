//! The answer to a question, apart from what depends on the message: RFC 1034, section 4.3.2, and RFC 6672 for DNAME.

use std::borrow::Cow;
use std::collections::HashSet;

use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message_builder::{MessageBuilder, StaticCompressor};
use domain::base::{Name, Record, Ttl};

use crate::data::Data;
use crate::name::{self, Small};
use crate::zone::{Exit, Node, Set, Zone};

/// The longest message over TCP.
pub const LONGEST: usize = 65535;

const HEADER: usize = 12;
/// The bytes of type and class.
const QUESTION: usize = 4;

/// Flags in the first byte of a header.
const RESPONSE: u8 = 0x80;
const AUTHORITATIVE: u8 = 0x04;

/// An answer, as it follows the question in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// The header's flags.
    pub flags: [u8; 2],
    /// Counts of answers, authorities and additional records.
    pub counts: [u16; 3],
    /// The records.
    pub bytes: Vec<u8>,
    /// For an answer to all names below one: where in the bytes are compression pointers. They fit the shortest such
    /// names.
    pub shifts: Vec<u16>,
}

/// A record of an answer.
struct Told<'z> {
    owner: Small,
    rtype: u16,
    ttl: u32,
    data: Cow<'z, [u8]>,
}

#[derive(Default)]
struct Found<'z> {
    code: u8,
    is_others: bool,
    sections: [Vec<Told<'z>>; 3],
    /// About how many bytes.
    bytes: usize,
}

/// How the search goes on at a name.
enum Step {
    Done,
    /// The name or the record doesn't exist.
    Nothing,
    /// The name is an alias of another.
    Follow(Small),
}

impl<'z> Found<'z> {
    fn tell(&mut self, section: usize, owner: &[u8], set: &'z Set) {
        for record in set.records() {
            self.tell_one(
                section,
                Told { owner: owner.into(), rtype: set.rtype, ttl: set.ttl, data: record.into() },
            );
        }
    }

    fn tell_one(&mut self, section: usize, told: Told<'z>) {
        self.bytes += QUESTION + told.data.len();
        self.sections[section].push(told);
    }
}

impl Zone {
    /// The answer to a question about a name of the zone.
    pub fn answer(&self, name: &[u8], rtype: Rtype) -> Option<Ready> {
        if let Some(encloser) = self.encloser_without(name) {
            return Some(self.below(encloser)?.for_name(name.len() - encloser.len()));
        }
        self.composed(name, rtype, self.found(name, rtype))
    }

    /// The answer for all missing names below a name; `None` if some of them have another answer.
    pub fn below(&self, encloser: &[u8]) -> Option<Ready> {
        let is_moved = self.node(encloser).is_some_and(|node| node.get(Rtype::DNAME).is_some());
        if is_moved || self.exit(encloser).is_some() || self.node(&name::below(b"*", encloser)?).is_some() {
            return None;
        }
        // A label that no name in the answer ends with.
        let others =
            self.head().map(|(_, data)| Data::new(Rtype::SOA, data).small_names()).unwrap_or_default();
        let is_free = |label: &u8| {
            let below = name::below(&[*label], encloser);
            below.is_some_and(|it| {
                self.node(&it).is_none() && !others.iter().any(|other| other.ends_with(&it))
            })
        };
        let label = (b'a'..=b'z').chain(b'0'..=b'9').find(is_free)?;
        let name = name::below(&[label], encloser)?;
        let mut ready = self.composed(&name, Rtype::A, self.found(&name, Rtype::A))?;
        ready.shifts = pointers(&ready.bytes)?;
        Some(ready)
    }

    /// The closest existing ancestor of a missing name, if nothing else decides the answer.
    fn encloser_without<'a>(&self, name: &'a [u8]) -> Option<&'a [u8]> {
        if self.node(name).is_some() || self.exit(name).is_some() {
            return None;
        }
        let encloser = name::ancestors(name).find(|name| self.node(name).is_some())?;
        self.node(&name::below(b"*", encloser)?).is_none().then_some(encloser)
    }

    fn found(&self, asked: &[u8], rtype: Rtype) -> Found<'_> {
        let mut found = Found::default();
        let (mut name, mut seen) = (Small::from(asked), HashSet::new());
        // In a circle each name comes once. An answer longer than any message is truncated anyway.
        while seen.insert(name.clone()) && found.bytes <= LONGEST {
            match self.step(&name, rtype, &mut found) {
                Step::Done => break,
                Step::Nothing => {
                    self.tell_nothing(&mut found);
                    break;
                }
                Step::Follow(target) if self.has(&target) => name = target,
                Step::Follow(_) => break,
            }
        }
        found
    }

    /// Finds what the zone says of one name.
    fn step<'z>(&'z self, name: &[u8], rtype: Rtype, found: &mut Found<'z>) -> Step {
        let followed = |target: &[u8]| match rtype {
            Rtype::CNAME => Step::Done,
            _ => Step::Follow(target.to_ascii_lowercase().into()),
        };
        match self.exit(name) {
            Some(Exit::Cut(cut, servers)) if cut[..] != *name || rtype != Rtype::DS => {
                self.refer(&cut, servers, found);
                Step::Done
            }
            Some(Exit::Moved(above, set)) => {
                found.tell(0, &above, set);
                let labels = &name[..name.len() - above.len()];
                let Some(target) = set.records().next().and_then(|target| name::joined(labels, target))
                else {
                    found.code = Rcode::YXDOMAIN.to_int();
                    return Step::Done;
                };
                let (rtype, data) = (Rtype::CNAME.to_int(), target.to_vec().into());
                found.tell_one(0, Told { owner: name.into(), rtype, ttl: set.ttl, data });
                followed(&target)
            }
            _ => {
                let Some(node) = self.node_or_wildcard(name) else {
                    found.code = Rcode::NXDOMAIN.to_int();
                    return Step::Nothing;
                };
                let own = if rtype == Rtype::ANY { node.sets().first() } else { node.get(rtype) };
                let Some(set) = own.or_else(|| node.get(Rtype::CNAME)) else { return Step::Nothing };
                found.tell(0, name, set);
                match (own, set.records().next()) {
                    (None, Some(target)) => followed(target),
                    _ => Step::Done,
                }
            }
        }
    }

    fn refer<'z>(&'z self, cut: &[u8], servers: &'z Set, found: &mut Found<'z>) {
        found.is_others = found.sections[0].is_empty();
        found.tell(1, cut, servers);
        // The zone's own addresses of the servers.
        for server in servers.records().map(|name| Small::from(name.to_ascii_lowercase())) {
            let Some(node) = self.node(&server) else { continue };
            [Rtype::A, Rtype::AAAA]
                .into_iter()
                .filter_map(|it| node.get(it))
                .for_each(|set| found.tell(2, &server, set));
        }
    }

    /// A name's records, or else those of the wildcard that it matches.
    fn node_or_wildcard(&self, name: &[u8]) -> Option<&Node> {
        self.node(name).or_else(|| {
            let encloser = name::ancestors(name).find(|name| self.node(name).is_some())?;
            self.node(&name::below(b"*", encloser)?)
        })
    }

    /// Adds the SOA record, which says how long the negative answer may be cached.
    fn tell_nothing<'z>(&'z self, found: &mut Found<'z>) {
        let Some((ttl, data)) = self.head() else { return };
        let minimum = data.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let (rtype, ttl) = (Rtype::SOA.to_int(), ttl.min(minimum));
        found.tell_one(1, Told { owner: self.apex().into(), rtype, ttl, data: data.into() });
    }

    fn composed(&self, name: &[u8], rtype: Rtype, found: Found<'_>) -> Option<Ready> {
        let builder = MessageBuilder::from_target(StaticCompressor::new(Vec::new())).ok()?;
        let mut question = builder.question();
        question.push((Name::from_slice(name).ok()?, rtype, Class::IN)).ok()?;
        let mut answer = question.answer();
        let counts = found.sections.each_ref().map(|section| section.len() as u16);
        let [answers, authorities, additional] = found.sections;
        answers.iter().try_for_each(|told| answer.push(told.record()?).ok())?;
        let mut authority = answer.authority();
        authorities.iter().try_for_each(|told| authority.push(told.record()?).ok())?;
        let mut more = authority.additional();
        additional.iter().try_for_each(|told| more.push(told.record()?).ok())?;
        let bytes = more.finish().into_target().split_off(HEADER + name.len() + QUESTION);
        let authoritative = if found.is_others { 0 } else { AUTHORITATIVE };
        Some(Ready { flags: [RESPONSE | authoritative, found.code], counts, bytes, shifts: Vec::new() })
    }
}

impl Told<'_> {
    fn record(&self) -> Option<Record<&Name<[u8]>, Data<'_>>> {
        let data = Data::new(Rtype::from_int(self.rtype), &self.data);
        Some(Record::new(Name::from_slice(&self.owner).ok()?, Class::IN, Ttl::from_secs(self.ttl), data))
    }
}

impl Ready {
    /// Shifts the pointers for a name with so many bytes before the ancestor.
    fn for_name(mut self, before: usize) -> Ready {
        for at in std::mem::take(&mut self.shifts) {
            let place = &mut self.bytes[usize::from(at)..][..2];
            let pointer = u16::from_be_bytes([place[0], place[1]]) + (before - 2) as u16;
            place.copy_from_slice(&pointer.to_be_bytes());
        }
        self
    }
}

/// The pointers of an SOA record: in its owner's name, and in two names of its data.
fn pointers(record: &[u8]) -> Option<Vec<u16>> {
    let (mut pointers, mut at) = (Vec::new(), 0);
    for between in [10, 0, 0] {
        loop {
            match usize::from(*record.get(at)?) {
                0 => {
                    at += 1;
                    break;
                }
                length @ 1..64 => at += 1 + length,
                _ => {
                    pointers.push(at as u16);
                    at += 2;
                    break;
                }
            }
        }
        at += between;
    }
    Some(pointers)
}
