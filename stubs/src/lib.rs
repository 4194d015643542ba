//! Generates Rust modules for interfaces that are declared in the component language. A build script calls [`build`]:
//!
//! ```no_run
//! // build.rs
//! drystone_stubs::build("interfaces.dry");
//! ```
//!
//! and the crate includes what it has written:
//!
//! ```ignore
//! include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
//! ```
//!
//! The file has a module for each interface, with its name in small letters:
//!
//! * `In` and `Out`, the messages of clients and servers; `Server` and `Client`, sessions of either side, with a method
//!   to send each message; `session`, which serves a client by asynchronous code.
//! * If the interface consists of requests and replies: a trait of its name with a method for each call; a trait whose
//!   name ends in `Later`, for objects that may have to wait before they answer; `serve`, which serves a client by such
//!   an object; and the same methods on `Client`.
//!
//! Before these stands a struct for each record that they use. A sequence is a `Vec`.

mod asked;
mod calls;
pub mod description;
mod messages;
mod names;
mod records;

use std::path::Path;
use std::{env, fs};

use drystone_component::Fingerprint;
use drystone_component::calls::Calls;
use drystone_language::check::{self, Options};
use drystone_language::imports;
use drystone_language::program::{Interface, InterfaceId, Message, Program};
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;

use names::{RUNTIME, Types, snake};

/// For build scripts: writes `interfaces.rs` to the build's output folder, from a file in the component language.
///
/// # Panics
/// The file can't be read, or is wrong: the message says how.
pub fn build(path: impl AsRef<Path>) {
    let path = path.as_ref();
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    write(&generate(&path.display().to_string(), &text).unwrap_or_else(|errors| panic!("\n{errors}")));
}

/// For the platform's build script: the same for the system's own interfaces.
///
/// # Panics
/// The output folder can't be written.
pub fn build_system() {
    let (program, _) = check::system();
    write(&all(&program, |_| true));
}

fn write(text: &str) {
    let out = env::var_os("OUT_DIR").expect("build scripts call this: cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("interfaces.rs"), text).expect("the build folder can be written");
}

/// The Rust modules of all interfaces that a text in the component language declares.
///
/// # Errors
/// The errors in the text, for people; `path` is the file's name in them.
pub fn generate(path: &str, text: &str) -> Result<String, String> {
    let files = vec![SourceFile { path: path.into(), text: text.into() }];
    let files = imports::load(files, |path| fs::read_to_string(path).ok());
    let program = check::check(&files, Options::default().part().beside_crates())
        .map_err(|errors| render(&files, &errors, Colour::Plain))?;
    let (system, _) = check::system();
    let is_own = |interface: &Interface| !system.interfaces.iter().any(|known| known.name == interface.name);
    for interface in program.interfaces.iter().filter(|interface| is_own(interface)) {
        interface.messages.iter().try_for_each(|message| distinct(interface, message))?;
    }
    let used = program.interfaces.iter().filter(|interface| is_own(interface));
    let records = records::all(&program, used)?;
    Ok(records + &all(&program, is_own))
}

/// Refuses a message of which two parameters have the same name in Rust.
fn distinct(interface: &Interface, message: &Message) -> Result<(), String> {
    let (interface, names) = (&interface.name, message.parameters.iter().map(|(name, _)| name.as_str()));
    names::clash(names).map_err(|why| format!("{} of {interface} carries {why}", message.name))
}

fn all(program: &Program, is_wanted: impl Fn(&Interface) -> bool) -> String {
    let ids = (0..program.interfaces.len() as u32).map(InterfaceId);
    let wanted = ids.filter(|id| is_wanted(&program.interfaces[id.index()]));
    wanted.map(|id| module(program, id)).collect()
}

/// An interface's module.
fn module(program: &Program, id: InterfaceId) -> String {
    let interface = &program.interfaces[id.index()];
    let name = &interface.name;
    let Fingerprint([low, high]) = Fingerprint::of(&program.identity(id));
    let mut text = format!(
        "/// Interface {name}.\n\
         #[allow(clippy::all, unreachable_patterns, unused_imports, unused_mut, unused_variables, dead_code, \
         non_snake_case, non_camel_case_types)]\n\
         pub mod {module} {{\n\
         use {RUNTIME} as native;\n\
         use native::{{Message as _, Part, Text}};\n\
         use ::core::task::Poll;\n\
         /// Which interface it is.\n\
         pub static DECLARATION: native::Declaration = native::Declaration {{\n\
         name: {name:?}, fingerprint: native::Fingerprint([{low:#x}, {high:#x}]) }};\n",
        module = snake(name),
    );
    let types = Types(program);
    text += &messages::both(types, interface);
    let calls = Calls::of(description::of(program, id));
    text += &messages::sessions(types, interface, calls.is_ok());
    text += &match calls {
        Ok(calls) => calls::text(types, interface, &calls),
        Err(_) => "type Direct = ();\n".into(),
    };
    text + "}\n\n"
}

#[cfg(test)]
mod tests {
    use super::generate;

    fn declared(records: &str, parameters: &str) -> Result<(), String> {
        let text = format!("{records} INTERFACE Draw; {{ IN Line({parameters}) }} END Draw;");
        generate("draw.dry", &text).map(drop)
    }

    #[test]
    fn names_that_are_one_in_rust_are_refused() {
        let point = "RECORD Point; x, y: INTEGER END Point;";
        assert_eq!(
            declared(point, "self, self_: REAL").unwrap_err(),
            "Line of Draw carries self and self_, which both are self_ in Rust: rename one of them"
        );
        assert_eq!(
            declared("RECORD Odd; self_, self: INTEGER END Odd;", "x: SEQUENCE OF Odd").unwrap_err(),
            "the record Odd has self_ and self, which both are self_ in Rust: rename one of them"
        );
        assert_eq!(declared(point, "p: Point; p_x: REAL"), Ok(()));
    }

    #[test]
    fn records_of_one_name_are_refused_unless_they_are_the_same() {
        let with = |fields: &str| {
            let of = |fields: &str| format!("RECORD P; {fields} END P;");
            let text = format!(
                "COMPONENT A OFFERS I; {} INTERFACE I; {{ IN M(p: P) }} END I;
                 IMPLEMENTATION I; VARIABLE p: P; BEGIN WHILE ?M DO ?M(p) END END I; END A;
                 COMPONENT B OFFERS J; {} INTERFACE J; {{ IN M(p: P) }} END J;
                 IMPLEMENTATION J; VARIABLE p: P; BEGIN WHILE ?M DO ?M(p) END END J; END B;",
                of("x: INTEGER"),
                of(fields)
            );
            generate("two.dry", &text).map(|text| text.matches("pub struct P ").count())
        };
        assert_eq!(with("x: INTEGER"), Ok(1));
        let why = "two records P are used by interfaces, which both are P in Rust: rename one of them";
        assert_eq!(with("x: REAL"), Err(why.into()));
    }
}
