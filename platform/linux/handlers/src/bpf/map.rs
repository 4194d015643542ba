//! Maps, which programs in the kernel and processes share.
//!
//! `unsafe` here: the kernel is given valid addresses, as the module above says; keys and values are as long as the
//! map's.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use drystone_extension::bytecode::Definition;

use super::{Attributes, Command, bpf, descriptor, info, number, pinned, short_name};

#[repr(C)]
#[derive(Default)]
struct MapCreate {
    kind: u32,
    key: u32,
    value: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    node: u32,
    name: [u8; 16],
    others: [u32; 5],
    extra: u64,
}
impl Attributes for MapCreate {}

#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}
impl Attributes for Element {}

/// Does a command on an element of a map.
///
/// # Safety
/// `key` and `value` point to as many bytes as the map's keys and values have.
unsafe fn element(command: Command, map: &OwnedFd, key: *const u8, value: *const u8) -> Result<()> {
    let map = map.as_raw_fd() as u32;
    let mut attributes = Element { map, key: key as u64, value: value as u64, ..Default::default() };
    // SAFETY: key and value are as long as the kernel takes them to be.
    unsafe { bpf(command, &mut attributes).map(drop) }
}

/// A map, with the length of its keys and values.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    definition: Definition,
}

impl Map {
    /// Makes a map.
    pub fn new(name: &str, definition: Definition) -> Result<Map> {
        let Definition { kind, key, value, entries, flags, extra } = definition;
        let name = short_name(name);
        let mut attributes =
            MapCreate { kind, key, value, entries, flags, extra, name, ..Default::default() };
        // SAFETY: the attributes hold no addresses.
        let fd = unsafe { descriptor(Command::MapCreate, &mut attributes)? };
        Ok(Map { fd, definition })
    }

    /// Opens a map that is pinned in a BPF file system.
    pub fn pinned(path: &Path) -> Result<Map> {
        let fd = pinned(path)?;
        let info = info::<24>(&fd)?;
        let word = |at| u32::from_ne_bytes(number(&info, at));
        let (kind, key, value) = (word(0), word(8), word(12));
        let definition = Definition { kind, key, value, entries: word(16), flags: word(20), extra: 0 };
        Ok(Map { fd, definition })
    }

    /// Its definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Its descriptor.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// The value under a key.
    ///
    /// # Panics
    /// If the key isn't as long as the map's.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        assert_eq!(key.len(), self.definition.key as usize);
        self.has_one_value()?;
        let mut value = vec![0; self.definition.value as usize];
        // SAFETY: key and value are as long as the map's.
        let result = unsafe { element(Command::Lookup, &self.fd, key.as_ptr(), value.as_mut_ptr()) };
        match result {
            Ok(()) => Ok(Some(value)),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Puts a value under a key.
    ///
    /// # Panics
    /// If they aren't as long as the map's.
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<()> {
        assert_eq!((key.len(), value.len()), (self.definition.key as usize, self.definition.value as usize));
        self.has_one_value()?;
        // SAFETY: key and value are as long as the map's.
        unsafe { element(Command::Update, &self.fd, key.as_ptr(), value.as_ptr()) }
    }

    /// Refuses maps of the kinds that have a value for each processor: the kernel accesses so many values of those.
    fn has_one_value(&self) -> Result<()> {
        const FOR_EACH_PROCESSOR: [u32; 4] = [5, 6, 10, 21];
        if FOR_EACH_PROCESSOR.contains(&self.definition.kind) {
            return Err(Error::other("a process can't access a table with a value for each processor"));
        }
        Ok(())
    }

    /// Removes a key, if it is there.
    ///
    /// # Panics
    /// If it isn't as long as the map's.
    pub fn remove(&self, key: &[u8]) -> Result<()> {
        assert_eq!(key.len(), self.definition.key as usize);
        // SAFETY: the key is as long as the map's.
        let result = unsafe { element(Command::Delete, &self.fd, key.as_ptr(), std::ptr::null()) };
        match result {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            result => result,
        }
    }

    /// All keys. Nobody may remove keys meanwhile.
    pub fn keys(&self) -> Result<Vec<Vec<u8>>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut next = vec![0; self.definition.key as usize];
            let last = keys.last().map_or(std::ptr::null(), |key| key.as_ptr());
            // SAFETY: both are as long as the map's; null, for the first key, is allowed.
            match unsafe { element(Command::NextKey, &self.fd, last, next.as_mut_ptr()) } {
                Ok(()) => keys.push(next),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(keys),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Freezes a map: only programs in the kernel can change it from now on.
pub fn freeze(map: &OwnedFd) -> Result<()> {
    let mut attributes = Element { map: map.as_raw_fd() as u32, ..Default::default() };
    // SAFETY: the command reads no addresses.
    unsafe { bpf(Command::Freeze, &mut attributes).map(drop) }
}
