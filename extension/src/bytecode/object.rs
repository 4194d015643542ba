//! Links object files of `clang -target bpf -c` to one program: a function that one file declares, or defines as weak,
//! is taken from another that defines it. So protocols are written once and composed where they are used.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};
use object::elf::{R_BPF_64_32, R_BPF_64_64};
use object::{
    ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget, SectionFlags, SectionIndex,
    SectionKind, SymbolIndex, SymbolKind,
};

use super::Slot;
use super::btf::Definition;
use super::file::{File, Found, Kind, REGION, content, definitions, find_entry, regions};

/// A linked program, and what it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The instructions: of the entry function, and then of those that it calls.
    pub slots: Vec<Slot>,
    /// The functions, with their first slots.
    pub functions: Vec<(String, usize)>,
    /// The maps that `map_by_idx` and `map_val` constants refer to by number.
    pub maps: Vec<Map>,
}

/// A map, or a section of variables, that a program refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The name of the map, or of the section (`.rodata`, `.data`, `.bss`).
    pub name: String,
    /// The definition of the map; `None` for a section, and in files that were compiled without `-g`.
    pub definition: Option<Definition>,
    /// The bytes of the section; for the map of a region, its first bytes (section `.addr_space.1`).
    pub bytes: Vec<u8>,
    /// Whether the program may write to it.
    pub writable: bool,
}

/// Reads a program from an object file: the function `entry`, or if it is `None` the only one in a section of its own.
/// `helper` gives the helper numbers of functions that are only declared, or weak: the body of a weak one is for
/// machines without the helper.
pub fn load(
    bytes: &[u8],
    entry: Option<&str>,
    helper: &dyn Fn(&str) -> Option<u32>,
) -> Result<Object, String> {
    link(&[bytes], entry, helper)
}

/// Links several files. They share maps of the same name, and one region, in which the first file's variables come
/// first.
pub fn link(
    files: &[&[u8]],
    entry: Option<&str>,
    helper: &dyn Fn(&str) -> Option<u32>,
) -> Result<Object, String> {
    let files = files.iter().map(|bytes| File::read(bytes)).collect::<Result<Vec<_>, _>>()?;
    let entry = find_entry(&files, entry)?;
    let (region, regions) = regions(&files)?;
    let mut loader = Loader {
        definitions: definitions(&files)?,
        files: &files,
        region,
        regions,
        helper,
        placed: Vec::new(),
        places: BTreeMap::new(),
        length: 0,
        maps: Vec::new(),
        numbers: BTreeMap::new(),
    };
    loader.place(entry);
    loader.link()
}

/// The licence of Drystone's own files, which can be linked with files of any other.
pub const OWN_LICENCE: &str = "MIT OR Apache-2.0";

/// The licence of a program of these files, from their sections `license`; empty if one of them has none.
pub fn licence(files: &[&[u8]]) -> Result<String, String> {
    let mut said = BTreeSet::new();
    for bytes in files {
        match File::read(bytes)?.licence()? {
            Some(licence) => drop(said.insert(licence)),
            None => return Ok(String::new()),
        }
    }
    if said.len() > 1 {
        said.remove(OWN_LICENCE);
    }
    Ok(said.into_iter().collect::<Vec<_>>().join(" AND "))
}

/// The bytes of a constant that one of the files defines.
pub fn constant(files: &[&[u8]], name: &str) -> Result<Vec<u8>, String> {
    for bytes in files {
        if let Some(constant) = File::read(bytes)?.constant(name) {
            return Ok(constant.to_vec());
        }
    }
    Err(format!("there is no constant `{name}`"))
}

struct Loader<'f, 'a> {
    files: &'f [File<'a>],
    definitions: BTreeMap<String, Definition>,
    region: Vec<u8>,
    regions: Vec<u64>,
    helper: &'f dyn Fn(&str) -> Option<u32>,
    /// The functions in program order, each with its first slot.
    placed: Vec<(Found<'a>, usize)>,
    /// The same functions, by file, section and offset.
    places: BTreeMap<(usize, usize, u64), usize>,
    length: usize,
    maps: Vec<Map>,
    /// Maps, by name.
    numbers: BTreeMap<String, i32>,
}

