//! A minimal kernel (paper 002, section 5.1): address spaces, threads, and calls between domains. It is put together here from components, each
//! of which is called by its name once; what it does beside that is in [`kernel`]. On the machine's command line stands what it is to do:
//! `measure`, `attack`, or `fuzz` and how many domains.

#![no_std]
#![no_main]

mod kernel;
mod load;
mod methods;
mod process;

use core::ops::Range;
use core::panic::PanicInfo;

use drystone_machine::Part::{Number, Text};
use drystone_machine::{Console, Machine, end};
use kortex_binding::Activation;
use kortex_hal::exception::Processor;
use kortex_hal::time;
use kortex_memory::buddy::Buddy;
use kortex_thread::{RoundRobin, Scheduler};

/// Who decides which thread runs.
type Policy = RoundRobin<Activation>;
/// What threads are built on.
type Threads = Scheduler<Policy, Processor, Activation>;
/// Who has the pages.
type Memory = Buddy;

/// What processes do, as they are told when they begin.
const SERVER: u64 = 0;
const MEASURES: u64 = 1;
const HONEST: u64 = 2;
const OTHER: u64 = 3;
const ATTACKS: Range<u64> = 4..47;
/// From here on: each does something else at random.
const FUZZ: u64 = 1000;

kortex_hal::memory_functions!("");

#[unsafe(no_mangle)]
fn machine_main(machine: Machine) -> ! {
    let (begun, command_line) = (time::counter(), machine.command_line);
    // SAFETY: called once, by the machine.
    let kernel = unsafe { kernel::begin(machine) };
    let process = |role, name| kernel.start(role, name);
    if let Some(count) = command_line.strip_prefix(b"fuzz ") {
        let mut left = number(count);
        kernel.run(|| {
            left -= u64::from(left > 0);
            if left > 0 {
                let victim = process(SERVER, "victim");
                kernel.bind_server(process(FUZZ + left, "fuzzer"), victim);
            }
            left > 0
        });
    }
    let server = process(SERVER, "server");
    match command_line {
        b"measure" => {
            Console.say(&[Text("boot "), Number(begun as i64)]);
            kernel.bind_server(process(MEASURES, "client"), server);
            process(OTHER, "other");
        }
        _ => {
            kernel.bind_server(process(HONEST, "honest"), server);
            for role in ATTACKS {
                let victim = process(SERVER, "victim");
                kernel.bind_server(process(role, "attacker"), victim);
            }
        }
    }
    kernel.run(|| false)
}

fn number(text: &[u8]) -> u64 {
    text.iter().fold(0, |number, digit| number * 10 + u64::from(digit.wrapping_sub(b'0')))
}

/// Says where the kernel is wrong, if it was built for that: in an image that is to be small there is nothing of it.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    Console.say(&[Text("error: the kernel is wrong")]);
    #[cfg(debug_assertions)]
    if let Some(place) = info.location() {
        Console.say(&[Text("  in "), Text(place.file()), Text(":"), Number(i64::from(place.line()))]);
    }
    let _ = info;
    end(101)
}
