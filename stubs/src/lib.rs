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

mod asked;
mod calls;
pub mod description;
mod messages;
mod names;

use std::path::Path;
use std::{env, fs};

use drystone_component::Fingerprint;
use drystone_component::calls::Calls;
use drystone_language::check::{self, Options};
use drystone_language::imports;
use drystone_language::program::{Interface, InterfaceId, Message, Program, Type};
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;

use names::snake;

/// The runtime's path in generated code.
const RUNTIME: &str = "::drystone_runtime::native";

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
        only_known(interface)?;
        interface.messages.iter().try_for_each(|message| distinct(interface, message))?;
    }
    Ok(all(&program, is_own))
}

/// Refuses messages with sequences, for which there is no type in Rust yet.
fn only_known(interface: &Interface) -> Result<(), String> {
    let has_sequence =
        |message: &&Message| message.values.iter().any(|(_, ty)| matches!(ty, Type::Sequence(_)));
    let Some(message) = interface.messages.iter().find(has_sequence) else { return Ok(()) };
    let (interface, message) = (&interface.name, &message.name);
    Err(format!("{message} of {interface} carries a sequence, which components in Rust can't take yet"))
}

/// Refuses a message of which two values have the same name in Rust: `p_x`, and the field x of a record p.
fn distinct(interface: &Interface, message: &Message) -> Result<(), String> {
    for (index, (value, _)) in message.values.iter().enumerate() {
        let in_rust = names::name(value);
        let same = message.values[..index].iter().find(|(earlier, _)| names::name(earlier) == in_rust);
        if let Some((earlier, _)) = same {
            let (interface, message) = (&interface.name, &message.name);
            return Err(format!(
                "{message} of {interface} carries {earlier} and {value}, which both are {in_rust} in Rust: \
                 rename one of them"
            ));
        }
    }
    Ok(())
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
    text += &messages::both(interface);
    let calls = Calls::of(description::of(program, id));
    text += &messages::sessions(interface, calls.is_ok());
    text += &match calls {
        Ok(calls) => calls::text(interface, &calls),
        Err(_) => "type Direct = ();\n".into(),
    };
    text + "}\n\n"
}

#[cfg(test)]
mod tests {
    use super::generate;

    #[test]
    fn values_with_one_name_in_rust_are_refused() {
        let with = |parameters: &str| {
            let declared = "RECORD Point; x, y: INTEGER END Point;";
            let text = format!("{declared} INTERFACE Draw; {{ IN Line({parameters}) }} END Draw;");
            generate("draw.dry", &text).map(drop)
        };
        assert_eq!(with("p: Point; p_y: REAL"), Err(clash("p.y", "p_y", "p_y")));
        assert_eq!(with("p_x: REAL; p: Point"), Err(clash("p_x", "p.x", "p_x")));
        assert_eq!(with("self, self_: REAL"), Err(clash("self", "self_", "self_")));
        assert_eq!(with("p: Point; q_x, px: REAL"), Ok(()));
    }

    fn clash(a: &str, b: &str, in_rust: &str) -> String {
        format!("Line of Draw carries {a} and {b}, which both are {in_rust} in Rust: rename one of them")
    }
}
