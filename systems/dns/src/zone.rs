//! What the file of a zone says.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::str::FromStr;

use bytes::Bytes;
use domain::base::iana::{Class, Rtype};
use domain::base::name::FlattenInto;
use domain::base::{Name, Record};
use domain::rdata::ZoneRecordData;
use domain::zonefile::inplace::{Entry, Zonefile};

use crate::name::{Small, ancestors, small};

/// A name as the file has it.
pub type FullName = Name<Bytes>;
/// A record's data.
pub type Data = ZoneRecordData<Bytes, FullName>;
/// A record.
pub type FullRecord = Record<FullName, Data>;

/// The records of a name, by type; none of a name that is only there because others are below it.
pub type Node = BTreeMap<u16, Vec<FullRecord>>;

/// See the head of this file.
pub struct Zone {
    apex: Small,
    nodes: HashMap<Small, Node>,
}

impl Zone {
    /// Reads a file; names in it that don't end with a dot are below `origin`, which also may stand in the file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn load(file: &Path, origin: Option<&str>) -> Result<Zone, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Zone::read(&text, origin).map_err(|why| format!("{}: {why}", file.display()))
    }

    /// The same of a text.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(text: &str, origin: Option<&str>) -> Result<Zone, String> {
        let mut file = Zonefile::from(text);
        file.set_default_class(Class::IN);
        if let Some(origin) = origin {
            let name = Name::from_str(origin).map_err(|error| format!("`{origin}` is no name: {error}"))?;
            file.set_origin(name);
        }
        let mut records: Vec<FullRecord> = Vec::new();
        while let Some(entry) = file.next_entry().map_err(|error| error.to_string())? {
            match entry {
                Entry::Record(record) => {
                    let whole =
                        record.try_flatten_into().map_err(|_| "a record has a name that is too long")?;
                    records.push(whole);
                }
                Entry::Include { path, .. } => {
                    return Err(format!("it includes {path}; put all records into one file"));
                }
            }
        }
        Zone::of(records)
    }

    fn of(records: Vec<FullRecord>) -> Result<Zone, String> {
        let mut heads = records.iter().filter(|record| record.rtype() == Rtype::SOA);
        let (Some(head), None) = (heads.next(), heads.next()) else {
            return Err("a zone has one SOA record".into());
        };
        let mut zone = Zone { apex: small(head.owner()), nodes: HashMap::new() };
        for record in records {
            zone.add(record)?;
        }
        Ok(zone)
    }

    fn add(&mut self, record: FullRecord) -> Result<(), String> {
        let owner = small(record.owner());
        let data = record.data().to_string();
        if record.rtype() != Rtype::TXT && data.split(' ').any(|word| word.starts_with("@.")) {
            // The library takes it for a name's first label.
            return Err(format!(
                "{}: `@` stands for the zone's name as an owner only; write that name",
                record.owner()
            ));
        }
        if record.rtype() == Rtype::DNAME {
            return Err(format!("{}: this server knows no DNAME", record.owner()));
        }
        if !self.has(&owner) {
            return Err(format!("{} isn't in the zone of the SOA record", record.owner()));
        }
        let up_to = owner.len() - self.apex.len();
        for name in ancestors(&owner).take_while(|name| owner.len() - name.len() <= up_to) {
            self.nodes.entry(name.to_vec()).or_default();
        }
        let records = self.nodes.entry(owner).or_default().entry(record.rtype().to_int()).or_default();
        if !records.contains(&record) {
            records.push(record);
        }
        Ok(())
    }

    /// The zone's own name.
    pub fn apex(&self) -> &[u8] {
        &self.apex
    }

    /// Whether a name is the zone's, or below it.
    pub fn has(&self, name: &[u8]) -> bool {
        ancestors(name).any(|name| name == self.apex)
    }

    /// A name's records, if there is such a name.
    pub fn node(&self, name: &[u8]) -> Option<&Node> {
        self.nodes.get(name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = (&Small, &Node)> {
        self.nodes.iter()
    }

    /// Where the way from the zone's own name to a name leaves the zone: there is a name that others have been given.
    pub fn cut<'a>(&'a self, name: &'a [u8]) -> Option<(&'a [u8], &'a [FullRecord])> {
        let inside: Vec<&[u8]> = ancestors(name).take_while(|name| *name != self.apex).collect();
        inside.into_iter().rev().find_map(|name| {
            let servers = self.node(name)?.get(&Rtype::NS.to_int())?;
            Some((name, servers.as_slice()))
        })
    }

    /// The SOA record.
    pub fn head(&self) -> Option<&FullRecord> {
        self.node(&self.apex)?.get(&Rtype::SOA.to_int())?.first()
    }
}
