//! Programs out of object files, as `clang -target bpf -c` makes them.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use object::elf::{EM_BPF, R_BPF_64_32, R_BPF_64_64};
use object::read::elf::ElfFile64;
use object::{
    LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget,
    SectionFlags, SectionIndex, SectionKind, SymbolIndex, SymbolKind,
};

use super::Slot;
use super::btf::{self, Definition};

/// Where clang puts variables of address space 1: the region that a handler shares with its application.
const REGION: &str = ".addr_space.1";

/// A program, and what it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The function to begin with, and after it those that it calls.
    pub slots: Vec<Slot>,
    /// Where each of these functions begins.
    pub functions: Vec<(String, usize)>,
    /// What the constants of kind `map_by_idx` and `map_val` refer to, by their numbers.
    pub maps: Vec<Map>,
}

/// Something outside the program that it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// A map's, or a section's (`.rodata`, `.data`, `.bss`).
    pub name: String,
    /// How the file says that the map is made; nothing for a section, and in files that were compiled without `-g`.
    pub definition: Option<Definition>,
    /// What is in that section; for the map of a region, what that begins with (section `.addr_space.1`).
    pub bytes: Vec<u8>,
    /// Whether the program may change it.
    pub writable: bool,
}

/// Takes a program out of an object file: the function `entry`, or if that is none the only one that stands in a section of its
/// own (or in no other). `helper` gives the numbers of functions that the object only declares, or declares as weak: what such a
/// function does itself is for machines that haven't got the helper.
pub fn load(
    bytes: &[u8],
    entry: Option<&str>,
    helper: &dyn Fn(&str) -> Option<u32>,
) -> Result<Object, String> {
    let file = File::parse(bytes).map_err(|error| format!("this is no object file for BPF: {error}"))?;
    if file.elf_header().e_machine.get(LittleEndian) != EM_BPF {
        return Err("this object file is for another machine: compile it with `clang -target bpf -c`".into());
    }
    let functions = functions(&file)?;
    let entry = find_entry(&file, &functions, entry)?;
    let mut loader = Loader {
        file: &file,
        definitions: definitions(&file)?,
        functions,
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

type File<'a> = ElfFile64<'a, LittleEndian>;

fn definitions(file: &File) -> Result<BTreeMap<String, Definition>, String> {
    match file.section_by_name(".BTF") {
        Some(section) => btf::definitions(section.data().map_err(|error| error.to_string())?),
        None => Ok(BTreeMap::new()),
    }
}

#[derive(Clone, Copy)]
struct Function<'a> {
    name: &'a str,
    section: SectionIndex,
    /// In bytes from its section's beginning.
    begin: u64,
    end: u64,
}

/// By section and where they begin.
type Functions<'a> = BTreeMap<(usize, u64), Function<'a>>;

fn functions<'a>(file: &File<'a>) -> Result<Functions<'a>, String> {
    let mut all = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let Some(section) = symbol.section_index() else { continue };
        let name = symbol.name().map_err(|error| error.to_string())?;
        let (begin, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
        let size = file.section_by_index(section).map_or(0, |section| section.size());
        if end > size || begin % 8 != 0 || end % 8 != 0 {
            return Err(format!("function `{name}` doesn't lie in its section: the file is damaged"));
        }
        all.insert((section.0, begin), Function { name, section, begin, end });
    }
    // Else a small file could make a huge program.
    let overlap = |(a, b): &(&Function, &Function)| a.section == b.section && b.begin < a.end;
    match all.values().zip(all.values().skip(1)).find(overlap) {
        Some((a, b)) => Err(format!("functions `{}` and `{}` overlap: the file is damaged", a.name, b.name)),
        None => Ok(all),
    }
}

fn find_entry<'a>(
    file: &File,
    functions: &Functions<'a>,
    name: Option<&str>,
) -> Result<Function<'a>, String> {
    if let Some(name) = name {
        let found = functions.values().find(|function| function.name == name);
        return found.copied().ok_or_else(|| {
            format!("there is no function `{name}`; there are: {}", names(functions.values()))
        });
    }
    let in_text = |function: &&Function| {
        file.section_by_index(function.section).is_ok_and(|section| section.name() == Ok(".text"))
    };
    let mut candidates: Vec<&Function> = functions.values().filter(|it| !in_text(it)).collect();
    if candidates.is_empty() {
        candidates = functions.values().collect();
    }
    match candidates[..] {
        [] => Err("there is no function in this object file".into()),
        [one] => Ok(*one),
        _ => Err(format!("say which function to begin with: {}", names(candidates.into_iter()))),
    }
}

fn names<'a>(functions: impl Iterator<Item = &'a Function<'a>>) -> String {
    let names: Vec<&str> = functions.map(|function| function.name).collect();
    names.join(", ")
}

struct Loader<'f, 'a> {
    file: &'f File<'a>,
    /// By their maps' names.
    definitions: BTreeMap<String, Definition>,
    functions: Functions<'a>,
    helper: &'f dyn Fn(&str) -> Option<u32>,
    /// In the order in which they stand in the program, each with its first slot.
    placed: Vec<(Function<'a>, usize)>,
    /// The same by section and where they begin.
    places: BTreeMap<(usize, u64), usize>,
    length: usize,
    maps: Vec<Map>,
    /// By their names.
    numbers: BTreeMap<String, i32>,
}

impl Loader<'_, '_> {
    fn link(mut self) -> Result<Object, String> {
        let mut slots = Vec::new();
        // Those that are referred to are placed behind while this goes on.
        let mut next = 0;
        while let Some(&(function, first)) = self.placed.get(next) {
            let name = function.name;
            slots
                .extend(self.function(function, first).map_err(|what| format!("function `{name}`: {what}"))?);
            next += 1;
        }
        let functions = self.placed.iter().map(|(function, first)| (function.name.into(), *first)).collect();
        Ok(Object { slots, functions, maps: self.maps })
    }

