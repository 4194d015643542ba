//! The interface by which programs make calls by number: calls of their domain if the kernel runs them, methods of the
//! server if a server does. The build script, which writes programs for it, includes this file, too.
//!
//! ```text
//! INTERFACE Calls;
//!   { IN Call(number, a, b, c, d: INTEGER) OUT Answer(value: INTEGER) }
//! END Calls;
//! ```

use drystone_component::wire::identity;
use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};

const fn integer(name: &'static str) -> Parameter {
    Parameter::new(name, Type::Integer)
}

const WORDS: &[Parameter] = &[integer("number"), integer("a"), integer("b"), integer("c"), integer("d")];

static MESSAGES: [Message; 2] =
    [Message::new("Call", Side::Client, WORDS), Message::new("Answer", Side::Server, &[integer("value")])];

static NEXT: [u16; 4] = [1, Interface::NONE, Interface::NONE, 0];

static STATES: [u8; 2] = [Interface::MAY_END | Interface::CLIENT_SENDS, Interface::SERVER_SENDS];

/// See the head of this file.
pub fn interface() -> Interface {
    let mut interface = Interface {
        name: Str::new("Calls"),
        fingerprint: Fingerprint([0; 2]),
        messages: Table::new(&MESSAGES),
        next: Table::new(&NEXT),
        states: Table::new(&STATES),
        payload_words: 5,
        queued: 0,
    };
    let identity = identity(&interface).expect("no message carries a component");
    interface.fingerprint = Fingerprint::of(&identity);
    interface
}
