//! Writes the messages of the system's interfaces for the Rust side, from their declarations in the component language.

use std::path::Path;
use std::{env, fs};

use drystone_component::Fingerprint;
use drystone_language::check;
use drystone_language::program::{Interface, InterfaceId, Program};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let (program, _) = check::system();
    let all = (0..program.interfaces.len() as u32).map(InterfaceId);
    let text: String = all.map(|id| declaration(&program, id)).collect();
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("interfaces.rs"), text).expect("the build folder can be written");
}

fn declaration(program: &Program, id: InterfaceId) -> String {
    let Interface { name, messages, .. } = &program.interfaces[id.index()];
    let Fingerprint([low, high]) = Fingerprint::of(&program.identity(id));
    let messages = messages.iter().map(|message| message.name.as_str()).collect::<Vec<_>>().join(", ");
    format!("interface! {{\n    pub(crate) {name} [{low:#x}, {high:#x}] {{ {messages} }}\n}}\n\n")
}
