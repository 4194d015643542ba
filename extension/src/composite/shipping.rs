//! The interface by which composite calls are shipped: docs/src/composite.md says what its messages mean.
//!
//! ```text
//! INTERFACE CompositeCalls;
//!   { IN Run(program, names, table: TEXT; rounds: INTEGER)
//!     { OUT Stopped(fault, location: INTEGER; why, table: TEXT) IN Resume(table: TEXT; rounds: INTEGER) }
//!     ( OUT Ended(table: TEXT) | OUT Unknown | OUT Refused(why: TEXT) ) }
//! END CompositeCalls;
//! ```

use drystone_component::{
    Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type, wire::identity,
};

/// The name under which programs are taken. No component can have it: names of components have no colon.
pub const SERVICE: &str = "drystone:composite";

/// `Run`
pub const RUN: usize = 0;
/// `Stopped`
pub const STOPPED: usize = 1;
/// `Resume`
pub const RESUME: usize = 2;
/// `Ended`
pub const ENDED: usize = 3;
/// `Unknown`
pub const UNKNOWN: usize = 4;
/// `Refused`
pub const REFUSED: usize = 5;

const fn text(name: &'static str) -> Parameter {
    Parameter::new(name, Type::Text)
}

const fn integer(name: &'static str) -> Parameter {
    Parameter::new(name, Type::Integer)
}

static MESSAGES: [Message; 6] = [
    Message::new("Run", Side::Client, &[text("program"), text("names"), text("table"), integer("rounds")]),
    Message::new(
        "Stopped",
        Side::Server,
        &[integer("fault"), integer("location"), text("why"), text("table")],
    ),
    Message::new("Resume", Side::Client, &[text("table"), integer("rounds")]),
    Message::new("Ended", Side::Server, &[text("table")]),
    Message::new("Unknown", Side::Server, &[]),
    Message::new("Refused", Side::Server, &[text("why")]),
];

const NO: u16 = Interface::NONE;

/// Before a program, while one runs, and while one is stopped.
#[rustfmt::skip]
static NEXT: [u16; 18] = [
    1,  NO, NO, NO, NO, NO,
    NO, 2,  NO, 0,  0,  0,
    NO, NO, 1,  NO, NO, NO,
];

static STATES: [u8; 3] =
    [Interface::MAY_END | Interface::CLIENT_SENDS, Interface::SERVER_SENDS, Interface::CLIENT_SENDS];

/// In the place of a fault's number in `Stopped`: the rounds that were allowed are over.
pub const BUDGET: i64 = 100;
/// The same: somebody has cancelled it.
pub const CANCELLED: i64 = 101;

/// See the head of this file.
pub fn interface() -> Interface {
    let mut interface = Interface {
        name: Str::new("CompositeCalls"),
        fingerprint: Fingerprint([0; 2]),
        messages: Table::new(&MESSAGES),
        next: Table::new(&NEXT),
        states: Table::new(&STATES),
        payload_words: 4,
    };
    let identity = identity(&interface).expect("no message carries a component");
    interface.fingerprint = Fingerprint::of(&identity);
    interface
}
