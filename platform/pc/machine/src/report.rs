//! The end of the machine: messages about fatal errors, and the exit status.

use core::fmt;
use core::panic::PanicInfo;

use kortex_hal::debug;
use kortex_hal::exception::{Context, PAGE_FAULT};
use kortex_hal::mmu::{Mmu, PAGE, Paging};
use kortex_hal::serial::{Com1, Line};
use kortex_hal::x86_64::instructions::{hlt, interrupts};

use crate::memory;

/// The console for messages that aren't the program's output: the emulator's port, or else the serial line.
#[derive(Debug)]
pub struct Console;

/// A part of a message. It spares small kernels Rust's formatting.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A text, as it is.
    Text(&'a str),
    /// A decimal number.
    Number(i64),
    /// A hexadecimal number.
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

/// Tells an emulator the status, and ends it. Without an emulator, the machine stops.
pub fn end(status: i64) -> ! {
    // The emulator's own exit status has too few bits.
    Console.say(&[Part::Text("\x1estatus "), Part::Number(status)]);
    debug::exit(status as u32 & 0x3f);
    interrupts::disable();
    loop {
        hlt();
    }
}

/// The status of a program that the system had to end.
const FATAL: i64 = 101;

/// Stops the machine, with the reason.
pub(crate) fn stop(why: &str) -> ! {
    Console.say(&[Part::Text("error: "), Part::Text(why)]);
    end(FATAL)
}

/// Handles an exception of the kernel's own code that has no other handler.
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

/// Reports a panic of a kernel that was built for that. A small image contains none of it.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    Console.say(&[Part::Text("error: the kernel is wrong")]);
    if let Some(place) = info.location().filter(|_| cfg!(debug_assertions)) {
        let line = Part::Number(i64::from(place.line()));
        Console.say(&[Part::Text("  in "), Part::Text(place.file()), Part::Text(":"), line]);
    }
    end(FATAL)
}
