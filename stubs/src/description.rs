//! The runtime's description of a checked interface, made without compiling its program: for build scripts and for
//! `drystone describe`. It is leaked, because the descriptions of compiled programs live for ever, too.

use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};
use drystone_language::ast::Direction;
use drystone_language::program::{self, InterfaceId, Program};

fn leak<T>(all: Vec<T>) -> Table<T> {
    Table::new(all.leak())
}

fn text(text: &str) -> Str {
    Str::new(text.to_string().leak())
}

fn ty(ty: &program::Type) -> Type {
    match ty {
        program::Type::Boolean => Type::Boolean,
        program::Type::Character => Type::Character,
        program::Type::Integer => Type::Integer,
        program::Type::Real => Type::Real,
        program::Type::Text => Type::Text,
        program::Type::Record(_) => unreachable!("a message carries the fields of records"),
        program::Type::Sequence(_) => Type::Sequence,
        program::Type::Component(_) | program::Type::Any(_) => Type::Component,
    }
}

fn message(program: &Program, message: &program::Message) -> Message {
    let parameters = message.values.iter().map(|(name, of)| {
        let form = if matches!(of, program::Type::Sequence(_)) { program.form(of) } else { String::new() };
        Parameter { name: text(name), ty: ty(of), form: text(&form) }
    });
    Message {
        name: text(&message.name),
        sender: if message.direction == Direction::In { Side::Client } else { Side::Server },
        parameters: leak(parameters.collect()),
        marshalling: None,
    }
}

/// The description of an interface.
pub fn of(program: &Program, id: InterfaceId) -> &'static Interface {
    let program::Interface { name, messages, states, .. } = &program.interfaces[id.index()];
    let described: Vec<Message> = messages.iter().map(|it| message(program, it)).collect();
    let (next, states) = Interface::automaton(
        &described,
        states.iter().map(|state| {
            let transitions = state.transitions.iter();
            (state.may_end, transitions.map(|&(message, to)| (message, to as u16)))
        }),
    );
    Box::leak(Box::new(Interface {
        name: text(name),
        fingerprint: Fingerprint::of(&program.identity(id)),
        payload_words: messages.iter().map(|message| message.values.len()).max().unwrap_or(0),
        queued: 0,
        messages: leak(described),
        next: leak(next),
        states: leak(states),
    }))
}
