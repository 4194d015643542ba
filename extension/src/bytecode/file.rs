//! Reads object files: functions, sections, and definitions of maps.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::{format, vec, vec::Vec};

use object::elf::EM_BPF;
use object::read::elf::ElfFile64;
use object::{
    LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, SectionIndex, SectionKind, SymbolIndex,
    SymbolKind,
};

use super::btf::{self, Definition};

/// The section in which clang puts variables of address space 1: the region that a handler shares with its application.
pub(super) const REGION: &str = ".addr_space.1";

/// The section of pipes, which are no handlers.
const PIPES: &str = "drystone.pipe";

/// The alignment of each file's part of the region.
const ALIGNMENT: u64 = 64;

type Elf<'a> = ElfFile64<'a, LittleEndian>;

/// An object file.
pub(super) struct File<'a> {
    pub elf: Elf<'a>,
    /// The definitions of maps, by name.
    pub definitions: BTreeMap<String, Definition>,
    /// The functions, by section and offset.
    pub functions: BTreeMap<(usize, u64), Function<'a>>,
}

#[derive(Clone, Copy)]
pub(super) struct Function<'a> {
    pub name: &'a str,
    pub section: SectionIndex,
    /// The offset in its section, in bytes.
    pub begin: u64,
    pub end: u64,
}

/// The binding of a symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is only declared: another file must define it.
    Wanted,
    /// It is weak: another file's definition is taken, if there is one.
    Weak,
    /// It is defined.
    Strong,
}

impl<'a> File<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<File<'a>, String> {
        let elf = Elf::parse(bytes).map_err(|error| format!("this is no object file for BPF: {error}"))?;
        if elf.elf_header().e_machine.get(LittleEndian) != EM_BPF {
            let what = "this object file is for another machine: compile it with `clang -target bpf -c`";
            return Err(what.into());
        }
        Ok(File { definitions: definitions_of(&elf)?, functions: functions(&elf)?, elf })
    }

    pub fn section(
        &self,
        index: SectionIndex,
    ) -> Result<object::read::elf::ElfSection64<'a, '_, LittleEndian>, String> {
        self.elf.section_by_index(index).map_err(|error| error.to_string())
    }

    pub fn symbol(
        &self,
        index: SymbolIndex,
    ) -> Result<object::read::elf::ElfSymbol64<'a, '_, LittleEndian>, String> {
        self.elf.symbol_by_index(index).map_err(|error| error.to_string())
    }

    /// A symbol that this file defines for others.
    pub fn exported(&self, name: &str) -> Option<(Kind, SymbolIndex)> {
        let is_it = |symbol: &object::read::elf::ElfSymbol64<'a, '_, LittleEndian>| {
            symbol.is_global() && !symbol.is_undefined() && symbol.name() == Ok(name)
        };
        let symbol = self.elf.symbols().find(is_it)?;
        Some((if symbol.is_weak() { Kind::Weak } else { Kind::Strong }, symbol.index()))
    }

    /// Whether a function is in a section of functions that are no entries.
    pub fn is_in_text(&self, function: &Function<'_>) -> bool {
        self.section(function.section).is_ok_and(|it| matches!(it.name(), Ok(".text" | PIPES)))
    }

    /// The text of section `license`.
    pub fn licence(&self) -> Result<Option<&'a str>, String> {
        let Some(section) = self.elf.section_by_name("license") else { return Ok(None) };
        let bytes = section.data().map_err(|error| error.to_string())?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        str::from_utf8(text).map(Some).map_err(|_| "section `license` is no text".into())
    }

    /// The bytes of a constant.
    pub fn constant(&self, name: &str) -> Option<&'a [u8]> {
        let symbol = self.elf.symbols().find(|symbol| symbol.name() == Ok(name))?;
        let section = self.section(symbol.section_index()?).ok()?;
        let begin = usize::try_from(symbol.address()).ok()?;
        section.data().ok()?.get(begin..begin.checked_add(symbol.size() as usize)?)
    }
}

