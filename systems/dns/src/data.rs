//! A record's data as the library writes it into messages. Names in it are compressed only in the types of RFC 1035,
//! whose names all readers of messages know (RFC 3597, section 4).

use domain::base::Name;
use domain::base::iana::Rtype;
use domain::base::rdata::{ComposeRecordData, RecordData};
use domain::base::wire::Composer;

use crate::name::{self, Small};

/// See the head of this file.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    rtype: Rtype,
    bytes: &'a [u8],
    /// The place of the first name, and how many there are.
    begin: usize,
    count: usize,
}

struct Parts<'a> {
    before: &'a [u8],
    names: Vec<&'a [u8]>,
    rest: &'a [u8],
}

impl<'a> Data<'a> {
    /// The data of a record of that type.
    pub fn new(rtype: Rtype, bytes: &'a [u8]) -> Data<'a> {
        let (begin, count) = match rtype {
            Rtype::NS
            | Rtype::MD
            | Rtype::MF
            | Rtype::CNAME
            | Rtype::MB
            | Rtype::MG
            | Rtype::MR
            | Rtype::PTR => (0, 1),
            Rtype::SOA | Rtype::MINFO => (0, 2),
            Rtype::MX => (2, 1),
            _ => (0, 0),
        };
        Data { rtype, bytes, begin, count }
    }

    /// The bytes before the names, the names, and the bytes after them.
    fn parts(&self) -> Option<Parts<'a>> {
        let (before, mut rest) = self.bytes.split_at_checked(self.begin)?;
        let mut names = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            let name = name::first(rest)?;
            names.push(name);
            rest = &rest[name.len()..];
        }
        Some(Parts { before, names, rest })
    }

    /// The names, in small letters.
    pub fn small_names(&self) -> Vec<Small> {
        let names = self.parts().map(|parts| parts.names).unwrap_or_default();
        names.into_iter().map(|name| name.to_ascii_lowercase().into()).collect()
    }
}

impl RecordData for Data<'_> {
    fn rtype(&self) -> Rtype {
        self.rtype
    }
}

impl ComposeRecordData for Data<'_> {
    fn rdlen(&self, compress: bool) -> Option<u16> {
        (!compress || self.count == 0).then_some(self.bytes.len() as u16)
    }

    fn compose_rdata<Target: Composer + ?Sized>(
        &self,
        target: &mut Target,
    ) -> Result<(), Target::AppendError> {
        let Some(Parts { before, names, rest }) = self.parts().filter(|_| self.count > 0) else {
            return target.append_slice(self.bytes);
        };
        target.append_slice(before)?;
        for name in names {
            match Name::from_slice(name) {
                Ok(whole) => target.append_compressed_name(whole)?,
                Err(_) => target.append_slice(name)?,
            }
        }
        target.append_slice(rest)
    }

    fn compose_canonical_rdata<Target: Composer + ?Sized>(
        &self,
        target: &mut Target,
    ) -> Result<(), Target::AppendError> {
        self.compose_rdata(target)
    }
}
