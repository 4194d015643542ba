//! Interfaces for tests, from what the component language says.

use drystone_component::Interface;
use drystone_language::check::{Options, check};
use drystone_language::program::InterfaceId;
use drystone_language::source::SourceFile;
use drystone_stubs::description;

/// The interface `Tested` with this protocol.
pub fn interface(protocol: &str) -> &'static Interface {
    let text = format!("INTERFACE Tested; {protocol} END Tested;\n");
    let file = SourceFile { path: "tested.dry".into(), text };
    let program =
        check(&[file], Options::default().part()).unwrap_or_else(|errors| panic!("{protocol}: {errors:?}"));
    let index = program.interfaces.iter().position(|interface| interface.name == "Tested");
    description::of(&program, InterfaceId(index.expect("it is declared") as u32))
}
