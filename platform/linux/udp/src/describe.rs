//! The description of an interface's datagrams, for programs in other languages.

use drystone_component::{Interface, Side, Type};

use super::service::Service;

/// The interface's form, and its messages with their numbers and the XDR of their parameters, a line each.
///
/// # Errors
/// Why it has no datagrams.
pub fn describe(interface: &'static Interface) -> Result<String, String> {
    let service = Service::new(interface)?;
    let mut text = format!("{} {:#010x}\n", interface.name.get(), service.form);
    for (number, message) in interface.messages.get().iter().enumerate() {
        let direction = if message.sender == Side::Client { "IN" } else { "OUT" };
        text += &format!("{number} {direction} {}", message.name.get());
        for (place, parameter) in message.parameters.get().iter().enumerate() {
            let before = if place == 0 { ":" } else { "," };
            text += &format!("{before} {} {}", xdr(parameter.ty), parameter.name.get());
        }
        text.push('\n');
    }
    Ok(text)
}

fn xdr(ty: Type) -> &'static str {
    match ty {
        Type::Boolean => "bool",
        Type::Character => "unsigned int",
        Type::Integer => "hyper",
        Type::Real => "double",
        Type::Text => "opaque<>",
        Type::Component | Type::Sequence => unreachable!("interfaces with such messages have no datagrams"),
    }
}
