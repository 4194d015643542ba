//! Handlers that are ready to run in Drystone's engines.
//!
//! `unsafe` here: engines run verified programs, for which the contract holds: helpers are those of [`terms`], own
//! memory has the size that they say, values of tables don't move, and each run begins with a context.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::arrival::{Arrival, Sent};
use super::frame::Frame;
use super::image::{Image, Machine};
use super::pipes::Through;
use super::tables::Table;
use super::{helpers, terms};
use crate::Guard;
use crate::bytecode;
use crate::engine::{Context, Executable, Memory, Platform, State, Stop};
use crate::verifier::verify;
use crate::xdp;

/// What becomes of a message: Linux's `XDP_...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The handler reports a fault of its own. The message is dropped.
    Aborted,
    /// The message is dropped: it is processed, or unwanted.
    Drop,
    /// The message is processed as if there were no handler. A handler that has undone its changes says so too (a
    /// voluntary abort).
    Pass,
    /// The message goes back to the device that it came from, as it is now.
    Transmit,
}

impl Verdict {
    /// The verdict with Linux's number. Unknown numbers are [`Verdict::Aborted`], as on Linux.
    pub fn from_number(number: u64) -> Verdict {
        match number as u32 {
            xdp::DROP => Verdict::Drop,
            xdp::PASS => Verdict::Pass,
            xdp::TRANSMIT => Verdict::Transmit,
            _ => Verdict::Aborted,
        }
    }
}

/// How a run of a handler has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The handler returned.
    With(Verdict),
    /// The handler was stopped (an involuntary abort). The message is as it came, and nothing is sent; the handler's
    /// region and tables may have changed.
    Stopped(Stop),
}

/// How a handler runs.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The budget of a run: rounds of loops that aren't proved to be short. More of them stop the handler.
    pub budget: u64,
    /// An unpredictable number: it blinds constants, and seeds tables and random numbers.
    pub key: u64,
    /// Whether it is interpreted also where it could be compiled.
    pub interpreted: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { budget: 1 << 14, key: 0, interpreted: false }
    }
}

/// A verified handler with its engine, tables and memory.
pub struct Handler {
    name: String,
    names: Vec<String>,
    engine: Executable<Arrival>,
    arrival: Arrival,
    memory: Memory,
    budget: u64,
    /// What the last run has left of it.
    left: u64,
    /// The message as it came, if the handler may be stopped.
    kept: Option<Vec<u8>>,
}

impl Handler {
    /// Makes a handler of an object file ([`Image::read`]), with a region of its own.
    ///
    /// # Errors
    /// What is wrong with the file, or why the verifier refuses the program, in words for people.
    pub fn new(bytes: &[u8], entry: Option<&str>, settings: Settings) -> Result<Handler, String> {
        Handler::of(&Image::read(bytes, entry, Machine::Drystone)?, settings)
    }

    /// Makes a handler of an image, with a region of its own.
    ///
    /// # Errors
    /// As for [`Handler::new`].
    pub fn of(image: &Image, settings: Settings) -> Result<Handler, String> {
        let memory = Memory::new(image.region_bytes() as usize);
        Handler::with_region(image, memory, Memory::BEGIN, settings)
    }

