//! Programs in every engine.
#![allow(dead_code)]

use drystone_extension::bytecode::{Program, assemble};
use drystone_extension::engine::jit::{Constants, Jit, Pages};
use drystone_extension::engine::{Answer, Context, Helper, Interpreter, Memory, Platform, State, Stop};

/// What a program can call in tests: it says what it was called with.
pub extern "C" fn gather(context: &mut Context<Host>, a: u64, b: u64, c: u64, d: u64, e: u64) -> Answer {
    context.host.calls += 1;
    Ok((a & 0xff) << 32 | (b & 0xff) << 24 | (c & 0xff) << 16 | (d & 0xff) << 8 | (e & 0xff)).into()
}

/// Stops every other time that it is called.
pub extern "C" fn hesitate(context: &mut Context<Host>, a: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    context.host.calls += 1;
    let stops = context.host.calls % 2 == 1;
    if stops { Err(Stop::Helper(7.try_into().unwrap())).into() } else { Ok(!a).into() }
}

/// Changes what the program gave the address of.
pub extern "C" fn increment(
    context: &mut Context<Host>,
    address: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
) -> Answer {
    let Some([byte]) = context.memory.at_mut(address, 1) else { return Ok(u64::MAX).into() };
    *byte = byte.wrapping_add(1);
    Ok((*byte).into()).into()
}

/// Works for as long as the program says.
pub extern "C" fn work(context: &mut Context<Host>, cost: u64, _: u64, _: u64, _: u64, _: u64) -> Answer {
    context.charge(cost % 16).map(|()| cost).into()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    pub calls: usize,
}

pub const HELPERS: [Helper<Host>; 3] = [
    Helper { function: gather, arguments: 5 },
    Helper { function: hesitate, arguments: 1 },
    Helper { function: increment, arguments: 1 },
];

pub fn platform(memory: usize) -> Platform<'static, Host> {
    Platform { helpers: &HELPERS, values: &[Memory::BEGIN, Memory::BEGIN + 8], memory }
}

/// An engine with a program in it.
pub trait Engine {
    fn run(&self, context: &mut Context<Host>) -> Result<u64, Stop>;
}

impl Engine for Interpreter<Host> {
    fn run(&self, context: &mut Context<Host>) -> Result<u64, Stop> {
        Interpreter::run(self, context)
    }
}

impl Engine for Jit<Host, Pages> {
    fn run(&self, context: &mut Context<Host>) -> Result<u64, Stop> {
        Jit::run(self, context)
    }
}

/// Every engine with a program in it.
pub fn engines(program: &Program, memory: usize) -> Vec<(&'static str, Box<dyn Engine>)> {
    engines_on(program, platform(memory))
}

/// Every engine with a program in it, on a platform of its own.
pub fn engines_on(program: &Program, platform: Platform<Host>) -> Vec<(&'static str, Box<dyn Engine>)> {
    let interpreter = Interpreter::unproven(program.clone(), platform).unwrap();
    if cfg!(miri) {
        // It can't run what isn't Rust.
        return vec![("interpreter", Box::new(interpreter))];
    }
    let jit = |constants| Box::new(Jit::unproven(program.clone(), platform, constants).unwrap());
    vec![
        ("interpreter", Box::new(interpreter)),
        ("jit", jit(Constants::Plain)),
        ("jit with blinded constants", jit(Constants::Blinded(42))),
    ]
}

/// What a run leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub result: Result<u64, Stop>,
    pub memory: Vec<u8>,
    pub budget: u64,
    pub host: Host,
}

/// Runs from the beginning, with r1 = memory and r2 = its length.
pub fn run(engine: &dyn Engine, memory: &[u8], budget: u64) -> End {
    run_in(engine, memory_with(memory), start(memory, budget))
}

/// Runs in this memory.
pub fn run_in(engine: &dyn Engine, mut own: Memory, state: State) -> End {
    let mut host = Host::default();
    let mut context = Context::new(state, &mut own, &mut host);
    let result = engine.run(&mut context);
    let budget = context.state().budget();
    End { result, memory: own.own().to_vec(), budget, host }
}

pub fn start(memory: &[u8], budget: u64) -> State {
    State::new([Memory::BEGIN, memory.len() as u64, 0, 0, 0], budget)
}

pub fn memory_with(bytes: &[u8]) -> Memory {
    let mut memory = Memory::new(bytes.len());
    memory.own_mut()[..bytes.len()].copy_from_slice(bytes);
    memory
}

pub fn size_of(memory: &[u8]) -> usize {
    Memory::new(memory.len()).size()
}

pub fn program(text: &str) -> Program {
    let slots = assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Program::decode(&slots).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a text in every engine; they must agree.
pub fn run_everywhere(text: &str, memory: &[u8], budget: u64) -> End {
    let ends: Vec<(&str, End)> = engines(&program(text), size_of(memory))
        .into_iter()
        .map(|(name, engine)| (name, run(engine.as_ref(), memory, budget)))
        .collect();
    let (_, first) = &ends[0];
    for (name, end) in &ends {
        assert_eq!(end, first, "{name} of\n{text}");
    }
    first.clone()
}
