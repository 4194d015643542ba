//! A client of Drystone's servers, in a process of its own: it makes single calls, or ships blocks of calls.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::SocketAddr;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use drystone_client::composite::builder::*;
use drystone_client::composite::{Program, Refusal, VarTable};
use drystone_client::{Outcome, Server};
use serde_json::json;

/// Does something again and again, and says how long that took.
#[derive(Args)]
pub struct Ship {
    #[arg(value_enum)]
    errand: Errand,
    address: SocketAddr,
    /// Calls in a block; or keys of a chain; or bytes of a file.
    size: i64,
    /// How often it is done.
    n: u64,
}

/// The client's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Errand {
    /// Single calls of `joint`, each with the result of the one before.
    Single,
    /// The same as a block that the server has never seen: it is built, shipped, verified and run.
    Composite,
    /// The same as a block that the server has cached.
    Cached,
    /// Follows a chain of keys in the key-value server.
    Follow,
    /// Copies a file at the file server.
    Copy,
    /// Copies a file locally, without a server.
    Local,
}

/// A limit of rounds that no program here reaches.
const ROUNDS: u64 = 1 << 40;
/// Bytes of each read and write.
pub const CHUNK: i64 = 1 << 16;

type Failure = Box<dyn std::error::Error>;

impl Ship {
    /// Prints nanoseconds of a round, and the result.
    pub fn run(&self) -> Result<(), String> {
        self.measure().map_err(|error| error.to_string())
    }

    fn measure(&self) -> Result<(), Failure> {
        if self.errand == Errand::Local {
            let mut buffer = vec![0; CHUNK as usize];
            return self.again(|_| copy_here(&mut buffer));
        }
        let mut server = Server::connect(self.address)?;
        match self.errand {
            Errand::Single => {
                let mut calls = server.open("joint")?;
                self.again(|_| {
                    (0..self.size).try_fold(0, |x: i64, _| {
                        let (_, answer) = calls.call(0, |out| out.extend(x.to_be_bytes()))?;
                        Ok(i64::from_be_bytes(answer[..].try_into()?))
                    })
                })
            }
            Errand::Composite => {
                let description = server.describe("joint")?;
                // The server has cached the blocks of other clients, too.
                let first = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as i64;
                self.again(|time| {
                    let (program, x) = block(&description, self.size, first + time as i64)?;
                    value(server.run(&program, &["joint"], VarTable::of(&program)?, ROUNDS)?, x)
                })
            }
            Errand::Cached => {
                let (program, x) = block(&server.describe("joint")?, self.size, 0)?;
                self.again(|_| value(server.run(&program, &["joint"], VarTable::of(&program)?, ROUNDS)?, x))
            }
            Errand::Follow => {
                fill(&mut server, self.size)?;
                let (program, steps) = follow(&server.describe("store")?)?;
                self.again(|_| {
                    value(server.run(&program, &["store"], VarTable::of(&program)?, ROUNDS)?, steps)
                })
            }
            Errand::Local | Errand::Copy => {
                let (program, copied) = copy(&server.describe("shelf")?)?;
                self.again(|_| {
                    value(server.run(&program, &["shelf"], VarTable::of(&program)?, ROUNDS)?, copied)
                })
            }
        }
    }

    /// Warms up with a tenth as many rounds, then measures. `once` gets the number of the round.
    fn again(&self, mut once: impl FnMut(u64) -> Result<i64, Failure>) -> Result<(), Failure> {
        let warm = self.n / 10 + 1;
        for time in 0..warm {
            once(time)?;
        }
        let begin = Instant::now();
        let mut result = 0;
        for time in warm..warm + self.n {
            result = once(time)?;
        }
        let ns = begin.elapsed().as_nanos() as f64 / self.n as f64;
        println!("{}", json!({ "ns": ns, "result": result }));
        Ok(())
    }
}

fn copy_here(buffer: &mut [u8]) -> Result<i64, Failure> {
    let (mut source, mut target) = (File::open("from")?, File::create("to")?);
    let mut copied = 0;
    loop {
        match source.read(buffer)? {
            0 => return Ok(copied),
            count => target.write_all(&buffer[..count])?,
        }
        copied = i64::try_from(target.stream_position()?)?;
    }
}

fn value(outcome: Outcome, variable: Var<i64>) -> Result<i64, Failure> {
    match outcome {
        Outcome::Ended(table) => Ok(table.value(variable).ok_or("a result is missing")?),
        Outcome::Stopped { sentence, .. } => Err(sentence.into()),
    }
}

type Described = drystone_component::wire::Description;

/// A block of so many calls, each with the result of the one before. Another `number` gives it another hash.
fn block(joint: &Described, calls: i64, number: i64) -> Result<(Program, Var<i64>), Refusal> {
    let vars = Builder::new();
    let ask = vars.communication(joint);
    let (x, _) = (vars.out::<i64>(), vars.constant(number));
    let program = vars.program(repeat(&vars, calls, ask.call("Ask", (x,), "Answer", (x,))))?;
    Ok((program, x))
}

/// Stores a chain of so many keys.
fn fill(server: &mut Server, keys: i64) -> Result<(), Failure> {
    let vars = Builder::new();
    let store = vars.communication(&server.describe("store")?);
    let (i, stored) = (vars.local::<i64>(), vars.out::<i64>());
    let key = |number: Expr<i64>| text("key ") + number.to_text();
    let program = vars.program(sequence([for_(
        i,
        0,
        keys - 1,
        sequence([store.call("Set", (key(i.into()), key(i + 1)), "Done", ()), stored.set(stored + 1)]),
    )]))?;
    value(server.run(&program, &["store"], VarTable::of(&program)?, ROUNDS)?, stored).map(drop)
}

/// A program that follows the chain from the first key to the last value, which is no key.
fn follow(store: &Described) -> Result<(Program, Var<i64>), Refusal> {
    let vars = Builder::new();
    let store = vars.communication(store);
    let (key, steps) = (vars.local::<Text>(), vars.out::<i64>());
    let program = vars.program(sequence([
        key.set(text("key 0")),
        store.send("Get", (key,)),
        while_(
            store.is_next("Value"),
            sequence([store.receive("Value", (key,)), steps.set(steps + 1), store.send("Get", (key,))]),
        ),
        store.receive("Missing", ()),
    ]))?;
    Ok((program, steps))
}

/// The paper's copy program.
fn copy(shelf: &Described) -> Result<(Program, Var<i64>), Refusal> {
    let vars = Builder::new();
    let shelf = vars.communication(shelf);
    let (source, target) = (vars.local::<i64>(), vars.local::<i64>());
    let (data, copied) = (vars.local::<Text>(), vars.out::<i64>());
    let read = || shelf.call("Read", (source, CHUNK), "Data", (data,));
    let program = vars.program(sequence([
        shelf.call("Open", (text("from"), text("r")), "Opened", (source,)),
        shelf.call("Open", (text("to"), text("w")), "Opened", (target,)),
        read(),
        while_(
            data.length().gt(0),
            sequence([
                shelf.call("Write", (target, data), "Done", ()),
                copied.set(copied + data.length()),
                read(),
            ]),
        ),
        shelf.call("Close", (source,), "Done", ()),
        shelf.call("Close", (target,), "Done", ()),
    ]))?;
    Ok((program, copied))
}
