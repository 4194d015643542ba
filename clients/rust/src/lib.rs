//! Ships composite calls to a Drystone program (*composite calls* (Ballesteros); docs/src/composite.md). Programs are
//! written with [`composite::builder`]:
//!
//! ```no_run
//! use drystone_client::Server;
//! use drystone_client::composite::{VarTable, builder::*};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut server = Server::connect("127.0.0.1:7000")?;
//! let vars = Builder::new();
//! let count = vars.communication(&server.describe("count")?);
//! let n = vars.both::<i64>();
//! let program = vars.program(repeat(&vars, 100, count.call("Next", (n,), "Then", (n,))))?;
//! let mut table = VarTable::of(&program)?;
//! table.assign(n, 1)?;
//! let outcome = server.run(&program, &["count"], table, 1000)?;
//! println!("{:?}", outcome.table().value(n));
//! # Ok(())
//! # }
//! ```
//!
//! A record in a message is its fields, one value after the other. A sequence is held by a variable of the type
//! `Text`: [`held`] makes its value, and [`elements`] reads it.
#![forbid(unsafe_code)]

mod calls;
mod error;
mod interface;
mod line;
mod values;

use std::collections::BTreeSet;
use std::io;
use std::net::ToSocketAddrs;

use drystone_component::wire::{Description, Handle, Reader, put_opaque, put_u64};
use drystone_extension::composite::shipping::{
    self, BUDGET, CANCELLED, ENDED, REFUSED, RESUME, RUN, SERVICE, STOPPED, UNKNOWN,
};
use drystone_extension::composite::{Fault, Hash, Program, Refusal, VarTable};

pub use drystone_extension::composite;

pub use self::calls::Calls;
pub use self::error::Error;
pub use self::values::{Listed, elements, held};

use self::line::Line;

/// A connection to a Drystone program, which runs the programs that are shipped to it one after the other.
pub struct Server {
    line: Line,
    service: Option<Handle>,
    /// The programs that the server knows.
    known: BTreeSet<Hash>,
    /// Whether the server keeps a stopped run, which may be resumed.
    is_stopped: bool,
}

/// The outcome of a run.
#[derive(Debug)]
pub enum Outcome {
    /// It ran to its end; these are the variables that come back.
    Ended(VarTable),
    /// It stopped early, and may be resumed.
    Stopped {
        /// The reason as a value.
        why: Stop,
        /// Where it stopped: for programs of the builder, the line of the call that built the statement.
        location: u32,
        /// The reason as a sentence.
        sentence: String,
        /// The variables that come back, with their present values.
        table: VarTable,
    },
}

/// Why a program has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An error.
    Fault(Fault),
    /// Its limit of loop rounds is used up.
    Budget,
    /// It was cancelled.
    Cancelled,
}

impl From<Refusal> for Error {
    fn from(Refusal(why): Refusal) -> Error {
        Error::Refused(why)
    }
}

impl Outcome {
    /// The variables, whatever the outcome.
    pub fn table(&self) -> &VarTable {
        match self {
            Outcome::Ended(table) | Outcome::Stopped { table, .. } => table,
        }
    }
}

impl Server {
    /// Connects to a program that exports names by `tcp:`.
    ///
    /// # Errors
    /// The connection can't be made.
    pub fn connect(address: impl ToSocketAddrs) -> io::Result<Server> {
        Ok(Server { line: Line::connect(address)?, service: None, known: BTreeSet::new(), is_stopped: false })
    }

    /// The interface exported under a name; a program's communication is made from it.
    ///
    /// # Errors
    /// Nothing is exported by that name.
    pub fn describe(&mut self, name: &str) -> Result<Description, Error> {
        self.line.describe(name)
    }

