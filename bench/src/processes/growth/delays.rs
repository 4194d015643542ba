//! Measures how long other processes wait during an uninterrupted operation of the runtime.

use std::time::Duration;

use super::trial::{Trial, figure, repeated};
use crate::row::{Row, Tell};

/// The operations, in the program's order of numbers.
const OPERATIONS: [&str; 33] = [
    "nothing",
    "delete 10^6 servers",
    "delete a holder of 10^6",
    "delete 10^6 texts, dense",
    "delete 10^6 texts, sparse",
    "NEW of an array of 10^8",
    "remove from the middle of 10^6",
    "join 10^6 by one in the middle",
    "first FOREACH of 65000 numbers",
    "first FOREACH of 65000 texts",
    "+ to 100 MB",
    "+ to 100 MB that another shares",
    "change 100 MB that another shares",
    "FIND in 100 MB",
    "compare 100 MB",
    "SLICE of 100 MB",
    "NEW of a text of 100 MB",
    "end a holder of 10^6 by force",
    "delete 10^6 clients of a server",
    "delete a client with 10^6 slots",
    "find by a text of 100 MB",
    "free a text of 100 MB",
    "a chain of 25 procedures, each calling the one before twice",
    "AWAIT a function of 5·10^7 steps",
    "let go of a lock for which such a condition waits",
    "connect 20000 relays from the client's end, and undo it",
    "24 keys of 20 MB",
    "NUMBER of 100 MB, ten times",
    "WRITE of 100 MB",
    "WriteText of 100 MB",
    "ReadLine of 100 MB",
    UNREAD,
    "a block of 100 MB is written, brought to the disk, read, and its file deleted",
];

/// The operation that writes to a pipe.
const UNREAD: &str = "WRITE to a pipe that nobody reads";
/// More time than the program needs until it only waits for the pipe.
const UNREAD_TIME: Duration = Duration::from_millis(1500);

/// The bound in milliseconds: a time slice, and the clock's resolution.
const BOUND: f64 = 2.0;

/// Measures row after row.
pub fn measure(tell: Tell) -> Result<(), String> {
    for (number, operation) in OPERATIONS.iter().enumerate() {
        let sizes = [("Operation", number as u64)];
        let trials = repeated(|| match *operation {
            UNREAD => Trial::of_unread_program("delay", &sizes, UNREAD_TIME),
            _ => Trial::of_program("delay", &sizes, 0),
        });
        tell(Row {
            drystone: figure(&trials, "delay"),
            target: Some(BOUND),
            ..Row::new(format!("delay {operation}"), "ms")
        })?;
    }
    Ok(())
}