    fn function(&mut self, function: Function, first: usize) -> Result<Vec<Slot>, String> {
        let section = self.file.section_by_index(function.section).map_err(|error| error.to_string())?;
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
                            self.constant(&mut slots, index, first, symbol)?;
                        }
                        RelocationFlags::Elf { r_type: R_BPF_64_32 } => {
                            slots[index] = self.call(slots[index], first + index, symbol)?;
                        }
                        other => return Err(format!("a relocation of unknown kind {other:?}")),
                    }
                }
                None if slots[index].opcode == 0x85 && slots[index].source == 1 => {
                    let target = place as i64 + 8 + 8 * i64::from(slots[index].immediate);
                    let target = self.function_at(function.section, target)?;
                    slots[index].immediate = (target as i64 - (first + index) as i64 - 1) as i32;
                }
                None => slots[index] = with_register_in_place(slots[index]),
            }
        }
        Ok(slots)
    }

    /// A call of a symbol: of a function in this file, or a helper that it only declares.
    fn call(&mut self, slot: Slot, at: usize, symbol: SymbolIndex) -> Result<Slot, String> {
        let symbol = self.file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
        let name = symbol.name().unwrap_or_default();
        let helper = if symbol.is_undefined() || symbol.is_weak() { (self.helper)(name) } else { None };
        if let Some(number) = helper {
            return Ok(Slot { source: 0, immediate: number as i32, ..slot });
        }
        let section = symbol
            .section_index()
            .ok_or_else(|| format!("there is neither a function nor a helper `{name}`"))?;
        let within =
            if symbol.kind() == SymbolKind::Section { 8 * (i64::from(slot.immediate) + 1) } else { 0 };
        let target = self.function_at(section, symbol.address() as i64 + within)?;
        Ok(Slot { source: 1, immediate: (target as i64 - at as i64 - 1) as i32, ..slot })
    }

    /// What a symbol's address is, in two slots.
    fn constant(
        &mut self,
        slots: &mut [Slot],
        index: usize,
        first: usize,
        symbol: SymbolIndex,
    ) -> Result<(), String> {
        if slots[index].opcode != 0x18 || index + 1 >= slots.len() {
            return Err("a relocation of something else than a 64-bit constant".into());
        }
        let symbol = self.file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
        let name = symbol.name().map_err(|error| error.to_string())?;
        let index_of_section =
            symbol.section_index().ok_or_else(|| format!("`{name}` is declared, but not in this file"))?;
        let section = self.file.section_by_index(index_of_section).map_err(|error| error.to_string())?;
        let offset = symbol.address() as i64 + i64::from(slots[index].immediate);
        let kind = match section.name().map_err(|error| error.to_string())? {
            ".maps" | "maps" => {
                slots[index].immediate = self.map(name, || Ok(Vec::new()), true)?;
                slots[index + 1].immediate = 0;
                5
            }
            REGION => {
                let region = self.region()?;
                slots[index].immediate = self.map(&region, || content(&section), true)?;
                slots[index + 1].immediate =
                    i32::try_from(offset).map_err(|_| format!("`{name}` lies too far away"))?;
                6
            }
            _ if section.kind() == SectionKind::Text => {
                let target = self.function_at(index_of_section, offset)?;
                slots[index].immediate = (target as i64 - (first + index) as i64 - 1) as i32;
                slots[index + 1].immediate = 0;
                4
            }
            section_name => {
                if section.relocations().next().is_some() {
                    return Err(format!(
                        "section `{section_name}` has addresses in it, which can't be loaded"
                    ));
                }
                let writable = matches!(section.flags(), SectionFlags::Elf { sh_flags } if sh_flags & 1 != 0);
                slots[index].immediate = self.map(section_name, || content(&section), writable)?;
                slots[index + 1].immediate =
                    i32::try_from(offset).map_err(|_| format!("`{name}` lies too far away"))?;
                6
            }
        };
        slots[index].source = kind;
        Ok(())
    }

    /// The name of the map for what stands in [`REGION`].
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

    fn function_at(&mut self, section: SectionIndex, begin: i64) -> Result<usize, String> {
        let function = self.functions.get(&(section.0, begin as u64)).copied();
        Ok(self.place(function.ok_or("it calls something that isn't the beginning of a function")?))
    }

    /// The slot in which a function begins; it gets one if it has none yet.
    fn place(&mut self, function: Function<'_>) -> usize {
        let key = (function.section.0, function.begin);
        if let Some(first) = self.places.get(&key) {
            return *first;
        }
        let first = self.length;
        self.placed.push((self.functions[&key], first));
        self.places.insert(key, first);
        self.length += ((function.end - function.begin) / 8) as usize;
        first
    }
}

/// What a section begins with when the program does.
fn content<'a>(section: &impl object::ObjectSection<'a>) -> Result<Vec<u8>, String> {
    const MOST: u64 = 1 << 24;
    match section.kind() {
        SectionKind::UninitializedData if section.size() > MOST => {
            Err(format!("a section of {} bytes of zeros; more than {MOST} aren't given", section.size()))
        }
        SectionKind::UninitializedData => Ok(vec![0; section.size() as usize]),
        _ => section.data().map(<[u8]>::to_vec).map_err(|error| error.to_string()),
    }
}

/// Older compilers say in the immediate which register `callx` calls.
fn with_register_in_place(slot: Slot) -> Slot {
    match slot {
        Slot { opcode: 0x8d, destination: 0, immediate: 1..=10, .. } => {
            Slot { destination: slot.immediate as u8, immediate: 0, ..slot }
        }
        _ => slot,
    }
}
