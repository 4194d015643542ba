//! Runs Drystone's engines, in a process of their own.
//!
//! `unsafe` here: engines are built from what the verifier has accepted. That is sound if the platform is as declared:
//! the helpers exist and may return any number, there is as much memory as declared, and each run begins with a new
//! state and the declared arguments.

use std::hint::black_box;
use std::time::Instant;

use clap::{Args, ValueEnum};
use drystone_extension::Verified;
use drystone_extension::bytecode::{Program, Slot, assemble};
use drystone_extension::engine::jit::{Constants, Jit, Pages, pages};
use drystone_extension::engine::{Answer, Context, Helper, Interpreter, Memory, Platform, State};
use drystone_extension::verifier::{Contract, Given, Helper as Promise, Wanted, Workspace};

use super::work::Work;

/// Runs a program, and says how long that took: see bench/peers/composite.
#[derive(Args)]
pub struct Engine {
    #[arg(value_enum)]
    which: Which,
    #[arg(value_enum)]
    work: Work,
    n: u64,
}

/// How the program is run.
#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// Interpreted.
    Drystone,
    /// Not run, only verified.
    DrystoneVerified,
    /// Compiled as for an untrusted program.
    DrystoneJit,
    /// Compiled as for a trusted program of the host.
    DrystonePlain,
}

const COPY: &str = "
    mov %r6, %r1
    mov %r7, %r2
    mov %r8, 0
    again:
        mov %r1, 3
        mov %r2, %r6
        mov %r3, 512
        call 0
        mov %r1, 4
        mov %r2, %r6
        mov %r3, %r0
        call 1
        add %r8, %r0
        add %r7, -1
        jne %r7, 0, again
    mov %r0, %r8
    exit
";

const INSTRUCTIONS: &str = "
    mov %r0, 1
    again:
        mul %r0, 31
        add %r0, %r2
        add %r2, -1
        jne %r2, 0, again
    exit
";

const MEMORY: u32 = 4096;

/// As far as engines know, the first may stop a program.
const HELPERS: [Helper<()>; 2] =
    [Helper { function: null_read, arguments: 3 }, Helper { function: null_write, arguments: 3 }];

extern "C" fn null_read(_: &mut Context<()>, _: u64, _: u64, size: u64, _: u64, _: u64) -> Answer {
    Ok(size).into()
}

extern "C" fn null_write(_: &mut Context<()>, _: u64, _: u64, size: u64, _: u64, _: u64) -> Answer {
    Ok(size).into()
}

impl Engine {
    /// Prints nanoseconds and what came out.
    pub fn run(&self) -> Result<(), String> {
        let text = if self.work == Work::Instructions { INSTRUCTIONS } else { COPY };
        let slots = assemble(text).map_err(|error| error.what)?;
        let mut maker = Maker { slots, contract: contract(), workspace: Workspace::default() };
        let ready = maker.ready(self.which)?;
        let (warm, result) = (self.n / 10 + 1, if self.work == Work::Ready { 7 } else { self.n });
        let mut again = |times: u64| match self.work {
            Work::Ready => (0..times).try_for_each(|_| maker.ready(self.which).map(|it| drop(black_box(it)))),
            _ => ready.run(times).map(drop),
        };
        again(warm)?;
        let begin = Instant::now();
        again(self.n)?;
        let ns = begin.elapsed().as_nanos() as f64 / self.n as f64;
        println!("{}", serde_json::json!({ "ns": ns, "result": ready.run(result)? }));
        Ok(())
    }
}

struct Maker {
    slots: Vec<Slot>,
    contract: Contract,
    workspace: Workspace,
}

/// A program that is ready to run.
enum Ready {
    Verified(Verified),
    Interpreter(Interpreter<()>),
    Jit(Jit<(), Pages>),
}

impl Maker {
    fn ready(&mut self, which: Which) -> Result<Ready, String> {
        let program = Program::decode(&self.slots).map_err(|error| error.what)?;
        let verified =
            self.workspace.verify(program, &self.contract).map_err(|rejection| rejection.to_string())?;
        let constants = match which {
            Which::DrystoneVerified => return Ok(Ready::Verified(verified)),
            Which::Drystone => return interpreter(&verified),
            Which::DrystoneJit => Constants::Blinded(0x5eed),
            Which::DrystonePlain => Constants::Plain,
        };
        // SAFETY: see the module; and pages are as asked for.
        Ok(Ready::Jit(unsafe { Jit::new(&verified, platform(), constants, pages)? }))
    }
}

fn interpreter(verified: &Verified) -> Result<Ready, String> {
    // SAFETY: see the module.
    Ok(Ready::Interpreter(unsafe { Interpreter::new(verified, platform())? }))
}

impl Ready {
    fn run(&self, rounds: u64) -> Result<u64, String> {
        let mut memory = Memory::new(MEMORY as usize);
        let state = State::new([Memory::BEGIN, rounds, 0, 0, 0], rounds);
        let mut host = ();
        let mut context = Context::new(state, &mut memory, &mut host);
        let result = match self {
            Ready::Verified(verified) => return interpreter(verified)?.run(rounds),
            Ready::Interpreter(interpreter) => interpreter.run(&mut context),
            Ready::Jit(jit) => jit.run(&mut context),
        };
        result.map_err(|stop| stop.to_string())
    }
}

fn platform() -> Platform<'static, ()> {
    Platform { helpers: &HELPERS, values: &[], memory: MEMORY as usize }
}

fn contract() -> Contract {
    let mut contract = Contract::of_own_memory(MEMORY);
    contract.registers[1] = Given::Number(1, u64::MAX);
    for number in 0..HELPERS.len() as u32 {
        let wants = vec![Wanted::Anything; 3];
        let null = Promise { name: "null", wants, gives: Given::Number(0, u64::MAX), moves: None };
        contract.helpers.insert(number, null);
    }
    contract
}