    /// Makes a handler whose region is `memory`, which may be shared with the application. Pointers to it are the same
    /// for both: `address` is the region's in the application, a multiple of its length ([`Image::region_bytes`]),
    /// below 4 GiB.
    ///
    /// # Errors
    /// As for [`Handler::new`].
    pub fn with_region(
        image: &Image,
        mut memory: Memory,
        address: u64,
        settings: Settings,
    ) -> Result<Handler, String> {
        let bytes = image.region_bytes();
        if bytes as usize > memory.size() {
            return Err(format!("its region needs {bytes} bytes, and {} were given", memory.size()));
        }
        let slots = image.lowered(address);
        let program = bytecode::Program::decode(&slots).map_err(|error| error.what)?;
        let mut tables = tables(image, settings.key)?;
        let contract = terms::contract(image, &mut tables, bytes)?;
        let verified = verify(program, &contract).map_err(|rejection| format!("{rejection}"))?;
        if let Some(number) = image.region() {
            let begins_with = &image.maps[number].bytes;
            memory.own_mut()[..begins_with.len()].copy_from_slice(begins_with);
        }
        let values: Vec<u64> = tables.iter_mut().map(|table| first_value(table, &memory)).collect();
        let pipes = image.pipes.iter().map(|pipe| Through::new(pipe, settings.interpreted));
        let pipes = pipes.collect::<Result<Vec<_>, _>>()?;
        let helpers = helpers::table();
        let platform = Platform { helpers: &helpers, values: &values, memory: memory.size() };
        let key = (!settings.interpreted).then_some(settings.key);
        // SAFETY: the contract holds: see the head of this file.
        let engine = unsafe { Executable::new(&verified, platform, key)? };
        let may_stop = verified.guards().iter().any(|guard| matches!(guard, Guard::Budget | Guard::Check));
        Ok(Handler {
            name: image.name.clone(),
            names: image.maps.iter().map(|map| map.name.clone()).collect(),
            engine,
            arrival: Arrival::new(tables, pipes, settings.key),
            memory,
            budget: settings.budget,
            left: settings.budget,
            kept: may_stop.then(Vec::new),
        })
    }

    /// The name of its function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it can be stopped, because it has loops that aren't proved to be short.
    pub fn may_be_stopped(&self) -> bool {
        self.kept.is_some()
    }

    /// Runs it for a message that has arrived at this interface and queue. `now` is the machine's clock in nanoseconds.
    pub fn run(&mut self, frame: &mut Frame<'_>, (interface, queue): (u32, u32), now: u64) -> Ended {
        let Handler { engine, arrival, memory, budget, left, kept, .. } = self;
        arrival.sent.clear();
        (arrival.seen.interface, arrival.seen.queue, arrival.now) = (interface, queue, now);
        let before = frame.range();
        if let Some(kept) = kept {
            kept.clear();
            kept.extend_from_slice(frame.bytes());
        }
        // SAFETY: the frame is borrowed until after `leave`, and not accessed before.
        unsafe { arrival.enter(frame, memory) };
        let seen = memory.address_of(&raw const arrival.seen);
        let mut context = Context::new(State::new([seen, 0, 0, 0, 0], *budget), memory, arrival);
        let result = engine.run(&mut context);
        *left = context.state().budget();
        arrival.leave();
        match result {
            Ok(number) => Ended::With(Verdict::from_number(number)),
            Err(stop) => {
                arrival.sent.clear();
                if let Some(kept) = kept {
                    frame.restore(before, kept);
                }
                Ended::Stopped(stop)
            }
        }
    }

    /// The messages that its last run sent, in order.
    pub fn sent(&self) -> &[Sent] {
        &self.arrival.sent
    }

    /// How many rounds of loops the last run has taken from the budget.
    pub fn rounds(&self) -> u64 {
        self.budget - self.left
    }

    /// A table, by its name in the file.
    pub fn table(&mut self, name: &str) -> Option<&mut Table> {
        let number = self.names.iter().position(|it| it == name)?;
        self.arrival.tables.get_mut(number)
    }

    /// The region, if nobody shares it.
    pub fn region(&mut self) -> &mut [u8] {
        self.memory.own_mut()
    }
}

fn tables(image: &Image, key: u64) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    for map in &image.maps {
        let mut table = Table::new(&map.name, &Image::definition(map), key)?;
        if let (None, Some(value)) = (map.definition, table.get(&[0; 4])) {
            value.copy_from_slice(&map.bytes);
        }
        tables.push(table);
    }
    Ok(tables)
}

/// The program's address of a table's first value, which constants refer to.
fn first_value(table: &mut Table, memory: &Memory) -> u64 {
    match table {
        Table::Array(array) => array.get(0).map_or(0, |value| memory.address_of(value.as_mut_ptr())),
        _ => 0,
    }
}
