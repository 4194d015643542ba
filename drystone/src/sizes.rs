//! `drystone build --sizes`: attributes the bytes of an executable or image to components and crates, by its symbols.

use std::collections::BTreeMap;
use std::fmt::Write;

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind};

/// A native component of the image.
pub struct Native {
    /// Its name in the table.
    pub shown: String,
    /// The name of its static.
    pub place: String,
    /// Its Rust type.
    pub path: String,
}

/// Bytes in the file, and bytes that are zero-initialised.
#[derive(Clone, Copy, Default)]
struct Bytes {
    loaded: u64,
    zeros: u64,
}

/// The table of an executable or image: a line for each owner of bytes.
pub fn table(file: &[u8], natives: &[Native]) -> Result<String, object::Error> {
    let file = object::File::parse(file)?;
    let mut owners: BTreeMap<String, Bytes> = BTreeMap::new();
    let mut all = Bytes::default();
    for section in file.sections().filter(|section| is_loaded(section.flags())) {
        let is_zeros = section.kind() == SectionKind::UninitializedData;
        let end = section.address() + section.size();
        let mut symbols: Vec<(u64, u64, &str)> = file
            .symbols()
            .filter(|symbol| symbol.section_index() == Some(section.index()))
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?)))
            .filter(|&(start, _, name)| start < end && !name.is_empty())
            .collect();
        // Of several symbols at one address the largest counts; one without a size reaches to the next symbol.
        symbols.sort_by_key(|&(start, size, _)| (start, u64::MAX - size));
        let mut add = |name: String, bytes: u64| {
            let owner = owners.entry(name).or_default();
            for sum in [owner, &mut all] {
                *(if is_zeros { &mut sum.zeros } else { &mut sum.loaded }) += bytes;
            }
        };
        let mut counted = section.address();
        for (index, &(start, size, name)) in symbols.iter().enumerate() {
            let next = symbols[index + 1..].iter().map(|&(next, ..)| next).find(|&next| next > start);
            // Assembly has code and zeros; other symbols without a size are marks of the linker.
            let is_assembly = is_zeros || section.kind() == SectionKind::Text;
            let sizeless = if is_assembly { next.unwrap_or(end) } else { start };
            let its_end = if size > 0 { start + size } else { sizeless }.min(end);
            if its_end > counted {
                add(NAMELESS.into(), start.saturating_sub(counted));
                add(owner(name, natives), its_end - start.max(counted));
                counted = its_end;
            }
        }
        add(NAMELESS.into(), end - counted);
    }
    Ok(lines(owners, all))
}

/// The owner of bytes that no symbol covers: constants and tables of compiled crates, and padding.
const NAMELESS: &str = "(without a name)";

fn lines(owners: BTreeMap<String, Bytes>, all: Bytes) -> String {
    let mut owners: Vec<_> = owners.into_iter().filter(|(_, its)| its.loaded + its.zeros > 0).collect();
    owners.sort_by_key(|(_, its)| u64::MAX - its.loaded);
    let mut text = format!("{:>10} {:>10}\n", "bytes", "zeros");
    for (name, Bytes { loaded, zeros }) in owners.into_iter().chain([("all".into(), all)]) {
        let _ = writeln!(text, "{loaded:>10} {zeros:>10}  {name}");
    }
    text
}

fn is_loaded(flags: SectionFlags) -> bool {
    matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & u64::from(object::elf::SHF_ALLOC) != 0)
}

/// A symbol's owner: a component, a crate, or one of the groups for other symbols.
fn owner(symbol: &str, natives: &[Native]) -> String {
    let symbol = symbol.strip_prefix("switch.table.").unwrap_or(symbol);
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return owner_in_rust(&format!("{name:#}"), natives);
    }
    match symbol {
        _ if ["ds_data_", "ds_template_", "ds_program"].iter().any(|begin| symbol.starts_with(begin)) => {
            "(texts and tables of the program)".into()
        }
        _ if symbol.starts_with("ds_") => "drystone_runtime".into(),
        _ if symbol.starts_with("_binary_files_") => "(initial files)".into(),
        _ if symbol.starts_with("GCC_except_table") => "(tables for unwinding)".into(),
        // Compiled components have names such as `Home.House$5.10`.
        _ => match symbol.split_once('$') {
            Some((component, _)) => component.split('.').next().unwrap_or(component).into(),
            None if symbol.starts_with("anon.") || symbol.starts_with("alloc_") => NAMELESS.into(),
            None => "(assembly and C)".into(),
        },
    }
}

/// The owner by a path such as `<kortex_thread::scheduler::Scheduler<..> as ..>::tick`, or `own::<impl .. for
/// own::Own>::main`.
fn owner_in_rust(name: &str, natives: &[Native]) -> String {
    let name =
        name.split_once("<impl ").and_then(|(_, of)| of.split_once(" for ")).map_or(name, |(_, ty)| ty);
    let is_of_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':');
    let path = name.split(|letter| !is_of_path(letter)).find(|word| word.trim_matches(':').contains("::"));
    // Primitive types such as `<char>` have no path.
    let path = path.unwrap_or("core").trim_matches(':');
    let mut steps = path.split("::");
    let library = steps.next().unwrap_or_default();
    let steps: Vec<&str> = steps.collect();
    let is_its = |native: &&Native| {
        let mut its = native.path.split("::");
        its.next() == Some(library) && its.last().is_some_and(|last| steps.contains(&last))
    };
    let placed = natives.iter().find(|native| steps.contains(&native.place.as_str()));
    placed.or_else(|| natives.iter().find(is_its)).map_or(library.into(), |native| native.shown.clone())
}
