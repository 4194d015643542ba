//! Reads definitions of maps from a BPF object's BTF. Section `.maps` has a structure for each map; numbers are encoded
//! in the types of its members (`__uint(type, 2)` is a pointer to an array of two). Nothing else of BTF is read.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

/// The definition of a map, in Linux's terms. What it doesn't say is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The kind: Linux's `BPF_MAP_TYPE_...`.
    pub kind: u32,
    /// Bytes of a key.
    pub key: u32,
    /// Bytes of a value.
    pub value: u32,
    /// The most entries; of rings the bytes, of regions the pages.
    pub entries: u32,
    /// Flags: Linux's `BPF_F_...`.
    pub flags: u32,
    /// A number that depends on the kind: of a region, its address in the application.
    pub extra: u64,
}

/// The maps that section `.BTF` describes, by name. All references are checked, so that damaged files are refused.
pub(super) fn definitions(bytes: &[u8]) -> Result<BTreeMap<String, Definition>, String> {
    let maps = Types::read(bytes).and_then(|types| types.maps());
    maps.unwrap_or_else(|| Err("its section .BTF is damaged".into()))
}

#[derive(Clone, Copy)]
struct Type<'a> {
    name: u32,
    kind: u8,
    /// A size, or another type.
    of: u32,
    /// The data that follows: members, bounds.
    rest: &'a [u8],
}

struct Types<'a> {
    all: Vec<Type<'a>>,
    strings: &'a [u8],
}

const POINTER: u8 = 2;
const ARRAY: u8 = 3;
const STRUCTURE: u8 = 4;
const ENUMERATION: u8 = 6;
const VARIABLE: u8 = 14;
const SECTION: u8 = 15;
const WIDE_ENUMERATION: u8 = 19;

/// Kinds that only name or qualify another type: typedef, volatile, const, restrict, and type tags.
const ALIASES: [u8; 5] = [8, 9, 10, 11, 18];
/// The longest chain of types that is followed.
const DEEPEST: usize = 32;

impl<'a> Types<'a> {
    fn read(bytes: &'a [u8]) -> Option<Types<'a>> {
        if number(bytes, 0)? & 0xffff != 0xeb9f {
            return None;
        }
        let body = bytes.get(number(bytes, 4)? as usize..)?;
        let part = |at| {
            let (begin, length) = (number(bytes, at)? as usize, number(bytes, at + 4)? as usize);
            body.get(begin..begin.checked_add(length)?)
        };
        let (mut left, strings) = (part(8)?, part(16)?);
        // Types are numbered from 1; 0 is `void`.
        let mut all = Vec::from([Type { name: 0, kind: 0, of: 0, rest: &[] }]);
        while !left.is_empty() {
            let info = number(left, 4)?;
            let (kind, count) = ((info >> 24 & 31) as u8, (info & 0xffff) as usize);
            let rest = match kind {
                1 | VARIABLE | 17 => 4,
                ARRAY => 12,
                STRUCTURE | 5 | SECTION | WIDE_ENUMERATION => 12 * count,
                ENUMERATION | 13 => 8 * count,
                POINTER | 7..=12 | 16 | 18 => 0,
                _ => return None,
            };
            let rest_of = left.get(12..12 + rest)?;
            all.push(Type { name: number(left, 0)?, kind, of: number(left, 8)?, rest: rest_of });
            left = &left[12 + rest..];
        }
        Some(Types { all, strings })
    }

    fn maps(&self) -> Option<Result<BTreeMap<String, Definition>, String>> {
        let mut maps = BTreeMap::new();
        for section in self.all.iter().filter(|it| it.kind == SECTION) {
            if self.name(section.name)? != ".maps" {
                continue;
            }
            for entry in section.rest.as_chunks::<12>().0 {
                let variable = self.get(number(entry, 0)?)?;
                let structure = self.plain(variable.of)?;
                if variable.kind != VARIABLE || structure.kind != STRUCTURE {
                    return None;
                }
                let name = self.name(variable.name)?;
                match self.definition(structure)? {
                    Ok(definition) => maps.insert(name.to_string(), definition),
                    Err(member) => {
                        return Some(Err(format!("map `{name}` has a member `{member}`, which isn't known")));
                    }
                };
            }
        }
        Some(Ok(maps))
    }

    /// Reads the definition of a map. The error is the name of an unknown member.
    fn definition(&self, structure: Type<'a>) -> Option<Result<Definition, &'a str>> {
        let mut definition = Definition::default();
        for member in structure.rest.as_chunks::<12>().0 {
            let name = self.name(number(member, 0)?)?;
            let of = number(member, 4)?;
            match name {
                "type" => definition.kind = self.count(of)?,
                "max_entries" => definition.entries = self.count(of)?,
                "map_flags" => definition.flags = self.count(of)?,
                "key_size" => definition.key = self.count(of)?,
                "value_size" => definition.value = self.count(of)?,
                "key" => definition.key = self.size(self.plain(of)?.of, DEEPEST)?,
                "value" => definition.value = self.size(self.plain(of)?.of, DEEPEST)?,
                "map_extra" => definition.extra = self.enumerator(of)?,
                // Pinning is up to the host.
                "pinning" => {}
                _ => return Some(Err(name)),
            }
        }
        Some(Ok(definition))
    }

    fn get(&self, number: u32) -> Option<Type<'a>> {
        self.all.get(number as usize).copied()
    }

    /// The type behind names and qualifiers.
    fn plain(&self, mut number: u32) -> Option<Type<'a>> {
        for _ in 0..DEEPEST {
            let found = self.get(number)?;
            if !ALIASES.contains(&found.kind) {
                return Some(found);
            }
            number = found.of;
        }
        None
    }

    /// The `count` of `int (*member)[count]`.
    fn count(&self, of: u32) -> Option<u32> {
        let pointer = self.plain(of)?;
        let array = self.plain(pointer.of)?;
        if pointer.kind == POINTER && array.kind == ARRAY { number(array.rest, 8) } else { None }
    }

    /// The only value of an enumeration of 32 bits.
    fn enumerator(&self, of: u32) -> Option<u64> {
        let found = self.plain(of)?;
        match found.kind {
            ENUMERATION => Some(number(found.rest, 4)?.into()),
            WIDE_ENUMERATION => {
                Some(u64::from(number(found.rest, 4)?) | u64::from(number(found.rest, 8)?) << 32)
            }
            _ => self.count(of).map(u64::from),
        }
    }

    fn size(&self, of: u32, depth: usize) -> Option<u32> {
        let found = self.plain(of)?;
        match found.kind {
            1 | STRUCTURE | 5 | ENUMERATION | WIDE_ENUMERATION | 16 => Some(found.of),
            POINTER => Some(8),
            ARRAY => {
                let element = self.size(number(found.rest, 0)?, depth.checked_sub(1)?)?;
                element.checked_mul(number(found.rest, 8)?)
            }
            _ => None,
        }
    }

    fn name(&self, at: u32) -> Option<&'a str> {
        let text = self.strings.get(at as usize..)?;
        let length = text.iter().position(|byte| *byte == 0)?;
        str::from_utf8(&text[..length]).ok()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