    /// Opens a communication with an exported name, for single calls. It is closed when the [`Calls`] are dropped.
    ///
    /// # Errors
    /// Nothing is exported by that name.
    pub fn open(&mut self, name: &str) -> Result<Calls<'_>, Error> {
        Calls::begin(&mut self.line, name)
    }

    /// Ships a program with the values of its variables, and waits for the outcome. `names` are the exported names of
    /// its communications, in order; `rounds` limits its loop rounds. A run that has stopped before is discarded.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    pub fn run(
        &mut self,
        program: &Program,
        names: &[&str],
        table: VarTable,
        rounds: u64,
    ) -> Result<Outcome, Error> {
        let service = self.service()?;
        let (bytes, values) = (program.encode(), table.encode_in());
        let hash = Hash::of(&bytes);
        let mut all = Vec::new();
        all.extend((names.len() as u32).to_be_bytes());
        names.iter().for_each(|name| put_opaque(&mut all, name.as_bytes()));
        loop {
            let is_known = self.known.contains(&hash);
            let (number, answer) = self.line.ask(service, RUN, |out| {
                put_opaque(out, if is_known { &hash.0 } else { &bytes });
                put_opaque(out, &all);
                put_opaque(out, &values);
                put_u64(out, rounds);
            })?;
            if number == UNKNOWN && self.known.remove(&hash) {
                continue;
            }
            if number != REFUSED {
                self.known.insert(hash);
            }
            return self.outcome(number, &answer, table);
        }
    }

    /// Resumes the run that has stopped, with `rounds` more. `table` is the one that it returned; with `is_changed` its
    /// values replace the run's.
    ///
    /// # Errors
    /// No run has stopped, or as for [`Server::run`].
    pub fn resume(&mut self, table: VarTable, is_changed: bool, rounds: u64) -> Result<Outcome, Error> {
        let Some(service) = self.service.filter(|_| self.is_stopped) else {
            return Err(Error::Lost("nothing has stopped that could be resumed".into()));
        };
        let values = if is_changed { table.encode_in() } else { Vec::new() };
        let (number, answer) = self.line.ask(service, RESUME, |out| {
            put_opaque(out, &values);
            put_u64(out, rounds);
        })?;
        self.outcome(number, &answer, table)
    }

    /// The communication over which programs are shipped.
    fn service(&mut self) -> Result<Handle, Error> {
        if std::mem::take(&mut self.is_stopped)
            && let Some(service) = self.service.take()
        {
            self.line.abandon(service);
        }
        let service = match self.service {
            Some(service) => service,
            None => self.line.open(SERVICE.as_bytes(), &shipping::INTERFACE)?,
        };
        self.service = Some(service);
        Ok(service)
    }

    fn outcome(&mut self, number: usize, answer: &[u8], mut table: VarTable) -> Result<Outcome, Error> {
        let strange = |what: String| Error::Lost(format!("the server's answer makes no sense: {what}"));
        let mut reader = Reader::new(answer);
        self.is_stopped = number == STOPPED;
        match number {
            ENDED => {
                table.decode_out(reader.opaque("the table").map_err(strange)?)?;
                Ok(Outcome::Ended(table))
            }
            STOPPED => {
                let fault = reader.hyper("the fault").map_err(strange)? as i64;
                let location = reader.hyper("the location").map_err(strange)? as u32;
                let sentence = reader.opaque("why").map_err(strange)?;
                let sentence = String::from_utf8_lossy(sentence).into_owned();
                table.decode_out(reader.opaque("the table").map_err(strange)?)?;
                let why = match fault {
                    BUDGET => Stop::Budget,
                    CANCELLED => Stop::Cancelled,
                    number => Stop::Fault(
                        Fault::from_number(number as u32)
                            .ok_or_else(|| strange(format!("there is no fault {number}")))?,
                    ),
                };
                Ok(Outcome::Stopped { why, location, sentence, table })
            }
            REFUSED => {
                let why = reader.opaque("why").map_err(strange)?;
                Err(Error::Refused(String::from_utf8_lossy(why).into_owned()))
            }
            UNKNOWN => Err(Error::Refused("it doesn't know a program that it was just sent".into())),
            other => Err(strange(format!("message {other}"))),
        }
    }
}
