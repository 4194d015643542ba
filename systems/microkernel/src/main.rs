//! A minimal kernel (paper 002, section 5.1): address spaces, threads, and calls between domains. It is put together here from components, each
//! of which is called by its name once; what it does beside that is in [`kernel`]. On the machine's command line stands what it is to do:
//! `measure`, or `attack`.

#![no_std]
#![no_main]

mod kernel;
mod load;
mod methods;
mod process;

use core::fmt::Write;
use core::panic::PanicInfo;

use drystone_machine::{Console, Machine, end};
use kortex_binding::Activation;
use kortex_hal::exception::Processor;
use kortex_memory::buddy::Buddy;
use kortex_thread::{RoundRobin, Scheduler};

/// Who decides which thread runs.
type Policy = RoundRobin<Activation>;
/// What threads are built on.
type Threads = Scheduler<Policy, Processor, Activation>;
/// Who has the pages.
type Memory = Buddy;

kortex_hal::memory_functions!("");

#[unsafe(no_mangle)]
fn machine_main(machine: Machine) -> ! {
    let command_line = machine.command_line;
    // SAFETY: called once, by the machine.
    let kernel = unsafe { kernel::begin(machine) };
    let process = |role, name| kernel.start(role, name);
    let server = process(0, "server");
    match command_line {
        b"measure" => kernel.bind_server(process(1, "client"), server),
        _ => {
            kernel.bind_server(process(2, "honest"), server);
            for role in 3..45 {
                kernel.bind_server(process(role, "attacker"), server);
            }
        }
    }
    kernel.run()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Console, "error: {info}");
    end(101)
}
