//! The answers that the handler has, in memory that it shares with this process: `dns.c` declares how they are laid out there. What has no
//! place is this process's.

use std::sync::atomic::Ordering;

use domain::base::iana::Rtype;
use drystone_handlers::Region;

use crate::answer::Ready;
use crate::zone::{Node, Zone};

const WAYS: usize = 4;
const LONGEST: usize = 512;
const SHIFTS: usize = 4;
const MOST_SETS: usize = 1 << 18;

// Of everything.
const OPEN: usize = 0;
const ANSWERED: usize = 8;
const SETS: usize = 16;
// Of a set.
const ELSEWHERE: usize = 0;
const SLOTS: usize = 8;
const SET: usize = SLOTS + WAYS * SLOT;
// Of a slot.
const HASH: usize = 0;
const HEAD: usize = 8;
const BYTES: usize = 32;
const NAME: usize = BYTES + LONGEST;
const SLOT: usize = NAME + 256;

/// In place of a type: a name's other types, and the names below it that there aren't.
const OTHER: u16 = 0;
const BELOW: u16 = 65535;

/// What is asked often of a name that stands for another.
const USUAL: [Rtype; 5] = [Rtype::A, Rtype::AAAA, Rtype::MX, Rtype::TXT, Rtype::HTTPS];

/// How many sets the answers about a zone should have.
pub fn sets_for(zone: &Zone) -> usize {
    let answers: usize = zone.names().map(|(_, node)| node.sets().len() + 2).sum();
    (answers / 2).next_power_of_two().min(MOST_SETS)
}

/// What so many sets take.
pub fn bytes_of(sets: usize) -> usize {
    SETS + sets * SET
}

/// How many answers the handler has given.
pub fn answered(region: &Region) -> u64 {
    region.number(ANSWERED).load(Ordering::Relaxed)
}

/// Gives the handler all answers that it can have; from then on it answers. How many these are.
pub fn fill(region: &Region, sets: usize, zone: &Zone) -> usize {
    let mut table = Table { region, sets, count: 0 };
    for (name, node) in zone.names().filter(|(name, _)| zone.exit(name).is_none()) {
        table.fill(zone, name, node);
    }
    // Names that others have been given are there, but aren't ours to speak of.
    for (name, _) in zone.names().filter(|(name, _)| zone.exit(name).is_some()) {
        table.put(name, OTHER, &Ready::default());
    }
    region.number(OPEN).store(1, Ordering::Release);
    table.count
}

struct Table<'a> {
    region: &'a Region,
    sets: usize,
    count: usize,
}

impl Table<'_> {
    fn fill(&mut self, zone: &Zone, name: &[u8], node: &Node) {
        let is_other = node.get(Rtype::CNAME).is_some();
        let own = node.sets().iter().map(|set| Rtype::from_int(set.rtype));
        let usual = USUAL.into_iter().filter(|rtype| is_other && node.get(*rtype).is_none());
        for rtype in own.chain(usual) {
            self.put(name, rtype.to_int(), &zone.answer(name, rtype).unwrap_or_default());
        }
        // Types that nobody has.
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

    /// An answer without bytes says that the process has it.
    fn put(&mut self, name: &[u8], rtype: u16, ready: &Ready) {
        let hash = hash(name, rtype);
        let set = SETS + (hash >> 32) as usize % self.sets * SET;
        let slots = (0..WAYS).map(|way| set + SLOTS + way * SLOT);
        let free = slots.into_iter().find(|slot| self.load(slot + HASH) == 0);
        let fits = ready.bytes.len() <= LONGEST && ready.shifts.len() <= SHIFTS;
        let Some(slot) = free else {
            return self.region.number(set + ELSEWHERE).store(1, Ordering::Relaxed);
        };
        let length = if fits { ready.bytes.len() } else { 0 };
        let mut shifts = [u16::MAX; SHIFTS];
        shifts.iter_mut().zip(&ready.shifts).for_each(|(to, from)| *to = *from);
        let head = [name.len() as u16, rtype, length as u16, u16::from_ne_bytes(ready.flags)];
        let counts = ready.counts.map(u16::to_be);
        let head = head.into_iter().chain(counts).chain(shifts).flat_map(u16::to_ne_bytes);
        self.region.write(slot + HEAD, &head.collect::<Vec<u8>>());
        self.region.write(slot + BYTES, &ready.bytes[..length]);
        self.region.write(slot + NAME, name);
        self.region.number(slot + HASH).store(hash, Ordering::Relaxed);
        self.count += usize::from(length > 0);
    }

    fn load(&self, at: usize) -> u64 {
        self.region.number(at).load(Ordering::Relaxed)
    }
}

/// As the handler has it: FNV-1a, and never 0.
fn hash(name: &[u8], rtype: u16) -> u64 {
    let bytes = name.iter().copied().chain(rtype.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash.max(1)
}