fn definitions_of(elf: &Elf<'_>) -> Result<BTreeMap<String, Definition>, String> {
    match elf.section_by_name(".BTF") {
        Some(section) => btf::definitions(section.data().map_err(|error| error.to_string())?),
        None => Ok(BTreeMap::new()),
    }
}

fn functions<'a>(elf: &Elf<'a>) -> Result<BTreeMap<(usize, u64), Function<'a>>, String> {
    let mut all = BTreeMap::new();
    for symbol in elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let Some(section) = symbol.section_index() else { continue };
        let name = symbol.name().map_err(|error| error.to_string())?;
        let (begin, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
        let size = elf.section_by_index(section).map_or(0, |section| section.size());
        if end > size || begin % 8 != 0 || end % 8 != 0 {
            return Err(format!("function `{name}` doesn't lie in its section: the file is damaged"));
        }
        all.insert((section.0, begin), Function { name, section, begin, end });
    }
    // Without the limit, a small file could make a huge program.
    let overlap = |(a, b): &(&Function, &Function)| a.section == b.section && b.begin < a.end;
    match all.values().zip(all.values().skip(1)).find(overlap) {
        Some((a, b)) => Err(format!("functions `{}` and `{}` overlap: the file is damaged", a.name, b.name)),
        None => Ok(all),
    }
}

/// The initial bytes of a section.
pub(super) fn content<'a>(section: &impl object::ObjectSection<'a>) -> Result<Vec<u8>, String> {
    const MOST: u64 = 1 << 24;
    match section.kind() {
        SectionKind::UninitializedData if section.size() > MOST => {
            Err(format!("a section of {} bytes of zeros: there may be {MOST}", section.size()))
        }
        SectionKind::UninitializedData => Ok(vec![0; section.size() as usize]),
        _ => section.data().map(<[u8]>::to_vec).map_err(|error| error.to_string()),
    }
}

/// The definitions of all maps, by name.
pub(super) fn definitions(files: &[File<'_>]) -> Result<BTreeMap<String, Definition>, String> {
    let mut all = BTreeMap::new();
    for (name, definition) in files.iter().flat_map(|file| &file.definitions) {
        let before = all.insert(name.clone(), *definition);
        if before.is_some_and(|before| before != *definition) {
            return Err(format!("two files have different maps `{name}`"));
        }
    }
    Ok(all)
}

/// The initial bytes of the region, and where each file's part begins.
pub(super) fn regions(files: &[File<'_>]) -> Result<(Vec<u8>, Vec<u64>), String> {
    let (mut bytes, mut begins) = (Vec::new(), Vec::new());
    for file in files {
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
        begins.push(bytes.len() as u64);
        if let Some(section) = file.elf.section_by_name(REGION) {
            bytes.extend(content(&section)?);
        }
    }
    Ok((bytes, begins))
}

/// A function, and its file's number.
pub(super) type Found<'a> = (usize, Function<'a>);

/// The entry function.
pub(super) fn find_entry<'a>(files: &[File<'a>], name: Option<&str>) -> Result<Found<'a>, String> {
    let all = || {
        files
            .iter()
            .enumerate()
            .flat_map(|(number, file)| file.functions.values().map(move |it| (number, *it)))
    };
    if let Some(name) = name {
        let found = all().find(|(_, function)| function.name == name);
        return found.ok_or_else(|| format!("there is no function `{name}`; there are: {}", names(all())));
    }
    let mut candidates: Vec<Found<'a>> =
        all().filter(|(number, function)| !files[*number].is_in_text(function)).collect();
    if candidates.is_empty() {
        candidates = all().collect();
    }
    match candidates[..] {
        [] => Err("there is no function in this object file".into()),
        [one] => Ok(one),
        _ => Err(format!("say which function to begin with: {}", names(candidates.into_iter()))),
    }
}

fn names<'a>(functions: impl Iterator<Item = Found<'a>>) -> String {
    let names: Vec<&str> = functions.map(|(_, function)| function.name).collect();
    names.join(", ")
}
