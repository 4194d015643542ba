//! Interfaces for tests and fuzzers of protocols.

use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};

const fn parameter(name: &'static str, ty: Type) -> Parameter {
    Parameter::new(name, ty)
}

/// A parameter of each type.
pub static ALL: [Parameter; 5] = [
    parameter("b", Type::Boolean),
    parameter("c", Type::Character),
    parameter("i", Type::Integer),
    parameter("r", Type::Real),
    parameter("t", Type::Text),
];

const fn sequence(name: &'static str, form: &'static str) -> Parameter {
    Parameter { form: Str::new(form), ..parameter(name, Type::Sequence) }
}

/// Sequences of numbers, of records within records, of sequences of texts, and of records without fields.
pub static SEQUENCES: [Parameter; 4] = [
    sequence("numbers", "[i"),
    sequence("points", "[(name:t,at:(x:r,y:i),is:b,rest:[(c:c))"),
    sequence("texts", "[[t"),
    sequence("nothings", "[()"),
];

const fn message(name: &'static str, parameters: &'static [Parameter]) -> Message {
    Message {
        name: Str::new(name),
        sender: Side::Client,
        parameters: Table::new(parameters),
        marshalling: None,
    }
}

/// `{ IN Say(..) IN Heard }`
pub static TOLD: Interface = Interface {
    name: Str::new("Told"),
    fingerprint: Fingerprint([0, 0]),
    messages: Table::new(&[message("Say", &ALL), message("Heard", &[])]),
    next: Table::new(&[]),
    states: Table::new(&[]),
    payload_words: 5,
    queued: 0,
};

/// `{ IN Ask(..) ( OUT Told(..) | OUT Silent ) | IN Note(..) }`
pub static ASKED: Interface = Interface {
    name: Str::new("Asked"),
    fingerprint: Fingerprint([0, 0x1234_5678_0000_0000]),
    messages: Table::new(&[
        message("Ask", &ALL),
        Message { sender: Side::Server, ..message("Told", &ALL) },
        Message { sender: Side::Server, ..message("Silent", &[]) },
        message("Note", &ALL),
    ]),
    next: Table::new(&[1, NONE, NONE, 0, NONE, 0, 0, NONE]),
    states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS, Interface::SERVER_SENDS]),
    payload_words: 5,
    queued: 0,
};

const NONE: u16 = Interface::NONE;
