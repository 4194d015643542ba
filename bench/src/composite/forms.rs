//! Runs the paper's copy program as a composite call in each of its forms, with a server that does nothing, in a
//! process of its own.

use std::hint::black_box;
use std::time::Instant;

use clap::{Args, ValueEnum};
use drystone_client::composite::builder::*;
use drystone_client::composite::{
    Allowance, Answer, Arguments, Executor, Limits, Pattern, Prepared, Program, Refusal, Results, Run,
    Services, Step, Value, VarTable,
};
use drystone_component::wire::Description;
use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};
use serde_json::json;

/// Runs it, and says how long that took.
#[derive(Args)]
pub struct Form {
    #[arg(value_enum)]
    which: Which,
    n: u64,
}

/// The form in which it is run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// As a tree.
    Tree,
    /// As bytecode that is interpreted.
    Bytecode,
    /// Compiled.
    Compiled,
    /// Not run: written, checked, verified and compiled.
    Made,
}

const fn integer(name: &'static str) -> Parameter {
    Parameter::new(name, Type::Integer)
}

static MESSAGES: [Message; 4] = [
    Message::new("Read", Side::Client, &[integer("file"), integer("place"), integer("n")]),
    Message::new("Data", Side::Server, &[integer("n")]),
    Message::new("Write", Side::Client, &[integer("file"), integer("place"), integer("n")]),
    Message::new("Written", Side::Server, &[integer("n")]),
];

const NO: u16 = Interface::NONE;

#[rustfmt::skip]
static NEXT: [u16; 12] = [
    1,  NO, 2,  NO,
    NO, 0,  NO, NO,
    NO, NO, NO, 0,
];

static STATES: [u8; 3] =
    [Interface::MAY_END | Interface::CLIENT_SENDS, Interface::SERVER_SENDS, Interface::SERVER_SENDS];

static FILES: Interface = Interface {
    name: Str::new("Files"),
    fingerprint: Fingerprint([0x5eed; 2]),
    messages: Table::new(&MESSAGES),
    next: Table::new(&NEXT),
    states: Table::new(&STATES),
    payload_words: 3,
    queued: 0,
};

/// A server that does nothing: each read returns 512 bytes.
struct Nothing;

impl Services for Nothing {
    fn send(&mut self, _: u32, _: u32, _: Arguments<'_>) -> Answer<()> {
        Answer::Ready(())
    }

    fn receive(&mut self, _: u32, _: u32, results: &mut Results<'_>) -> Answer<()> {
        results.put(Value::Integer(512)).map_or_else(Answer::Lost, Answer::Ready)
    }

    fn test(&mut self, _: u32, _: Pattern) -> Answer<bool> {
        Answer::Ready(true)
    }

    fn input(&mut self, _: u32, _: Pattern) -> bool {
        true
    }

    fn close(&mut self, _: u32) -> Answer<()> {
        Answer::Ready(())
    }
}

fn copy(files: &Description) -> Result<(Program, Var<i64>, Var<i64>), Refusal> {
    let vars = Builder::new();
    let files = vars.communication(files);
    let (rounds, copied) = (vars.input::<i64>(), vars.out::<i64>());
    let (place, n) = (vars.local::<i64>(), vars.local::<i64>());
    let program = vars.program(while_(
        place.lt(rounds),
        sequence([
            files.call("Read", (1, place, 512), "Data", (n,)),
            files.call("Write", (2, place, n), "Written", (n,)),
            copied.set(copied + n),
            place.set(place + 1),
        ]),
    ))?;
    Ok((program, rounds, copied))
}

impl Form {
    /// Prints nanoseconds of a round, or of making it, and what came out.
    pub fn run(&self) -> Result<(), String> {
        self.measure().map_err(|Refusal(why)| why)
    }

    fn measure(&self) -> Result<(), Refusal> {
        let description = Description::of(&FILES);
        let by = match self.which {
            Which::Tree => Executor::Tree,
            Which::Bytecode => Executor::Interpreter,
            Which::Compiled | Which::Made => Executor::Jit(0x5eed),
        };
        let make = || -> Result<_, Refusal> {
            let (program, rounds, copied) = copy(&description)?;
            let prepared = Prepared::<Nothing>::new(program, &Limits::default(), by)?;
            Ok((std::sync::Arc::new(prepared), rounds, copied))
        };
        let (prepared, rounds, copied) = make()?;
        let run = |n: u64| -> Result<i64, Refusal> {
            let mut table = VarTable::new(prepared.layout().clone());
            table.assign(rounds, n as i64)?;
            let allowance = Allowance { rounds: u64::MAX >> 1, texts: 0 };
            let mut run = Run::new(prepared.clone(), table, Nothing, allowance)?;
            match run.resume(u64::MAX >> 1) {
                Step::Ended => Ok(run.into_parts().0.value(copied).unwrap_or_default()),
                other => Err(Refusal(format!("{other:?}"))),
            }
        };
        let once = |n: u64| -> Result<i64, Refusal> {
            if self.which != Which::Made {
                return run(n);
            }
            (0..n).try_for_each(|_| make().map(|it| drop(black_box(it))))?;
            run(7)
        };
        once(self.n / 10 + 1)?;
        let begin = Instant::now();
        let result = once(self.n)?;
        let ns = begin.elapsed().as_nanos() as f64 / self.n as f64;
        println!("{}", json!({ "ns": ns, "result": result }));
        Ok(())
    }
}
