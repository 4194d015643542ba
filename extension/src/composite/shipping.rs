//! The interface by which composite calls are shipped. `docs/src/composite.md` says what its messages mean.
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

/// The name under which a server takes programs. No component can have it, because of the colon.
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

/// The states of the protocol: before a program, while it runs, and while it is stopped.
#[rustfmt::skip]
static NEXT: [u16; 18] = [
    1,  NO, NO, NO, NO, NO,
    NO, 2,  NO, 0,  0,  0,
    NO, NO, 1,  NO, NO, NO,
];

static STATES: [u8; 3] =
    [Interface::MAY_END | Interface::CLIENT_SENDS, Interface::SERVER_SENDS, Interface::CLIENT_SENDS];

/// In place of a fault's number in `Stopped`: the allowed rounds are used up.
pub const BUDGET: i64 = 100;
/// In place of a fault's number in `Stopped`: the run was cancelled.
pub const CANCELLED: i64 = 101;

/// The interface at the head of this file.
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
