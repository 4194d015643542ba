//! How long the engines take beside native code: `cargo run --release -p drystone-extension --example engine_times`.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use drystone_extension::Verified;
use drystone_extension::bytecode::{Program, assemble};
use drystone_extension::engine::jit::{Constants, Jit, pages};
use drystone_extension::engine::{Answer, Context, Helper, Interpreter, Memory, Platform, State, Stop};
use drystone_extension::verifier::{Contract, Given, Helper as Promise, Wanted, Workspace};

/// Two calls with three arguments, as often as r2 says.
const COPY: &str = "
    mov %r6, %r1
    mov %r7, %r2
    mov %r0, 0
    again:
        mov %r1, 3
        mov %r2, %r6
        mov %r3, 512
        call 0
        mov %r1, 4
        mov %r2, %r6
        mov %r3, %r0
        call 1
        add %r7, -1
        jne %r7, 0, again
    mov %r0, 0
    exit
";

/// Four instructions, as often as r2 says.
const INSTRUCTIONS: &str = "
    mov %r0, 1
    again:
        mul %r0, 31
        add %r0, %r2
        add %r2, -1
        jne %r2, 0, again
    exit
";

const ROUNDS: u64 = 100_000;

const HELPERS: [Helper<()>; 2] =
    [Helper { function: null, arguments: 3 }, Helper { function: null, arguments: 3 }];

extern "C" fn null(_: &mut Context<()>, _: u64, _: u64, size: u64, _: u64, _: u64) -> Answer {
    Ok(size).into()
}

#[inline(never)]
extern "C" fn native_null(_: u64, _: u64, size: u64) -> u64 {
    size
}

#[inline(never)]
fn native_copy(rounds: u64, helpers: &[extern "C" fn(u64, u64, u64) -> u64; 2]) {
    let (read, write) = (helpers[0], helpers[1]);
    for _ in 0..rounds {
        write(4, 77, read(3, 77, 512));
    }
}

#[inline(never)]
fn native_instructions(rounds: u64) -> u64 {
    let mut sum = 1u64;
    let mut left = rounds;
    while left != 0 {
        // So that the loop stays one.
        sum = opaque(sum.wrapping_mul(31).wrapping_add(left));
        left -= 1;
    }
    sum
}

fn opaque(mut number: u64) -> u64 {
    // SAFETY: it does nothing.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) number, options(nomem, nostack, pure)) };
    number
}

fn main() {
    let helpers = black_box([native_null as extern "C" fn(u64, u64, u64) -> u64; 2]);
    for (name, text) in [("copy loop", COPY), ("instruction loop", INSTRUCTIONS)] {
        let engines = Engines::of(text);
        let mut samples = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..400 {
            let begin = Instant::now();
            match name {
                "copy loop" => native_copy(black_box(ROUNDS), &helpers),
                _ => _ = black_box(native_instructions(black_box(ROUNDS))),
            }
            samples[0].push(begin.elapsed());
            samples[1].push(timed(|context| engines.jit.run(context)));
            samples[2].push(timed(|context| engines.interpreter.run(context)));
        }
        let [native, jit, interpreter] = samples.map(|mut samples| {
            samples.sort();
            samples[0].as_nanos() as f64 / ROUNDS as f64
        });
        println!(
            "{name:20} native {native:7.3} ns  jit {jit:7.3} ({:5.2} x)  interpreter {interpreter:7.3} ({:5.2} x)",
            jit / native,
            interpreter / native
        );
    }
    online();
}

/// What it takes to make a program ready.
fn online() {
    // SAFETY, of all of them: the contract says what the platform is, and pages are as asked for.
    let slots = assemble(COPY).unwrap();
    let contract = contract();
    let steps: [(&str, &dyn Fn()); 5] = [
        ("decode", &|| _ = black_box(Program::decode(black_box(&slots)).unwrap())),
        ("decode and verify", &|| _ = black_box(verified(&slots, &contract))),
        ("and operations", &|| {
            _ = black_box(unsafe { Interpreter::new(&verified(&slots, &contract), platform()) }.unwrap())
        }),
        ("and compiled", &|| {
            let place = |code: &[u8]| Ok(code.to_vec());
            _ = black_box(
                unsafe { Jit::new(&verified(&slots, &contract), platform(), Constants::Plain, place) }
                    .unwrap(),
            )
        }),
        ("and in pages", &|| {
            _ = black_box(
                unsafe { Jit::new(&verified(&slots, &contract), platform(), Constants::Plain, pages) }
                    .unwrap(),
            )
        }),
    ];
    for (name, step) in steps {
        let mut samples: Vec<Duration> = (0..200)
            .map(|_| {
                let begin = Instant::now();
                (0..100).for_each(|_| step());
                begin.elapsed() / 100
            })
            .collect();
        samples.sort();
        println!("{name:20} {:?}", samples[0]);
    }
}

fn verified(slots: &[drystone_extension::bytecode::Slot], contract: &Contract) -> Verified {
    thread_local!(static WORKSPACE: RefCell<Workspace> = RefCell::default());
    let program = Program::decode(slots).unwrap();
    WORKSPACE.with_borrow_mut(|workspace| workspace.verify(program, contract).unwrap())
}

fn platform() -> Platform<'static, ()> {
    Platform { helpers: &HELPERS, values: &[], memory: 4096 }
}

fn contract() -> Contract {
    let mut contract = Contract::of_own_memory(4096);
    contract.registers[1] = Given::Number(1, u64::MAX);
    for number in 0..2 {
        let wants = vec![Wanted::Anything; 3];
        let null = Promise { name: "null", wants, gives: Given::Number(0, u64::MAX), moves: None };
        contract.helpers.insert(number, null);
    }
    contract
}

struct Engines {
    jit: Jit<(), drystone_extension::engine::jit::Pages>,
    interpreter: Interpreter<()>,
}

impl Engines {
    fn of(text: &str) -> Engines {
        let verified = verified(&assemble(text).unwrap(), &contract());
        // SAFETY: the contract says what the platform is.
        unsafe {
            Engines {
                jit: Jit::new(&verified, platform(), Constants::Plain, pages).unwrap(),
                interpreter: Interpreter::new(&verified, platform()).unwrap(),
            }
        }
    }
}

fn timed(run: impl Fn(&mut Context<()>) -> Result<u64, Stop>) -> Duration {
    let mut memory = Memory::new(4096);
    let state = State::new([Memory::BEGIN, ROUNDS, 0, 0, 0], ROUNDS);
    let mut host = ();
    let mut context = Context::new(state, &mut memory, &mut host);
    let begin = Instant::now();
    black_box(run(&mut context).unwrap());
    begin.elapsed()
}
