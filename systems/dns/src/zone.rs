//! A zone: the record sets of its names.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use domain::base::iana::Rtype;

use crate::master::{self, Record};
use crate::name::{self, Small, ancestors, shown};

/// Up to this size, a set is searched for duplicates at each new record.
const LOOKED_THROUGH: usize = 1 << 10;

/// The records of a name that have the same type. They are kept as bytes: a zone may have millions.
#[derive(Debug)]
pub struct Set {
    /// Their type.
    pub rtype: u16,
    /// Their TTL in seconds.
    pub ttl: u32,
    /// The data of each record, after its length.
    data: Vec<u8>,
}

impl Set {
    /// The data of each record.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.data[..];
        std::iter::from_fn(move || {
            let (length, more) = rest.split_first_chunk()?;
            let (record, more) = more.split_at_checked(u16::from_be_bytes(*length).into())?;
            rest = more;
            Some(record)
        })
    }

    fn push(&mut self, data: &[u8]) {
        self.data.extend((data.len() as u16).to_be_bytes());
        self.data.extend(data);
    }

    /// Removes duplicates, and spare capacity.
    fn finish(&mut self) {
        if self.records().nth(1).is_some() {
            let all = std::mem::take(&mut self.data);
            let all = Set { data: all, ..*self };
            let mut seen = HashSet::new();
            all.records().filter(|record| seen.insert(*record)).for_each(|record| self.push(record));
        }
        self.data.shrink_to_fit();
    }
}

/// The record sets of a name, ordered by type; none for a name that exists only because of names below it.
#[derive(Debug, Default)]
pub struct Node(Vec<Set>);

impl Node {
    /// The set of a type.
    pub fn get(&self, rtype: Rtype) -> Option<&Set> {
        let at = self.0.binary_search_by_key(&rtype.to_int(), |set| set.rtype).ok()?;
        Some(&self.0[at])
    }

    /// All sets.
    pub fn sets(&self) -> &[Set] {
        &self.0
    }

    fn add(&mut self, rtype: Rtype, ttl: u32, data: &[u8]) {
        let rtype = rtype.to_int();
        let at = match self.0.binary_search_by_key(&rtype, |set| set.rtype) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, Set { rtype, ttl, data: Vec::new() });
                at
            }
        };
        let set = &mut self.0[at];
        // Duplicates in a long set are removed at the end: searching at each record would take too long.
        if set.data.len() > LOOKED_THROUGH || !set.records().any(|record| record == data) {
            // Records of a set have one TTL: the smallest (RFC 2181, section 5.2).
            set.ttl = set.ttl.min(ttl);
            set.push(data);
        }
    }
}

/// Where a name leaves the zone.
#[derive(Debug)]
pub enum Exit<'z> {
    /// A delegation: the name and all names below it belong to another zone, with these servers.
    Cut(Small, &'z Set),
    /// A DNAME: names below this one stand for names below another.
    Moved(Small, &'z Set),
}

/// See the head of this file.
#[derive(Debug)]
pub struct Zone {
    apex: Small,
    nodes: HashMap<Small, Node>,
}

impl Zone {
    /// Reads a file. Names without a dot at the end are below `origin`, which the file may set instead. The paths of
    /// the files that were read are returned in any case.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn load(file: &Path, origin: Option<&str>) -> (Vec<PathBuf>, Result<Zone, String>) {
        let mut draft = Draft::default();
        let (files, read) = master::read(file, origin, &mut |record| draft.take(record));
        let finish = || draft.finish().map_err(|why| format!("{}: {why}", file.display()));
        (files, read.and_then(|()| finish()))
    }

    /// As [`Zone::load`], for a text.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(text: &[u8], origin: Option<&str>) -> Result<Zone, String> {
        let mut draft = Draft::default();
        master::read_text(text, origin, &mut |record| draft.take(record))?;
        draft.finish()
    }

    /// The zone's own name.
    pub fn apex(&self) -> &[u8] {
        &self.apex
    }

    /// Whether a name is the zone's, or below it.
    pub fn has(&self, name: &[u8]) -> bool {
        name.ends_with(&self.apex) && ancestors(name).any(|name| name == &self.apex[..])
    }

    /// A name's record sets, if there is such a name.
    pub fn node(&self, name: &[u8]) -> Option<&Node> {
        self.nodes.get(name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = (&Small, &Node)> {
        self.nodes.iter()
    }

    /// Where the path from the zone's apex down to a name leaves the zone.
    pub fn exit(&self, name: &[u8]) -> Option<Exit<'_>> {
        let inside: Vec<&[u8]> = ancestors(name).take_while(|above| above.len() > self.apex.len()).collect();
        let moved = |above: &[u8], node| {
            let set = Node::get(node, Rtype::DNAME).filter(|_| above != name)?;
            Some(Exit::Moved(above.into(), set))
        };
        let at_apex = self.node(&self.apex).and_then(|node| moved(&self.apex, node));
        at_apex.or_else(|| {
            inside.into_iter().rev().find_map(|above| {
                let node = self.node(above)?;
                let cut = node.get(Rtype::NS).map(|servers| Exit::Cut(above.into(), servers));
                cut.or_else(|| moved(above, node))
            })
        })
    }

    /// The SOA record: its TTL and its data.
    pub fn head(&self) -> Option<(u32, &[u8])> {
        let set = self.node(&self.apex)?.get(Rtype::SOA)?;
        Some((set.ttl, set.records().next()?))
    }
}

