//! Images: handlers as they are in object files.

use alloc::{format, string::String, vec, vec::Vec};
use core::cell::RefCell;

use super::pipes;
use super::tables::kind;
use crate::bytecode::{self, Definition, Object, Slot};
use crate::composite::shared;

/// The greatest size of a region, in bytes.
pub const LARGEST_REGION: u64 = 1 << 30;

const PAGE: u64 = 4096;

/// Where a handler will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// In an engine of Drystone, with helpers that Linux doesn't have.
    Drystone,
    /// In Linux's kernel, where the object's own functions take the place of these helpers.
    Linux,
}

/// A program with the maps that it refers to, for any engine.
#[derive(Clone, Debug)]
pub struct Image {
    /// The function's name.
    pub name: String,
    /// Its instructions; constants refer to maps by their numbers.
    pub slots: Vec<Slot>,
    /// Its licence (section `license`): Linux has helpers that only some licences may call.
    pub licence: String,
    /// Its maps.
    pub maps: Vec<bytecode::Map>,
    /// The pipes that it calls, by number.
    pub(super) pipes: Vec<pipes::Definition>,
}

impl Image {
    /// Reads an object file of `clang -g -target bpf`. `entry` is the handler's function; it can be left out if there
    /// is only one.
    ///
    /// # Errors
    /// What is wrong with the file, for people.
    pub fn read(bytes: &[u8], entry: Option<&str>, machine: Machine) -> Result<Image, String> {
        Image::composed(&[bytes], entry, machine)
    }

    /// Links several object files: a function that is only declared, or weak, in one of them is taken from another. So
    /// protocols are composed with each other and with an application (*ASHs*, section II-C). The variables of the
    /// first file are at the beginning of the region.
    ///
    /// # Errors
    /// What is wrong with the files, for people.
    pub fn composed(files: &[&[u8]], entry: Option<&str>, machine: Machine) -> Result<Image, String> {
        let called = RefCell::default();
        let helper = |name: &str| match machine {
            Machine::Drystone => super::helpers::number(name, &called),
            Machine::Linux => None,
        };
        let Object { slots, functions, maps } = bytecode::link(files, entry, &helper)?;
        for map in &maps {
            if map.definition.is_none() && matches!(map.name.as_bytes(), [first, ..] if *first != b'.') {
                let name = &map.name;
                return Err(format!("the file doesn't say how map `{name}` is made: compile it with -g"));
            }
        }
        let name = functions.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let pipes = pipes::Definition::all(files, &called.into_inner())?;
        let licence = bytecode::licence(files)?;
        let image = Image { name, slots, licence, maps, pipes };
        image.check_region()?;
        Ok(image)
    }

    /// The handler that [`crate::composite::Program::respond`] made of a service that keeps so many variables.
    pub fn of_responder(name: &str, slots: Vec<Slot>, kept: usize) -> Image {
        let service = bytecode::Map {
            name: "service".into(),
            definition: None,
            bytes: vec![0; 8 * (shared::VARIABLES + kept)],
            writable: true,
        };
        let licence = bytecode::OWN_LICENCE.into();
        Image { name: name.into(), slots, licence, maps: vec![service], pipes: vec![] }
    }

    /// The definition of a map. A section of variables has none in the file, and gets the one that libbpf gives it, so
    /// that applications can map it.
    pub fn definition(map: &bytecode::Map) -> Definition {
        const MAPPABLE: u32 = 1 << 10;
        const READ_ONLY: u32 = 1 << 7;
        map.definition.unwrap_or(Definition {
            kind: kind::ARRAY,
            key: 4,
            value: map.bytes.len() as u32,
            entries: 1,
            flags: if map.writable { MAPPABLE } else { MAPPABLE | READ_ONLY },
            extra: 0,
        })
    }

    /// The number of the map that is the handler's region, which it shares with its application.
    pub fn region(&self) -> Option<usize> {
        let is_region = |map: &bytecode::Map| map.definition.is_some_and(|it| it.kind == kind::ARENA);
        self.maps.iter().position(is_region)
    }

    /// Bytes of the region, a power of two; 0 if there is none.
    pub fn region_bytes(&self) -> u64 {
        let definition = self.region().and_then(|region| self.maps[region].definition);
        definition.map_or(0, |it| (u64::from(it.entries) * PAGE).next_power_of_two())
    }

    /// The address at which the file wants the region, in the application and in the handler.
    pub fn region_address(&self) -> Option<u64> {
        let definition = self.region().and_then(|region| self.maps[region].definition);
        definition.map(|it| it.extra).filter(|address| *address != 0)
    }

    fn check_region(&self) -> Result<(), String> {
        let Some(region) = self.region() else { return Ok(()) };
        let (name, bytes) = (&self.maps[region].name, self.region_bytes());
        let begin = self.region_address().unwrap_or(LARGEST_REGION);
        if bytes == 0 || bytes > LARGEST_REGION {
            return Err(format!(
                "region `{name}` has {bytes} bytes: give it 1 to {} pages",
                LARGEST_REGION / PAGE
            ));
        }
        if !begin.is_multiple_of(bytes) || begin == 0 || begin + bytes > 1 << 32 {
            return Err(format!(
                "region `{name}` of {bytes} bytes can't lie at {begin:#x}: that must be a multiple of them, below 4 GiB"
            ));
        }
        if self.maps[region].bytes.len() as u64 > bytes {
            let most = self.maps[region].bytes.len();
            return Err(format!(
                "region `{name}` has {bytes} bytes, but there are variables of {most} in it"
            ));
        }
        Ok(())
    }

    /// The instructions for Drystone's engines, where the region is at address `region`, below 4 GiB, for the
    /// application and the handler. Linux's casts between address spaces only cut pointers to 32 bits then.
    pub(super) fn lowered(&self, region: u64) -> Vec<Slot> {
        let (number, mut slots) = (self.region(), self.slots.clone());
        for at in 0..slots.len() {
            let slot = slots[at];
            let is_cast = slot.opcode == 0xbf && slot.offset == 1 && matches!(slot.immediate, 1 | 0x1_0000);
            if is_cast {
                slots[at] = Slot { opcode: 0xbc, offset: 0, immediate: 0, ..slot };
            }
            let is_place = slot.opcode == 0x18 && slot.source == 6;
            if is_place && number == usize::try_from(slot.immediate).ok() {
                let place = region.wrapping_add(i64::from(slots[at + 1].immediate) as u64);
                slots[at] = Slot { source: 0, immediate: place as i32, ..slot };
                slots[at + 1].immediate = (place >> 32) as i32;
            }
        }
        slots
    }
}
