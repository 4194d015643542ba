//! A peer that sends anything.

#![no_main]

use drystone_component::subtype::serves;
use drystone_component::wire::{Arrival, Connection, Description, Event, Handle, Limits, Role, Sink, decode};
use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};

const fn parameter(ty: Type) -> Parameter {
    Parameter::new("x", ty)
}

static TALK: Interface = Interface {
    name: Str::new("Talk"),
    fingerprint: Fingerprint::of(
        "Talk\nIN Say INTEGER TEXT BOOLEAN\nOUT Heard CHARACTER REAL TEXT\n. 0>1\n 1>0\n\n",
    ),
    messages: Table::new(&[
        Message {
            name: Str::new("Say"),
            sender: Side::Client,
            parameters: Table::new(&[
                parameter(Type::Integer),
                parameter(Type::Text),
                parameter(Type::Boolean),
            ]),
            marshalling: None,
        },
        Message {
            name: Str::new("Heard"),
            sender: Side::Server,
            parameters: Table::new(&[
                parameter(Type::Character),
                parameter(Type::Real),
                parameter(Type::Text),
            ]),
            marshalling: None,
        },
    ]),
    next: Table::new(&[1, Interface::NONE, Interface::NONE, 0]),
    states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS, Interface::SERVER_SENDS]),
    payload_words: 3,
    queued: 0,
};

/// Counts the bytes of texts.
struct Length(usize);

impl Sink for Length {
    fn integer(&mut self, _: i64) -> Result<(), String> {
        Ok(())
    }

    fn real(&mut self, _: f64) -> Result<(), String> {
        Ok(())
    }

    fn byte(&mut self, _: u8) -> Result<(), String> {
        Ok(())
    }

    fn text(&mut self, value: &[u8]) -> Result<(), String> {
        self.0 += value.len();
        Ok(())
    }
}

const HELLO: [u8; 28] = *b"\0\0\0\x10\0\x01\0\x01Drys\0\0\0\x02\0\0\0\x40\0\0\0\x40\0\0\0\x03";

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(description) = Description::decode(bytes) {
        let mut again = Vec::new();
        description.encode(&mut again);
        assert_eq!(again, bytes);
        let _ = (serves(&description, &TALK), serves(&TALK, &description), description.to_string());
    }
    let [choice, bytes @ ..] = bytes else { return };
    let role = if choice & 1 == 0 { Role::Dialer } else { Role::Acceptor };
    let limits = Limits { messages: 2, bytes: 100, largest: 80, communications: 3, sum: 400 };
    let mut connection = Connection::new(role, limits);
    let mut handles = vec![connection.open(b"talk", &TALK, 0), connection.open(b"talk", &TALK, 0)];
    connection.describe(b"talk");
    if choice & 2 == 0 {
        connection.feed(&HELLO);
    }
    let pieces = 1 + usize::from(choice >> 4);
    for (turn, piece) in bytes.chunks(pieces * pieces).enumerate() {
        connection.feed(piece);
        while let Some(event) = connection.poll() {
            match event {
                Event::Offered { handle, name } if name.len() % 4 == 0 => {
                    if connection.accept(handle, &TALK, 0) {
                        handles.push(handle);
                    }
                }
                Event::Offered { handle, .. } => connection.refuse(handle, "not here"),
                Event::Asked { request, .. } => connection.answer(request, Ok(&TALK)),
                _ => {}
            }
        }
        handles.retain(|handle| talk(&mut connection, *handle, choice & 4 == 0));
        if turn % 8 == 7 {
            let count = connection.output().len();
            connection.sent(count);
        }
    }
    if connection.failure().is_none() {
        connection.lost("over");
    }
    handles.into_iter().for_each(|handle| connection.close(handle));
    assert_eq!(connection.communications(), 0);
});

/// Takes a message and answers; whether the communication goes on.
fn talk(connection: &mut Connection, handle: Handle, answers: bool) -> bool {
    match connection.arrival(handle) {
        Arrival::Nothing => return true,
        Arrival::Message(message) => {
            let types = TALK.messages.get()[message].types();
            let mut length = Length(0);
            let (values, _) = connection.take(handle, |bytes| decode(types, bytes, &mut length));
            if values.is_err() {
                connection.abandon(handle, "no values");
                return false;
            }
            assert!(length.0 <= 80);
            if answers && connection.has_room(handle) {
                let fill = |out: &mut Vec<u8>| {
                    out.extend_from_slice(&[0; 16]);
                    Ok(())
                };
                let _ = connection.send(handle, 1 - message, fill);
            }
            return true;
        }
        Arrival::Closed | Arrival::Lost(_) => connection.close(handle),
    }
    false
}
