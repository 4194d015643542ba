//! When nothing goes on: it is said why, and the machine ends.

use core::fmt;
use core::panic::PanicInfo;

use kortex_hal::debug;
use kortex_hal::exception::{Context, PAGE_FAULT};
use kortex_hal::mmu::{Mmu, PAGE, Paging};
use kortex_hal::serial::{Com1, Line};
use kortex_hal::x86_64::instructions::{hlt, interrupts};

use crate::memory;

/// Where messages go that are not the program's output: to the emulator's port, or the serial line where there is none.
#[derive(Debug)]
pub struct Console;

/// Part of a message. A kernel that is to be small says with it what it has to, without Rust's formatting.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// As it is.
    Text(&'a str),
    /// In decimal.
    Number(i64),
    /// In hexadecimal.
    Address(u64),
}

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write_bytes(text.as_bytes());
        Ok(())
    }
}

impl Console {
    /// Writes bytes.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        if !debug::write(bytes) {
            // SAFETY: a PC has its serial line there or nothing.
            let line = unsafe { Com1::new() };
            line.begin();
            line.send(bytes);
        }
    }

    /// Writes a message, as a line.
    pub fn say(&mut self, message: &[Part<'_>]) {
        for &part in message {
            match part {
                Part::Text(text) => self.write_bytes(text.as_bytes()),
                Part::Number(number) => {
                    if number < 0 {
                        self.write_bytes(b"-");
                    }
                    self.digits(number.unsigned_abs(), 10);
                }
                Part::Address(address) => {
                    self.write_bytes(b"0x");
                    self.digits(address, 16);
                }
            }
        }
        self.write_bytes(b"\n");
    }

    fn digits(&mut self, mut number: u64, base: u64) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b"0123456789abcdef"[(number % base) as usize];
            number /= base;
            if number == 0 {
                return self.write_bytes(&digits[first..]);
            }
        }
    }
}

/// Says an emulator the status, and ends it; without one, the machine stops.
pub fn end(status: i64) -> ! {
    // The emulator's own status has too few bits.
    Console.say(&[Part::Text("\x1estatus "), Part::Number(status)]);
    debug::exit(status as u32 & 0x3f);
    interrupts::disable();
    loop {
        hlt();
    }
}

/// As the status of a program that the system had to end.
const FATAL: i64 = 101;

/// Says why nothing goes on.
pub(crate) fn stop(why: &str) -> ! {
    Console.say(&[Part::Text("error: "), Part::Text(why)]);
    end(FATAL)
}

/// Handles an exception of the kernel's own code that nobody else handles.
pub extern "C" fn fatal(context: &mut Context, _: *const ()) {
    use Part::{Address, Number, Text};
    let address = Paging.fault_address();
    if context.vector() == PAGE_FAULT && (address as usize).wrapping_sub(memory::guard()) < PAGE {
        stop("the processor's stack is full");
    }
    Console.say(&[
        Text("error: exception "),
        Number(context.vector() as i64),
        Text(" ("),
        Address(context.error),
        Text(") at "),
        Address(context.rip),
        Text(", stack "),
        Address(context.rsp),
        Text(", address "),
        Address(address),
    ]);
    end(FATAL)
}

/// Says where a kernel is wrong, if it was built for that: in an image that is to be small there is nothing of it.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    Console.say(&[Part::Text("error: the kernel is wrong")]);
    if let Some(place) = info.location().filter(|_| cfg!(debug_assertions)) {
        let line = Part::Number(i64::from(place.line()));
        Console.say(&[Part::Text("  in "), Part::Text(place.file()), Part::Text(":"), line]);
    }
    end(FATAL)
}
