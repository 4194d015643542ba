//! The package that puts a system together. Each part is a static of its own type, and each requirement of it is a type
//! that knows the address of its server. So all bindings are known at compile time: a binding takes no memory, and a
//! call of it is a direct call, or is inlined.

use std::collections::BTreeSet;
use std::fmt::Write;

use drystone_language::program::{Part, Program, System};

use crate::sizes::Native;

/// The interface by which the machine calls a system.
const MAIN: &str = "drystone_machine::Main";

/// Crates that every system needs: what its image begins with.
const ALWAYS: [&str; 2] = ["drystone_machine", "kortex_hal"];

/// What a system consists of.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub program: &'a Program,
    pub system: &'a System,
}

impl<'a> Parts<'a> {
    /// The system's name.
    pub fn name(&self) -> &'a str {
        let entry = self.program.entry.expect("a system is what a program starts with");
        &self.program.components[entry.index()].name
    }

    /// The name of its package.
    pub fn package(&self) -> String {
        format!("system-{}", self.name().to_ascii_lowercase())
    }

    /// A part's path from the system inward.
    fn shown(&self, part: &Part) -> String {
        let names = part.path.iter().map(|id| self.program.variables[id.index()].name.as_str());
        names.collect::<Vec<_>>().join(".")
    }

    /// A part's name in the image. Its number keeps names unique, though names may contain `_`, too.
    fn name_of(&self, number: usize) -> String {
        format!("{number}_{}", self.shown(&self.system.parts[number]).replace('.', "_"))
    }

    /// The Rust type of a part's component, without what it requires.
    fn path(&self, part: &Part) -> &'a str {
        let native = self.program.components[part.component.index()].native.as_deref();
        native.expect("parts are native components")
    }

    /// The traits that a part offers.
    fn traits(&self, part: &Part) -> impl Iterator<Item = &'a str> {
        let offers = &self.program.components[part.component.index()].offers;
        offers.iter().filter_map(|facet| self.program.interfaces[facet.interface.index()].native.as_deref())
    }

    /// The crates of all of it.
    pub fn crates(&self) -> BTreeSet<String> {
        let parts = self.system.parts.iter();
        let paths = parts.flat_map(|part| self.traits(part).chain([self.path(part)]));
        let of_parts = paths.filter_map(|path| path.split("::").next());
        of_parts.chain(ALWAYS).map(String::from).collect()
    }

    /// How parts are called in the image.
    pub fn natives(&self) -> Vec<Native> {
        let native = |(number, part): (usize, &Part)| {
            let component = &self.program.components[part.component.index()];
            let shown = format!("{}: {}", self.shown(part), component.name);
            Native { shown, place: format!("part_{}", self.name_of(number)), path: self.path(part).into() }
        };
        self.system.parts.iter().enumerate().map(native).collect()
    }

    /// The part that the machine calls.
    fn main(&self) -> Result<usize, String> {
        let entry = self.program.entry.expect("a system is what a program starts with");
        let offers = self.program.components[entry.index()].offers.iter();
        let is_main = |facet: &drystone_language::program::Facet| {
            self.program.interfaces[facet.interface.index()].native.as_deref() == Some(MAIN)
        };
        let found = offers.zip(&self.system.offers).find(|(facet, _)| is_main(facet));
        found.map(|(_, &part)| part).ok_or_else(|| {
            let name = self.name();
            format!("{name} does not offer Machine.Main, by which a machine calls its system; IMPORT Machine has it")
        })
    }

    /// The package's code.
    pub fn code(&self) -> Result<String, String> {
        let main = self.name_of(self.main()?);
        let mut code = BEGINNING.replace("NAME", self.name());
        for (number, part) in self.system.parts.iter().enumerate() {
            let name = self.name_of(number);
            let bound = part.bound.iter().map(|&bound| format!("at_{}", self.name_of(bound)));
            let bound = bound.collect::<Vec<_>>().join(", ");
            let path = self.path(part);
            let ty = if bound.is_empty() { path.to_string() } else { format!("{path}<{bound}>") };
            let _ = write!(code, "part!(part_{name}, at_{name}, {ty}, <{ty}>::new({bound})");
            for offered in self.traits(part) {
                let _ = write!(code, ", {offered}");
            }
            code += ");\n";
        }
        let all = 0..self.system.parts.len();
        let begins = all.map(|number| format!("        part_{}.begin();\n", self.name_of(number)));
        code += &END
            .replace("BEGINS", begins.collect::<String>().trim())
            .replace("MAIN", &format!("part_{main}"));
        Ok(code)
    }
}

/// The package's manifest.
pub fn manifest(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [[bin]]\nname = \"{name}\"\npath = \"src/main.rs\"\ntest = false\n\n\
         [dependencies]\n{dependencies}\n\
         [profile.release]\npanic = \"abort\"\nlto = \"fat\"\ncodegen-units = 1\nopt-level = \"s\"\n\
         debug = true\n\n[workspace]\n"
    )
}

const BEGINNING: &str = r#"//! The system NAME, put together by `drystone build`.
//!
//! # Soundness
//!
//! The machine calls `machine_main` once, on one processor. Parts are made as their crates say, and begin in the
//! order in which they require one another.

#![no_std]
#![no_main]
#![allow(non_upper_case_globals, non_camel_case_types, dead_code, unused_unsafe)]

/// Cargo links anew when the layout changes.
const _: &[u8] = include_bytes!("../image.ld");

/// A part's place, a type that leads there, and that it is what it offers.
macro_rules! part {
    ($place:ident, $at:ident, $part:ty, $new:expr $(, $offered:path)*) => {
        // SAFETY: `machine_main` keeps the machine before it uses a part; the system's text says that the ports and
        // the memory in a part's type are there.
        static $place: $part = unsafe { $new };

        #[derive(Clone, Copy)]
        struct $at;

        impl core::ops::Deref for $at {
            type Target = $part;

            #[inline(always)]
            fn deref(&self) -> &$part {
                &$place
            }
        }

        $(const _: fn(&$part) = |part| {
            fn offers(_: &impl $offered) {}
            offers(part);
        };)*
    };
}

/// For parts that have nothing to do when they begin: those that have are `begin` themselves.
trait Begin {
    /// # Safety
    /// Called once, by `machine_main`.
    unsafe fn begin(&self) {}
}

impl<P> Begin for P {}

"#;

const END: &str = r#"
kortex_hal::memory_functions!("");

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    drystone_machine::panic(info)
}

#[unsafe(no_mangle)]
fn machine_main(machine: drystone_machine::Machine) -> ! {
    // SAFETY: see the head of this file.
    unsafe {
        drystone_machine::Pc::keep(machine);
        BEGINS
    }
    drystone_machine::Main::main(&MAIN)
}
"#;
