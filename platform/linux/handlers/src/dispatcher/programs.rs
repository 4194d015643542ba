//! The table of handlers' programs by flow, to which a dispatcher's program jumps (tail calls).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use drystone_extension::bytecode::Definition;

use super::ledger::FLOWS;
use crate::bpf::Map;
use crate::xdp::cant;

/// The table of programs.
#[derive(Debug)]
pub(super) struct Programs {
    pub map: Map,
}

impl Programs {
    pub fn new() -> io::Result<Programs> {
        const PROGRAMS: u32 = 3;
        let entries = FLOWS as u32;
        let definition = Definition { kind: PROGRAMS, key: 4, value: 4, entries, flags: 0, extra: 0 };
        Map::new("programs", definition).map(|map| Programs { map })
    }

    pub fn put(&self, number: u16, program: &OwnedFd) -> Result<(), String> {
        let (key, value) = (u32::from(number).to_ne_bytes(), program.as_raw_fd().to_ne_bytes());
        let put = self.map.set(&key, &value);
        put.map_err(|error| cant("put a handler behind", "dispatcher", &error))
    }

    pub fn clear(&self, number: u16) {
        // The number is one of the table's, and a place that is empty may stay so.
        let _ = self.map.remove(&u32::from(number).to_ne_bytes());
    }
}
