//! What is answered to a question, without what only a message knows: RFC 1034, section 4.3.2.

use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message_builder::{MessageBuilder, TreeCompressor};
use domain::base::{Name, Record, Ttl};
use domain::rdata::ZoneRecordData;

use crate::name::{self, Small, small};
use crate::zone::{FullName, FullRecord, Node, Zone};

/// Names that stand for others are followed so far.
const FOLLOWED: usize = 8;
const HEADER: usize = 12;
/// Type and class.
const QUESTION: usize = 4;

/// Flags of a header, in its first byte.
const RESPONSE: u8 = 0x80;
const AUTHORITATIVE: u8 = 0x04;

/// An answer as it stands behind the question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// Of the header.
    pub flags: [u8; 2],
    /// Of answers, authorities and additional records.
    pub counts: [u16; 3],
    /// They themselves.
    pub bytes: Vec<u8>,
    /// Where in the bytes are pointers, if it is for all names below one: their places are for the shortest such names.
    pub shifts: Vec<u16>,
}

#[derive(Default)]
struct Found {
    code: u8,
    is_others: bool,
    sections: [Vec<FullRecord>; 3],
}

impl Zone {
    /// What is answered to a question about a name of the zone.
    pub fn answer(&self, name: &[u8], rtype: Rtype) -> Option<Ready> {
        if let Some(encloser) = self.encloser_without(name) {
            return Some(self.below(encloser)?.for_name(name.len() - encloser.len()));
        }
        self.composed(name, rtype, self.found(name, rtype))
    }

    /// What is answered about all names below one that there aren't; none if there is something else to be said of some.
    pub fn below(&self, encloser: &[u8]) -> Option<Ready> {
        if self.cut(encloser).is_some() || self.node(&name::below(b"*", encloser)?).is_some() {
            return None;
        }
        // One that no name in the answer ends with.
        let others: Vec<Small> = self.head().map(named).unwrap_or_default();
        let is_free = |label: &u8| {
            let below = name::below(&[*label], encloser);
            below.is_some_and(|it| {
                self.node(&it).is_none() && !others.iter().any(|other| other.ends_with(&it))
            })
        };
        let label = (b'a'..=b'z').find(is_free)?;
        let name = name::below(&[label], encloser)?;
        let mut ready = self.composed(&name, Rtype::A, self.found(&name, Rtype::A))?;
        ready.shifts = pointers(&ready.bytes)?;
        Some(ready)
    }

    /// The closest name above one that there isn't, if that is all that is to be said.
    fn encloser_without<'a>(&self, name: &'a [u8]) -> Option<&'a [u8]> {
        if self.node(name).is_some() || self.cut(name).is_some() {
            return None;
        }
        let encloser = name::ancestors(name).find(|name| self.node(name).is_some())?;
        self.node(&name::below(b"*", encloser)?).is_none().then_some(encloser)
    }

    fn found(&self, asked: &[u8], rtype: Rtype) -> Found {
        let mut found = Found::default();
        let mut name = asked.to_vec();
        for _ in 0..FOLLOWED {
            if let Some((cut, servers)) = self.cut(&name)
                && !(cut == name && rtype == Rtype::DS)
            {
                found.is_others = found.sections[0].is_empty();
                found.sections[2] = self.addresses(servers);
                found.sections[1] = servers.to_vec();
                return found;
            }
            let Some((node, owner)) = self.node_or_wildcard(&name) else {
                found.code = Rcode::NXDOMAIN.to_int();
                break;
            };
            let owned = |record: &FullRecord| match &owner {
                Some(owner) => {
                    Record::new(owner.clone(), record.class(), record.ttl(), record.data().clone())
                }
                None => record.clone(),
            };
            if let Some(other) = node.get(&Rtype::CNAME.to_int()).and_then(|records| records.first())
                && rtype != Rtype::CNAME
            {
                found.sections[0].push(owned(other));
                let Some(target) = named(other).pop().filter(|target| self.has(target)) else { return found };
                name = target;
                continue;
            }
            let records = match rtype {
                Rtype::ANY => node.values().next(),
                _ => node.get(&rtype.to_int()),
            };
            let Some(records) = records else { break };
            found.sections[0].extend(records.iter().map(owned));
            return found;
        }
        found.sections[1].extend(self.nothing());
        found
    }

    /// The records of a name; if those of a wildcard, with the owner that they have then.
    fn node_or_wildcard(&self, name: &[u8]) -> Option<(&Node, Option<FullName>)> {
        if let Some(node) = self.node(name) {
            return Some((node, None));
        }
        let encloser = name::ancestors(name).find(|name| self.node(name).is_some())?;
        let owner = Name::from_octets(name.to_vec().into()).ok()?;
        Some((self.node(&name::below(b"*", encloser)?)?, Some(owner)))
    }

    /// The zone's own addresses of name servers.
    fn addresses(&self, servers: &[FullRecord]) -> Vec<FullRecord> {
        let types = [Rtype::A.to_int(), Rtype::AAAA.to_int()];
        let nodes = servers.iter().flat_map(named).filter_map(|name| self.node(&name));
        nodes.flat_map(|node| types.iter().filter_map(|it| node.get(it))).flatten().cloned().collect()
    }

    /// Who says that there is nothing, and how long that is true.
    fn nothing(&self) -> Option<FullRecord> {
        let head = self.head()?;
        let ZoneRecordData::Soa(data) = head.data() else { return None };
        let ttl = Ttl::from_secs(head.ttl().as_secs().min(data.minimum().as_secs()));
        Some(Record::new(head.owner().clone(), head.class(), ttl, head.data().clone()))
    }

    fn composed(&self, name: &[u8], rtype: Rtype, found: Found) -> Option<Ready> {
        let builder = MessageBuilder::from_target(TreeCompressor::new(Vec::new())).ok()?;
        let mut question = builder.question();
        question.push((Name::from_octets(name).ok()?, rtype, Class::IN)).ok()?;
        let mut answer = question.answer();
        let counts = found.sections.each_ref().map(|section| section.len() as u16);
        let [answers, authorities, additional] = found.sections;
        answers.iter().try_for_each(|record| answer.push(record)).ok()?;
        let mut authority = answer.authority();
        authorities.iter().try_for_each(|record| authority.push(record)).ok()?;
        let mut more = authority.additional();
        additional.iter().try_for_each(|record| more.push(record)).ok()?;
        let bytes = more.finish().into_target().split_off(HEADER + name.len() + QUESTION);
        let authoritative = if found.is_others { 0 } else { AUTHORITATIVE };
        Some(Ready { flags: [RESPONSE | authoritative, found.code], counts, bytes, shifts: Vec::new() })
    }
}

impl Ready {
    /// For a name that has so many bytes before the one that it is below.
    fn for_name(mut self, before: usize) -> Ready {
        for at in std::mem::take(&mut self.shifts) {
            let place = &mut self.bytes[usize::from(at)..][..2];
            let pointer = u16::from_be_bytes([place[0], place[1]]) + (before - 2) as u16;
            place.copy_from_slice(&pointer.to_be_bytes());
        }
        self
    }
}

/// Names in a record's data.
fn named(record: &FullRecord) -> Vec<Small> {
    match record.data() {
        ZoneRecordData::Ns(data) => vec![small(data.nsdname())],
        ZoneRecordData::Cname(data) => vec![small(data.cname())],
        ZoneRecordData::Soa(data) => vec![small(data.mname()), small(data.rname())],
        _ => Vec::new(),
    }
}

/// Where an SOA record has pointers: in its owner's name, and in two more.
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