impl<'a> Loader<'_, 'a> {
    fn link(mut self) -> Result<Object, String> {
        let mut slots = Vec::new();
        // Functions that are referred to are appended meanwhile.
        let mut next = 0;
        while let Some(&(function, first)) = self.placed.get(next) {
            let name = function.1.name;
            slots
                .extend(self.function(function, first).map_err(|what| format!("function `{name}`: {what}"))?);
            next += 1;
        }
        let functions =
            self.placed.iter().map(|((_, function), first)| (function.name.into(), *first)).collect();
        Ok(Object { slots, functions, maps: self.maps })
    }

    fn function(&mut self, (file, function): Found<'a>, first: usize) -> Result<Vec<Slot>, String> {
        let section = self.files[file].section(function.section)?;
        let code = section.data().map_err(|error| error.to_string())?;
        let code =
            code.get(function.begin as usize..function.end as usize).ok_or("it lies outside its section")?;
        let mut slots: Vec<Slot> = code.as_chunks().0.iter().map(|bytes| Slot::read(*bytes)).collect();
        let relocations: BTreeMap<u64, _> = section.relocations().collect();
        for index in 0..slots.len() {
            let place = function.begin + 8 * index as u64;
            match relocations.get(&place) {
                Some(relocation) => {
                    let RelocationTarget::Symbol(symbol) = relocation.target() else {
                        return Err("a relocation without a symbol".into());
                    };
                    match relocation.flags() {
                        RelocationFlags::Elf { r_type: R_BPF_64_64 } => {
                            self.constant(&mut slots, index, first, (file, symbol))?;
                        }
                        RelocationFlags::Elf { r_type: R_BPF_64_32 } => {
                            slots[index] = self.call(slots[index], first + index, (file, symbol))?;
                        }
                        other => return Err(format!("a relocation of unknown kind {other:?}")),
                    }
                }
                None if slots[index].opcode == 0x85 && slots[index].source == 1 => {
                    let target = place as i64 + 8 + 8 * i64::from(slots[index].immediate);
                    let target = self.function_at(file, function.section, target)?;
                    slots[index].immediate = (target as i64 - (first + index) as i64 - 1) as i32;
                }
                None => slots[index] = with_register_in_place(slots[index]),
            }
        }
        Ok(slots)
    }

    /// The definition of a symbol.
    fn resolve(&self, (file, index): (usize, SymbolIndex)) -> Result<(usize, SymbolIndex), String> {
        let symbol = self.files[file].symbol(index)?;
        let kind = match (symbol.is_undefined(), symbol.is_weak()) {
            (true, _) => Kind::Wanted,
            (false, true) => Kind::Weak,
            (false, false) => return Ok((file, index)),
        };
        let name = symbol.name().map_err(|error| error.to_string())?;
        let exported = |wanted| {
            let files = self.files.iter().enumerate();
            files.filter_map(move |(number, file)| {
                file.exported(name).filter(|(kind, _)| *kind == wanted).map(|(_, index)| (number, index))
            })
        };
        let mut strong = exported(Kind::Strong);
        match (strong.next(), strong.next()) {
            (Some(_), Some(_)) => Err(format!("`{name}` is in two of the files")),
            (Some(found), None) => Ok(found),
            (None, _) if kind == Kind::Weak => Ok((file, index)),
            // An error is reported only if it is called.
            (None, _) => Ok(exported(Kind::Weak).next().unwrap_or((file, index))),
        }
    }

    /// Relocates a call of a symbol: a function, or a helper.
    fn call(&mut self, slot: Slot, at: usize, symbol: (usize, SymbolIndex)) -> Result<Slot, String> {
        let declared = self.files[symbol.0].symbol(symbol.1)?;
        let name = declared.name().unwrap_or_default();
        let helper = if declared.is_undefined() || declared.is_weak() { (self.helper)(name) } else { None };
        if let Some(number) = helper {
            return Ok(Slot { source: 0, immediate: number as i32, ..slot });
        }
        let (file, symbol) = self.resolve(symbol)?;
        let symbol = self.files[file].symbol(symbol)?;
        let section = symbol
            .section_index()
            .ok_or_else(|| format!("there is neither a function nor a helper `{name}`"))?;
        let within =
            if symbol.kind() == SymbolKind::Section { 8 * (i64::from(slot.immediate) + 1) } else { 0 };
        let target = self.function_at(file, section, symbol.address() as i64 + within)?;
        Ok(Slot { source: 1, immediate: (target as i64 - at as i64 - 1) as i32, ..slot })
    }

    /// Relocates a symbol's address, in two slots.
    fn constant(
        &mut self,
        slots: &mut [Slot],
        index: usize,
        first: usize,
        symbol: (usize, SymbolIndex),
    ) -> Result<(), String> {
        if slots[index].opcode != 0x18 || index + 1 >= slots.len() {
            return Err("a relocation of something else than a 64-bit constant".into());
        }
        let (file, symbol) = self.resolve(symbol)?;
        let symbol = self.files[file].symbol(symbol)?;
        let name = symbol.name().map_err(|error| error.to_string())?;
        let index_of_section =
            symbol.section_index().ok_or_else(|| format!("`{name}` is declared, but not in this file"))?;
        let section = self.files[file].section(index_of_section)?;
        let offset = symbol.address() as i64 + i64::from(slots[index].immediate);
        let in_slot = |offset| i32::try_from(offset).map_err(|_| format!("`{name}` lies too far away"));
        let (kind, first_half, second_half) = match section.name().map_err(|error| error.to_string())? {
            ".maps" | "maps" => (5, self.map(name, || Ok(Vec::new()), true)?, 0),
            REGION => {
                let (region, bytes) = (self.region()?, core::mem::take(&mut self.region));
                let number = self.map(&region, || Ok(bytes), true)?;
                (6, number, in_slot(offset + self.regions[file] as i64)?)
            }
            _ if section.kind() == SectionKind::Text => {
                let target = self.function_at(file, index_of_section, offset)?;
                (4, (target as i64 - (first + index) as i64 - 1) as i32, 0)
            }
            section_name => {
                if section.relocations().next().is_some() {
                    return Err(format!(
                        "section `{section_name}` has addresses in it, which can't be loaded"
                    ));
                }
                let writable = matches!(section.flags(), SectionFlags::Elf { sh_flags } if sh_flags & 1 != 0);
                let name =
                    if file == 0 { section_name.to_string() } else { format!("{section_name}.{file}") };
                (6, self.map(&name, || content(&section), writable)?, in_slot(offset)?)
            }
        };
        slots[index] = Slot { source: kind, immediate: first_half, ..slots[index] };
        slots[index + 1].immediate = second_half;
        Ok(())
    }

    /// The name of the map for section [`REGION`].
    fn region(&self) -> Result<String, String> {
        const ARENA: u32 = 33;
        let region = self.definitions.iter().find(|(_, definition)| definition.kind == ARENA);
        region.map(|(name, _)| name.clone()).ok_or_else(|| {
            format!("there are variables in section `{REGION}`, but no map of type ARENA in section `.maps`")
        })
    }

    fn map(
        &mut self,
        name: &str,
        bytes: impl FnOnce() -> Result<Vec<u8>, String>,
        writable: bool,
    ) -> Result<i32, String> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        let number = self.maps.len() as i32;
        let definition = self.definitions.get(name).copied();
        self.maps.push(Map { name: name.into(), definition, bytes: bytes()?, writable });
        self.numbers.insert(name.into(), number);
        Ok(number)
    }

    fn function_at(&mut self, file: usize, section: SectionIndex, begin: i64) -> Result<usize, String> {
        let function = self.files[file].functions.get(&(section.0, begin as u64)).copied();
        Ok(self.place((file, function.ok_or("it calls something that isn't the beginning of a function")?)))
    }

    /// The first slot of a function, which is appended unless it is there.
    fn place(&mut self, (file, function): Found<'a>) -> usize {
        let key = (file, function.section.0, function.begin);
        if let Some(first) = self.places.get(&key) {
            return *first;
        }
        let first = self.length;
        self.placed.push(((file, function), first));
        self.places.insert(key, first);
        self.length += ((function.end - function.begin) / 8) as usize;
        first
    }
}

/// Older compilers have the register of `callx` in the immediate.
fn with_register_in_place(slot: Slot) -> Slot {
    match slot {
        Slot { opcode: 0x8d, destination: 0, immediate: 1..=10, .. } => {
            Slot { destination: slot.immediate as u8, immediate: 0, ..slot }
        }
        _ => slot,
    }
}
