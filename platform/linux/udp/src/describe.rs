//! The description of an interface's datagrams, for programs in other languages.

use drystone_component::form::{Form, Kind};
use drystone_component::{Interface, Side};

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
            text += &format!("{before} {} {}", xdr(Form::of(parameter)), parameter.name.get());
        }
        text.push('\n');
    }
    Ok(text)
}

fn xdr(form: Form<'_>) -> String {
    match form.kind() {
        Kind::Boolean => "bool".into(),
        Kind::Character => "unsigned int".into(),
        Kind::Integer => "hyper".into(),
        Kind::Real => "double".into(),
        Kind::Text => "opaque<>".into(),
        Kind::Sequence(element) => xdr(element) + "<>",
        Kind::Record(fields) => {
            let fields: Vec<String> = fields.map(|(name, form)| format!("{} {name};", xdr(form))).collect();
            match fields.is_empty() {
                true => "struct { int nothing; }".into(),
                false => format!("struct {{ {} }}", fields.join(" ")),
            }
        }
    }
}