/// A zone under construction.
#[derive(Default)]
struct Draft {
    apex: Option<Small>,
    nodes: HashMap<Small, Node>,
    /// Records before the SOA record, which tells the zone's name.
    early: Vec<(Small, Rtype, u32, Vec<u8>)>,
}

impl Draft {
    fn take(&mut self, record: Record<'_>) -> Result<(), String> {
        let Record { owner, rtype, ttl, data } = record;
        let owner = owner.to_ascii_lowercase();
        match (&self.apex, rtype) {
            (None, Rtype::SOA) => self.apex = Some(owner.clone().into()),
            (None, _) => {
                self.early.push((owner.into(), rtype, ttl, data));
                return Ok(());
            }
            (Some(apex), Rtype::SOA) if owner[..] != apex[..] => {
                return Err(format!("{} has an SOA record, too: a zone has one", shown(&owner)));
            }
            _ => {}
        }
        self.add(&owner, rtype, ttl, &data)
    }

    fn add(&mut self, owner: &[u8], rtype: Rtype, ttl: u32, data: &[u8]) -> Result<(), String> {
        let apex = self.apex.as_deref().unwrap_or_default();
        if !ancestors(owner).any(|name| name == apex) {
            return Err(format!("{} isn't in the zone {}", shown(owner), shown(apex)));
        }
        let length = apex.len();
        let mut above = name::parent(owner).filter(|_| owner.len() > length);
        let node = match self.nodes.entry(owner.into()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert(Node::default());
                // Ancestors of a name exist, too.
                while let Some(name) =
                    above.filter(|name| name.len() >= length && !self.nodes.contains_key(*name))
                {
                    self.nodes.insert(name.into(), Node::default());
                    above = name::parent(name);
                }
                self.nodes.get_mut(owner).ok_or("a name is lost")?
            }
        };
        // DNSSEC records of a name may stand beside its CNAME record (RFC 4034).
        let is_beside =
            |rtype: Rtype| matches!(rtype, Rtype::RRSIG | Rtype::NSEC | Rtype::KEY | Rtype::SIG | Rtype::NXT);
        let has = |rtype| node.get(rtype).is_some();
        let others = node.sets().iter().any(|set| !is_beside(Rtype::from_int(set.rtype)));
        if (rtype == Rtype::CNAME && others && !has(Rtype::CNAME))
            || (has(Rtype::CNAME) && rtype != Rtype::CNAME && !is_beside(rtype))
        {
            return Err(format!(
                "{} has a CNAME record and others: it stands for another name only",
                shown(owner)
            ));
        }
        for single in [Rtype::SOA, Rtype::CNAME, Rtype::DNAME] {
            if rtype == single
                && node.get(single).is_some_and(|set| set.records().any(|record| record != data))
            {
                return Err(format!("{} has two {single} records: a name has one", shown(owner)));
            }
        }
        node.add(rtype, ttl, data);
        Ok(())
    }

    fn finish(mut self) -> Result<Zone, String> {
        if self.apex.is_none() {
            return Err("there is no SOA record, which every zone has".into());
        }
        for (owner, rtype, ttl, data) in std::mem::take(&mut self.early) {
            self.add(&owner, rtype, ttl, &data)?;
        }
        let Draft { apex, mut nodes, .. } = self;
        for node in nodes.values_mut() {
            node.0.iter_mut().for_each(Set::finish);
            node.0.shrink_to_fit();
        }
        nodes.shrink_to_fit();
        let zone = Zone { apex: apex.unwrap_or_default(), nodes };
        for (name, _) in zone.names() {
            if let Some(Exit::Moved(above, _)) = zone.exit(name) {
                let (name, above) = (shown(name), shown(&above));
                return Err(format!(
                    "{above} has a DNAME record, and {name} is below it: it would never be found"
                ));
            }
        }
        Ok(zone)
    }
}
