//! `drystone describe`: an interface in the words of others.

use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};
use drystone_language::ast::Direction;
use drystone_language::program::{self as checked, InterfaceId, Program};
use drystone_linux::bindings::onc;

use crate::arguments::{Describe, Source};
use crate::{Status, fail, sources, write};

/// Writes it.
pub fn describe(command: &Describe) -> Result<(), Status> {
    let source = Source { files: vec![command.file.clone()], entry: None };
    let program = sources::load_part(&source)?.program;
    let declared = program.interfaces.iter().position(|interface| interface.name == command.interface);
    let index = declared.ok_or_else(|| {
        fail(format_args!("{}: there is no interface {}", command.file.display(), command.interface))
    })?;
    let interface = described(&program, InterfaceId(index as u32));
    let text = as_onc(interface, &command.options).map_err(fail)?;
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

/// A checked interface as a running program knows it. It lives for ever, like those of programs.
fn described(program: &Program, id: InterfaceId) -> &'static Interface {
    let interface = &program.interfaces[id.index()];
    let messages: Vec<Message> = interface.messages.iter().map(message).collect();
    let next = |state: &checked::State| {
        let mut next = vec![Interface::NONE; messages.len()];
        state.transitions.iter().for_each(|&(message, to)| next[message] = to as u16);
        next
    };
    let state = |state: &checked::State| {
        let sender = state.transitions.first().map(|&(message, _)| messages[message].sender);
        u8::from(state.may_end) * Interface::MAY_END
            + u8::from(sender == Some(Side::Client)) * Interface::CLIENT_SENDS
            + u8::from(sender == Some(Side::Server)) * Interface::SERVER_SENDS
    };
    let payload_words = messages.iter().map(|message| message.parameters.length).max().unwrap_or(0);
    Box::leak(Box::new(Interface {
        name: name(&interface.name),
        fingerprint: Fingerprint::of(&program.identity(id)),
        next: leaked(interface.states.iter().flat_map(next).collect()),
        states: leaked(interface.states.iter().map(state).collect()),
        messages: leaked(messages),
        payload_words,
    }))
}

fn message(message: &checked::Message) -> Message {
    let parameter = |(text, ty): &(String, checked::Type)| Parameter { name: name(text), ty: type_of(ty) };
    let sender = if message.direction == Direction::In { Side::Client } else { Side::Server };
    let parameters = leaked(message.parameters.iter().map(parameter).collect());
    Message { name: name(&message.name), sender, parameters }
}

fn type_of(ty: &checked::Type) -> Type {
    match ty {
        checked::Type::Boolean => Type::Boolean,
        checked::Type::Character => Type::Character,
        checked::Type::Integer => Type::Integer,
        checked::Type::Real => Type::Real,
        checked::Type::Text => Type::Text,
        checked::Type::Component(_) | checked::Type::Any(_) => Type::Component,
    }
}

fn leaked<T>(entries: Vec<T>) -> Table<T> {
    Table::new(entries.leak())
}

fn name(text: &str) -> Str {
    Str::new(String::from(text).leak())
}
