//! Contracts: what a host gives to programs, and what it demands of them.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::bytecode::Size;

/// The contract of a host with its programs.
///
/// No region may lie within 2^24 bytes of a program's address 0 (see [`crate::engine::Memory::address_of`]), so that
/// pointers near their region don't wrap around.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The initial values of r1 to r5.
    pub registers: [Given; 5],
    /// The regions of memory that pointers may lead to, by number.
    pub regions: Vec<Memory>,
    /// The program's own memory ([`OWN`], [`Memory::own`]), if it has any. Accesses that can't be proved are confined
    /// to it.
    pub own: Option<Memory>,
    /// Tables, numbered as in the program's constants.
    pub maps: Vec<Map>,
    /// Helpers, by number.
    pub helpers: BTreeMap<u32, Helper>,
    /// Whether addresses of regions other than own memory are secret, so that they must not be written, returned, or
    /// decide anything. If not, such a pointer is also a number, as a pointer to own memory always is.
    pub secret_addresses: bool,
    /// How many instructions all loops together may add to a function without taking from the budget, and how many all
    /// calls may.
    pub patience: u64,
}

/// The index of a region in [`Contract::regions`], or [`OWN`].
pub type Region = u16;

/// The program's own memory.
pub const OWN: Region = Region::MAX;

/// A region of memory.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Its name in rejections: "the packet", "the context".
    pub name: &'static str,
    /// Where it ends.
    pub extent: Extent,
    /// Whether programs may write to it.
    pub writable: bool,
    /// Whether there is only one such memory, so that the distance of two pointers to it leaks no address. Values of a
    /// table aren't single.
    pub single: bool,
    /// Its fields. None: plain bytes, in which every access is allowed.
    pub fields: Vec<Field>,
}

/// Where memory ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It has so many bytes.
    Bytes(u32),
    /// It ends where [`Given::End`] points, and has at most so many bytes (fewer than 2^23). Only one region can be of
    /// this kind.
    ToEnd(u32),
}

/// A field of memory.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its offset, as programs see it.
    pub offset: u32,
    /// Its size, as programs see it. Numbers can also be read in part.
    pub size: Size,
    /// The value that is read from it. Only numbers are written, to fields that give one.
    pub gives: Given,
    /// Whether programs may write to it.
    pub writable: bool,
    /// Its real offset and size, if these differ: loads are rewritten. (The pointers in XDP's context look as if they
    /// had 32 bits.)
    pub stands_at: Option<(i16, Size)>,
}

/// A value that a program is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Nothing: the register must not be read.
    Nothing,
    /// A number in a range, bounds included.
    Number(u64, u64),
    /// The address of a region's first byte.
    Pointer(Region),
    /// The address of a region's first byte, or 0.
    PointerOrNull(Region),
    /// The address behind a region's last byte.
    End(Region),
    /// A pointer to a value of the table in r1, or 0.
    ValueOrNull,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    /// Bytes of a key.
    pub key: u32,
    /// The region of its values.
    pub value: Region,
    /// Whether constants may refer to its first value.
    pub direct: bool,
}

/// A helper, as the verifier sees it.
#[derive(Clone, Debug)]
pub struct Helper {
    /// Its name in rejections.
    pub name: &'static str,
    /// Its arguments in r1 to r5; further registers may hold anything.
    pub wants: Vec<Wanted>,
    /// Its result in r0.
    pub gives: Given,
    /// The region that it may move or shorten, which invalidates pointers to it. One of the first 64.
    pub moves: Option<Region>,
}

/// What a helper demands of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Anything.
    Anything,
    /// A number between two, ends included.
    Number(u64, u64),
    /// The address at which a region begins.
    Pointer(Region),
    /// A table, by a constant of the program.
    Map,
    /// The address of memory that it reads.
    Readable(Bytes),
    /// The address of memory that it writes, all of it.
    Writable(Bytes),
    /// The address of memory that it reads, and writes all of it.
    Changeable(Bytes),
}

/// How many bytes of memory a helper accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// So many.
    Exactly(u32),
    /// As many as the next argument says.
    InNext,
    /// A key of the table in r1.
    Key,
    /// A value of the table in r1.
    Value,
}

impl Default for Contract {
    /// A contract that gives nothing.
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
    /// A contract with own memory only: r1 is its address, r2 its size in bytes, a power of two.
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

    /// The memory of a region.
    pub(super) fn memory(&self, region: Region) -> &Memory {
        match (region, &self.own) {
            (OWN, Some(own)) => own,
            _ => &self.regions[usize::from(region)],
        }
    }
}

impl Memory {
    /// Own memory; its size in bytes is a power of two.
    pub fn own(bytes: u32) -> Memory {
        assert!(bytes.is_power_of_two(), "own memory of {bytes} bytes: its size must be a power of two");
        Memory::bytes("its own memory", bytes)
    }

    /// Single, writable plain bytes of a fixed size.
    pub fn bytes(name: &'static str, bytes: u32) -> Memory {
        Memory { name, extent: Extent::Bytes(bytes), writable: true, single: true, fields: Vec::new() }
    }
}
