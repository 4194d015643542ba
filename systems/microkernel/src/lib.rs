//! A minimal kernel (section 5.1 of *THINK* (Fassino)): address spaces, threads, and calls between domains.
//! `Microkernel.dry` puts it together from components; this crate has the component of its own. The machine's command
//! line says what it does: `measure`, `attack`, or `fuzz` and the number of domains.

#![no_std]

mod kernel;
mod load;
pub mod methods;
mod plain;
mod process;

use core::ops::{Deref, Range};

use drystone_machine::Part::{Number, Text};
use drystone_machine::{Console, Main, Platform};
use kortex_binding::Activation;
use kortex_hal::exception::Trap;
use kortex_hal::interrupt::Controller;
use kortex_hal::mmu::Mmu;
use kortex_hal::time::Timer;
use kortex_memory::Pool;
use kortex_thread::Threads;

pub use kernel::Kernel;
pub use plain::Plain;
pub use process::{AddressSpace, Owner, Process, ProcessThread, Services};

/// Roles of processes.
const SERVER: u64 = 0;
const MEASURES: u64 = 1;
pub const HONEST: u64 = 2;
const OTHER: u64 = 3;
const ATTACKS: Range<u64> = 4..52;
/// Roles from here on: random calls, with this seed.
const FUZZ: u64 = 1000;

impl<M, T, I, C, U, G, S, E> Main for Kernel<M, T, I, C, U, G, S, E>
where
    M: Deref<Target: Platform> + 'static,
    T: Deref<Target: Trap> + 'static,
    I: Deref<Target: Controller> + 'static,
    C: Deref<Target: Timer> + 'static,
    U: Deref<Target: Mmu> + 'static,
    G: Deref<Target: Pool> + 'static,
    S: Deref<Target: Threads<Local = Activation>> + 'static,
    E: Deref<Target: Services> + 'static,
{
    fn main(&'static self) -> ! {
        let process = |role, name| self.start(role, name);
        if let Some(count) = self.machine.command_line().strip_prefix(b"fuzz ") {
            let mut left = number(count);
            self.run(|| {
                left -= u64::from(left > 0);
                if left > 0 {
                    let victim = process(SERVER, "victim");
                    self.bind_server(process(FUZZ + left, "fuzzer"), victim);
                }
                left > 0
            });
        }
        let mut groups = self.services.roles(self.machine.command_line()).iter();
        if groups.len() > 0 {
            let mut server = process(SERVER, "server");
            self.run(|| {
                let Some(roles) = groups.next() else { return false };
                if server.domain.is_dead() {
                    server = process(SERVER, "server");
                }
                roles.iter().for_each(|&role| self.bind_server(process(role, "user"), server));
                true
            });
        }
        let server = process(SERVER, "server");
        match self.machine.command_line() {
            b"measure" => {
                Console.say(&[Text("boot "), Number(self.begun.get() as i64)]);
                self.bind_server(process(MEASURES, "client"), server);
                process(OTHER, "other");
            }
            _ => {
                self.bind_server(process(HONEST, "honest"), server);
                for role in ATTACKS {
                    let victim = process(SERVER, "victim");
                    self.bind_server(process(role, "attacker"), victim);
                }
            }
        }
        self.run(|| false)
    }
}

fn number(text: &[u8]) -> u64 {
    text.iter().fold(0, |number, digit| number * 10 + u64::from(digit.wrapping_sub(b'0')))
}
