//! The handler's ready answers, in memory that it shares with this process; `dns.c` declares the layout. Questions
//! whose answer has no slot are passed on to this process.

use std::sync::atomic::Ordering;

use domain::base::iana::Rtype;
use drystone_handlers::Region;

use crate::answer::Ready;
use crate::zone::{Node, Zone};

const WAYS: usize = 4;
const LONGEST: usize = 512;
const SHIFTS: usize = 4;
const WORD: usize = 8;

// Of everything.
const OPEN: usize = 0;
const ANSWERED: usize = 8;
const SETS: usize = 16;
// Of a set.
const ELSEWHERE: usize = 0;
const WAY: usize = 8;
const SET: usize = WAY + WAYS * WORD;

/// The largest region of a handler.
const LARGEST: usize = 1 << 30;

/// Pseudo-types: the other types of a name, and missing names below it.
const OTHER: u16 = 0;
const BELOW: u16 = 65535;

/// The types that are often asked of an alias.
const USUAL: [Rtype; 5] = [Rtype::A, Rtype::AAAA, Rtype::MX, Rtype::TXT, Rtype::HTTPS];

/// How many questions the handler has answered.
pub fn answered(region: &Region) -> u64 {
    region.number(ANSWERED).load(Ordering::Relaxed)
}

/// Closes the table: the handler starts no more answers. A run may be under way; [`Table::give`] requires that none is.
pub fn close(region: &Region) {
    region.number(OPEN).store(0, Ordering::SeqCst);
}

/// All ready answers of a zone, laid out as in the handler's region.
pub struct Table {
    bytes: Vec<u8>,
    sets: usize,
    most: usize,
    count: usize,
}

impl Table {
    /// A table for a new handler.
    pub fn new(zone: &Zone) -> Table {
        let answers: usize = zone.names().map(|(_, node)| node.sets().len() + 2).sum();
        // With enough sets that hardly any answer finds no slot.
        Table::within(zone, answers.next_power_of_two().max(1 << 10), LARGEST)
    }

    /// A table for an existing handler, with so many sets and at most so many bytes.
    pub fn within(zone: &Zone, sets: usize, most: usize) -> Table {
        let mut table = Table { bytes: vec![0; SETS + sets * SET], sets, most, count: 0 };
        for (name, node) in zone.names() {
            match zone.exit(name) {
                None => table.fill(zone, name, node),
                // Delegated names exist, but this zone isn't authoritative for them.
                Some(_) => table.put(name, OTHER, &Ready::default()),
            }
        }
        table
    }

    /// The table's sets and bytes: a region of this size has room for a zone that grows.
    pub fn extent(&self) -> (usize, usize) {
        let bytes = (self.bytes.len() + self.bytes.len() / 4).next_power_of_two();
        (self.sets, bytes.min(LARGEST).max(self.bytes.len()))
    }

    /// How many answers the table has.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Copies the answers into the region and opens it. It must be closed, and no run of the handler may be left.
    pub fn give(&self, region: &Region) {
        region.write(SETS, &self.bytes[SETS..]);
        region.number(OPEN).store(1, Ordering::Release);
    }

    fn fill(&mut self, zone: &Zone, name: &[u8], node: &Node) {
        let is_other = node.get(Rtype::CNAME).is_some();
        let own = node.sets().iter().map(|set| Rtype::from_int(set.rtype));
        let usual = USUAL.into_iter().filter(|rtype| is_other && node.get(*rtype).is_none());
        for rtype in own.chain(usual) {
            self.put(name, rtype.to_int(), &zone.answer(name, rtype).unwrap_or_default());
        }
        // The answer for types that the name doesn't have.
        let other = match is_other {
            true => Ready::default(),
            false => (60_000..BELOW)
                .map(Rtype::from_int)
                .find(|rtype| node.get(*rtype).is_none())
                .and_then(|rtype| zone.answer(name, rtype))
                .unwrap_or_default(),
        };
        self.put(name, OTHER, &other);
        if let Some(below) = zone.below(name) {
            self.put(name, BELOW, &below);
        }
    }

    /// Adds an answer; one without bytes leaves the question to the process.
    fn put(&mut self, name: &[u8], rtype: u16, ready: &Ready) {
        let hash = hash(name, rtype);
        let set = SETS + (hash >> 32) as usize % self.sets * SET;
        let at = self.bytes.len();
        let free =
            (0..WAYS).map(|way| set + WAY + way * WORD).find(|way| self.bytes[*way + 4..*way + 8] == [0; 4]);
        let fits = ready.bytes.len() <= LONGEST && ready.shifts.len() <= SHIFTS;
        let bytes = if fits { &ready.bytes[..] } else { &[] };
        let mut shifts = [u16::MAX; SHIFTS];
        shifts.iter_mut().zip(&ready.shifts).for_each(|(to, from)| *to = *from);
        let head = [name.len() as u16, rtype, bytes.len() as u16, u16::from_ne_bytes(ready.flags)];
        let numbers = head.into_iter().chain(ready.counts.map(u16::to_be)).chain(shifts).chain([0]);
        let length = WORD + 2 * numbers.clone().count() + bytes.len() + name.len();
        let Some(way) = free.filter(|_| at + length.next_multiple_of(WORD) <= self.most) else {
            self.bytes[set + ELSEWHERE] = 1;
            return;
        };
        self.bytes[way..way + 4].copy_from_slice(&(hash as u32).to_ne_bytes());
        self.bytes[way + 4..way + 8].copy_from_slice(&((at / WORD) as u32).to_ne_bytes());
        self.bytes.extend(hash.to_ne_bytes());
        self.bytes.extend(numbers.flat_map(u16::to_ne_bytes));
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(name);
        self.bytes.resize(self.bytes.len().next_multiple_of(WORD), 0);
        self.count += usize::from(!bytes.is_empty());
    }
}

/// The handler's hash function: FNV-1a, and never 0.
fn hash(name: &[u8], rtype: u16) -> u64 {
    let bytes = name.iter().copied().chain(rtype.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash.max(1)
}
