//! A plugin of bpf_conformance's runner: runs one BPF program. See [`USAGE`].

mod helpers;

use std::io::Read;
use std::process::ExitCode;

use drystone_extension::bytecode::{Constant, Instruction, Program, Slot, load};
use drystone_extension::engine::jit::{Constants, Jit};
use drystone_extension::engine::{Context, Interpreter, Memory, Platform, State};

const USAGE: &str = "usage: drystone-bpf-plugin [MEMORY] [--interpret | --jit] [--elf] < PROGRAM

MEMORY is the bytes that r1 points to, in hex; r2 is how many. PROGRAM is bytes in hex, which blanks may separate: \
a program's
instructions, or with --elf an object file for BPF. Writes r0 in hex. Ends with 1, and says why, if it can't.";

/// Jumps back and calls: more than any test of conformance makes.
const BUDGET: u64 = 1 << 30;

fn main() -> ExitCode {
    match Options::of(std::env::args().skip(1)).and_then(|options| options.run()) {
        Ok(r0) => {
            println!("{r0:x}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("drystone-bpf-plugin: {why}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Clone, Copy)]
enum Engine {
    Interpreter,
    Jit,
}

type Taken = Result<(Program, Vec<u8>), String>;

struct Options {
    memory: Vec<u8>,
    engine: Engine,
    /// What makes of standard input a program, and its data.
    reads: fn(Vec<u8>) -> Taken,
}

impl Options {
    fn of(arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options { memory: Vec::new(), engine: Engine::Interpreter, reads: instructions };
        for (at, argument) in arguments.enumerate() {
            match argument.as_str() {
                "--interpret" => options.engine = Engine::Interpreter,
                "--jit" => options.engine = Engine::Jit,
                "--elf" => options.reads = object,
                memory if at == 0 && !memory.starts_with('-') => options.memory = bytes(memory)?,
                other => return Err(format!("it doesn't know `{other}`\n{USAGE}")),
            }
        }
        Ok(options)
    }

    fn run(self) -> Result<u64, String> {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
        let (program, data) = (self.reads)(bytes(&text)?)?;

        // The program's data stands behind its memory.
        let begin = self.memory.len().next_multiple_of(8);
        let mut memory = Memory::new(begin + data.len());
        memory.own_mut()[..self.memory.len()].copy_from_slice(&self.memory);
        memory.own_mut()[begin..begin + data.len()].copy_from_slice(&data);
        let values = [Memory::BEGIN + begin as u64];
        let platform = Platform { helpers: &helpers::ALL, values: &values, memory: memory.size() };
        let address = if self.memory.is_empty() { 0 } else { Memory::BEGIN };
        let state = State::new([address, self.memory.len() as u64, 0, 0, 0], BUDGET);
        let mut host = ();
        let mut context = Context::new(state, &mut memory, &mut host);
        let result = match self.engine {
            Engine::Interpreter => Interpreter::unproven(program, platform)?.run(&mut context),
            Engine::Jit => Jit::unproven(program, platform, Constants::Plain)?.run(&mut context),
        };
        result.map_err(|stop| format!("stopped at instruction {}: {stop}", context.state().slot()))
    }
}

fn instructions(bytes: Vec<u8>) -> Taken {
    let (slots, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(format!("a program of {} bytes: instructions have 8", bytes.len()));
    }
    let slots: Vec<Slot> = slots.iter().map(|bytes| Slot::read(*bytes)).collect();
    Ok((Program::decode(&slots).map_err(|error| error.to_string())?, Vec::new()))
}

/// With the contents of all its sections one behind the other.
fn object(bytes: Vec<u8>) -> Taken {
    let mut object = load(&bytes, None, &|_| None)?;
    let mut data = Vec::new();
    let mut begins = Vec::new();
    for map in &object.maps {
        begins.push(data.len() as i32);
        data.extend_from_slice(&map.bytes);
        data.resize(data.len().next_multiple_of(8), 0);
    }
    let program = Program::decode(&object.slots).map_err(|error| error.to_string())?;
    for (at, instruction) in program.instructions() {
        if let Instruction::Constant { destination, constant: Constant::ValueByIndex { map, offset } } =
            instruction
        {
            let offset = offset.wrapping_add(begins[map as usize]);
            let constant = Constant::ValueByIndex { map: 0, offset };
            let mut moved = Vec::new();
            Instruction::Constant { destination, constant }.encode(&mut moved);
            object.slots[at..at + 2].copy_from_slice(&moved);
        }
    }
    Ok((Program::decode(&object.slots).map_err(|error| error.to_string())?, data))
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = hex
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| (byte as char).to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()
        .ok_or("something else than hex digits and blanks")?;
    let (pairs, rest) = digits.as_chunks();
    if rest.is_empty() {
        Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
    } else {
        Err("a byte of only one hex digit".into())
    }
}
