//! A system as a Linux process. Its image is linked, unchanged and at its own addresses, with a machine that runs as a
//! process (`platform/linux/hosted-pc`). Symbols and debug information are kept.

use std::fs;
use std::path::Path;
use std::process::Command;

use object::elf::{FileHeader64, PF_W, PF_X, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE};
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _};
use object::write::{Object, SectionId, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, LittleEndian, SectionFlags, SectionKind};
use object::{SymbolFlags, SymbolKind, SymbolScope};

use crate::library::Platform;
use crate::linker::{Parts, leave_out_unwinding, run};
use crate::output::{Status, fail};

/// Where the machine's own code lies: behind its memory, and within reach of the C library's first code.
const MACHINE: u64 = 0x7000_0000;

/// Links an image with the machine.
pub fn link(image: &Path, output: &Path) -> Result<(), Status> {
    let cannot = |error: &dyn std::fmt::Display| fail(format_args!("{}: {error}", image.display()));
    let bytes = fs::read(image).map_err(|error| cannot(&error))?;
    let linked = linkable(&bytes).map_err(|error| cannot(&error))?;
    let parts = Parts::new(&linked.object, &[], Platform::Process)?;
    let mut linker = Command::new("cc");
    linker.arg("-o").arg(output).args([&parts.program, &parts.library]);
    linker.args([
        "-no-pie",
        "-Wl,--gc-sections",
        "-Wl,-z,noexecstack",
        &format!("-Wl,-Ttext-segment={MACHINE:#x}"),
    ]);
    for (name, start) in &linked.places {
        linker.arg(format!("-Wl,--section-start={name}={start:#x},--undefined={name}"));
    }
    linker.arg(format!("-Wl,--defsym=ds_image={:#x}", linked.entry));
    linker.args(["-lgcc_eh", "-lgcc", "-lpthread", "-lm", "-ldl"]);
    leave_out_unwinding(&mut linker, parts.folder.path())?;
    run(linker, output)
}

/// An image as an object file for the linker.
struct Linkable {
    object: Vec<u8>,
    /// Its sections and their addresses.
    places: Vec<(String, u64)>,
    /// Its entry point.
    entry: u64,
}

/// A segment of the image, as a section.
struct Segment {
    start: u64,
    end: u64,
    section: SectionId,
}

/// Makes an object file of an image: its segments as sections, its symbols, and its debug sections unchanged.
fn linkable(bytes: &[u8]) -> Result<Linkable, Box<dyn std::error::Error>> {
    let image = object::File::parse(bytes)?;
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let mut places = Vec::new();
    let mut segments = Vec::new();
    let header = FileHeader64::<LittleEndian>::parse(bytes)?;
    for header in header.program_headers(LittleEndian, bytes)? {
        if header.p_type(LittleEndian) != PT_LOAD {
            continue;
        }
        let flags = header.p_flags(LittleEndian);
        let bit = |flag, of_section| if flags & flag != 0 { of_section } else { 0 };
        let flags = SHF_ALLOC | bit(PF_W, SHF_WRITE) | bit(PF_X, SHF_EXECINSTR);
        let start = header.p_vaddr(LittleEndian);
        let data = header.data(LittleEndian, bytes).unwrap_or_default();
        let zeros = header.p_memsz(LittleEndian) - data.len() as u64;
        let mut add = |object: &mut Object<'_>, kind, start, size| {
            let name = format!(".image.{start:x}");
            let section = object.add_section(Vec::new(), name.clone().into_bytes(), kind);
            // A symbol makes the linker keep the section.
            object.add_symbol(symbol(name.clone().into_bytes(), section, SymbolScope::Linkage));
            object.section_mut(section).flags = SectionFlags::Elf { sh_flags: flags.into() };
            segments.push(Segment { start, end: start + size, section });
            places.push((name, start));
            section
        };
        if !data.is_empty() {
            let kind = if flags & SHF_WRITE != 0 { SectionKind::Data } else { SectionKind::ReadOnlyData };
            let section = add(&mut object, kind, start, data.len() as u64);
            object.append_section_data(section, data, 1);
        }
        if zeros > 0 {
            let section = add(&mut object, SectionKind::UninitializedData, start + data.len() as u64, zeros);
            object.append_section_bss(section, zeros, 1);
        }
    }
    copy_symbols(&image, &mut object, &segments);
    for section in image.sections() {
        let name = section.name()?;
        if name.starts_with(".debug_") {
            let copy = object.add_section(Vec::new(), name.into(), SectionKind::Debug);
            object.append_section_data(copy, section.data()?, 1);
        }
    }
    Ok(Linkable { object: object.write()?, places, entry: image.entry() })
}

/// Copies the symbols of functions and variables, as local ones: nothing is linked with them.
fn copy_symbols(image: &object::File<'_>, object: &mut Object<'_>, segments: &[Segment]) {
    for symbol in image.symbols() {
        let (at, size) = (symbol.address(), symbol.size());
        let Some(segment) = segments.iter().find(|segment| (segment.start..segment.end).contains(&at)) else {
            continue;
        };
        let name = symbol.name_bytes().unwrap_or_default();
        let kind = match symbol.kind() {
            SymbolKind::Unknown => SymbolKind::Label,
            kind => kind,
        };
        if name.is_empty() || !matches!(kind, SymbolKind::Text | SymbolKind::Data | SymbolKind::Label) {
            continue;
        }
        let copy = self::symbol(name.into(), segment.section, SymbolScope::Compilation);
        object.add_symbol(Symbol { value: at - segment.start, size, kind, ..copy });
    }
}

/// A symbol at the beginning of a section.
fn symbol(name: Vec<u8>, section: SectionId, scope: SymbolScope) -> Symbol {
    let (kind, flags) = (SymbolKind::Data, SymbolFlags::None);
    Symbol {
        name,
        value: 0,
        size: 0,
        kind,
        scope,
        weak: false,
        section: SymbolSection::Section(section),
        flags,
    }
}
