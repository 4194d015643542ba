//! `drystone describe`: an interface in the notation of another protocol, such as ONC RPC's.

use drystone_component::Interface;
use drystone_language::program::InterfaceId;
use drystone_stubs::description;
use {drystone_onc as onc, drystone_udp as udp};

use crate::arguments::Describe;
use crate::output::{Status, fail, write};
use crate::sources;

/// Writes it.
pub fn describe(command: &Describe) -> Result<(), Status> {
    let program = sources::load_part(&command.file)?.program;
    let declared = program.interfaces.iter().position(|interface| interface.name == command.interface);
    let index = declared.ok_or_else(|| {
        fail(format_args!("{}: there is no interface {}", command.file.display(), command.interface))
    })?;
    let interface = description::of(&program, InterfaceId(index as u32));
    let text = if command.udp { udp::describe(interface) } else { as_onc(interface, &command.options) };
    let text = text.map_err(fail)?;
    write(command.output.as_deref(), &text)
}

fn as_onc(interface: &'static Interface, options: &[String]) -> Result<String, String> {
    let mut all = onc::Options::default();
    for option in options {
        let (name, value) =
            option.split_once('=').ok_or_else(|| format!("--with {option}: OPTION=VALUE is needed"))?;
        all.set(name, value)?;
    }
    Ok(onc::print(&onc::Service::new(interface, &all)?))
}
