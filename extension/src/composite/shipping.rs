//! The interface by which composite calls are shipped. `docs/src/composite.md` says what its messages mean.
//!
//! ```text
//! INTERFACE CompositeCalls;
//!   { IN Run(program, names, table: TEXT; rounds: INTEGER)
//!     { OUT Stopped(fault, location: INTEGER; why, table: TEXT) IN Resume(table: TEXT; rounds: INTEGER) }
//!     ( OUT Ended(table: TEXT) | OUT Unknown | OUT Refused(why: TEXT) ) }
//! END CompositeCalls;
//! ```

use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};

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

/// What the fingerprint is made of: a test compares it with the interface.
const IDENTITY: &str = "CompositeCalls\nIN Run TEXT TEXT TEXT INTEGER\nOUT Stopped INTEGER INTEGER TEXT TEXT\n\
    IN Resume TEXT INTEGER\nOUT Ended TEXT\nOUT Unknown\nOUT Refused TEXT\n. 0>1\n 1>2 3>0 4>0 5>0\n 2>1\n\n";

/// The interface at the head of this file.
pub static INTERFACE: Interface = Interface {
    name: Str::new("CompositeCalls"),
    fingerprint: Fingerprint::of(IDENTITY),
    messages: Table::new(&MESSAGES),
    next: Table::new(&NEXT),
    states: Table::new(&STATES),
    payload_words: 4,
    queued: 0,
};

#[cfg(test)]
mod tests {
    use drystone_component::wire::identity;

    use super::*;

    #[test]
    fn the_fingerprint_is_that_of_the_interface() {
        assert_eq!(identity(&INTERFACE).as_deref(), Some(IDENTITY));
    }
}
