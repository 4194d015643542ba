//! What a host gives to programs, and what it asks of them.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::bytecode::Size;

/// The terms on which programs run: made once by a host, then used for every program.
///
/// No region may lie within 2^24 bytes of a program's address 0 (see [`crate::engine::Memory::address_of`]), so that
/// pointers don't wrap around unless they are far outside.
#[derive(Clone, Debug)]
pub struct Contract {
    /// What r1 to r5 are in the beginning.
    pub registers: [Given; 5],
    /// Memory that pointers may lead to, by [`Region`] number.
    pub regions: Vec<Memory>,
    /// The program's own memory ([`OWN`], [`Memory::own`]), if it has any. Accesses that can't be proven are confined
    /// to it.
    pub own: Option<Memory>,
    /// Tables, as constants of the program number them.
    pub maps: Vec<Map>,
    /// What can be called, by number.
    pub helpers: BTreeMap<u32, Helper>,
    /// Whether addresses of regions besides the program's own memory are kept from those who see what programs write,
    /// return, or decide. Else such a pointer is also a number, as one to own memory always is.
    pub secret_addresses: bool,
    /// How many instructions loops may add to the length of a function, and so may calls, until something is taken from
    /// the budget.
    pub patience: u64,
}

/// A number of [`Contract::regions`], or [`OWN`].
pub type Region = u16;

/// The program's own memory.
pub const OWN: Region = Region::MAX;

/// A stretch of memory.
#[derive(Clone, Debug)]
pub struct Memory {
    /// What it is called in rejections: "the packet", "the context".
    pub name: &'static str,
    /// Where it ends.
    pub extent: Extent,
    /// Whether programs may write to it.
    pub writable: bool,
    /// Whether there is only one, so that the distance between two pointers to it tells no address. A value of a table
    /// isn't.
    pub single: bool,
    /// What stands where. Empty: bytes without meaning, in which every access is allowed.
    pub fields: Vec<Field>,
}

/// Where memory ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// After so many bytes.
    Bytes(u32),
    /// Where [`Given::End`] says, at most so many bytes (fewer than 2^23) behind its beginning. One region can be of
    /// this kind.
    ToEnd(u32),
}

/// A part of memory that has a meaning.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Where it is, as programs see it.
    pub offset: u32,
    /// How it is read and written, as programs see it. Numbers can also be read in part.
    pub size: Size,
    /// What is read from it. Written is a number that is given as one.
    pub gives: Given,
    /// Whether programs may write to it.
    pub writable: bool,
    /// Where it is in truth, if not there; loads are rewritten. (The pointers in XDP's context look as if they had 32
    /// bits.)
    pub stands_at: Option<(i16, Size)>,
}

/// What a program is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Nothing: it must not be read.
    Nothing,
    /// A number between two, ends included.
    Number(u64, u64),
    /// The address at which a region begins.
    Pointer(Region),
    /// The same, or 0.
    PointerOrNull(Region),
    /// The address behind the last byte of a region.
    End(Region),
    /// A pointer to a value of the table that was given as r1, or 0.
    ValueOrNull,
}

/// A table: where its values are, and how many bytes its keys have.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    /// Bytes of a key.
    pub key: u32,
    /// What pointers to its values lead to.
    pub value: Region,
    /// Whether programs may name its first value by a constant.
    pub direct: bool,
}

/// What can be called.
#[derive(Clone, Debug)]
pub struct Helper {
    /// What it is called in rejections.
    pub name: &'static str,
    /// What it wants in r1 to r5; what it doesn't want may be anything.
    pub wants: Vec<Wanted>,
    /// What it leaves in r0.
    pub gives: Given,
    /// The region that it may move or shorten, so that pointers to it are worth nothing afterwards. One of the first
    /// 64.
    pub moves: Option<Region>,
}

/// What a helper wants in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Whatever; it isn't looked at.
    Anything,
    /// A number between two, ends included.
    Number(u64, u64),
    /// The address at which a region begins.
    Pointer(Region),
    /// A table, by a constant of the program.
    Map,
    /// Memory that it may read.
    Readable(Bytes),
    /// Memory that it writes, all of it.
    Writable(Bytes),
    /// Memory that it reads, and writes all of it.
    Changeable(Bytes),
}

/// How many bytes it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// So many.
    Exactly(u32),
    /// As many as the number in the next register.
    InNext,
    /// A key of the table in r1.
    Key,
    /// A value of the table in r1.
    Value,
}

impl Default for Contract {
    /// Nothing is given, and nothing can be called.
    fn default() -> Contract {
        Contract {
            registers: [Given::Nothing; 5],
            regions: Vec::new(),
            own: None,
            maps: Vec::new(),
            helpers: BTreeMap::new(),
            secret_addresses: true,
            patience: 1 << 16,
        }
    }
}

impl Contract {
    /// A program with one piece of memory, its own: r1 is where it begins, r2 how many bytes it has (a power of two).
    pub fn of_own_memory(bytes: u32) -> Contract {
        Contract {
            registers: [
                Given::Pointer(OWN),
                Given::Number(bytes.into(), bytes.into()),
                Given::Nothing,
                Given::Nothing,
                Given::Nothing,
            ],
            own: Some(Memory::own(bytes)),
            ..Contract::default()
        }
    }

    /// The memory that a region number means.
    pub(super) fn memory(&self, region: Region) -> &Memory {
        match (region, &self.own) {
            (OWN, Some(own)) => own,
            _ => &self.regions[usize::from(region)],
        }
    }
}

impl Memory {
    /// A program's own, of a power of two of bytes.
    pub fn own(bytes: u32) -> Memory {
        assert!(bytes.is_power_of_two(), "own memory of {bytes} bytes: its size must be a power of two");
        Memory::bytes("its own memory", bytes)
    }

    /// Memory of a fixed size that may be written, of which there is one.
    pub fn bytes(name: &'static str, bytes: u32) -> Memory {
        Memory { name, extent: Extent::Bytes(bytes), writable: true, single: true, fields: Vec::new() }
    }
}
