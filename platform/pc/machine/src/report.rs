//! When nothing goes on: it is said why, and the machine ends.

use core::fmt::{self, Write};

use kortex_hal::debug;
use kortex_hal::exception::{Context, PAGE_FAULT};
use kortex_hal::mmu::PAGE;
use kortex_hal::serial::{COM1, Serial};
use kortex_hal::x86_64::instructions::{hlt, interrupts};
use kortex_hal::x86_64::registers::control::Cr2;

use crate::memory;

/// Where messages go that are not the program's output: to the emulator's port, or the serial line where there is none.
#[derive(Debug)]
pub struct Console;

impl Write for Console {
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
            unsafe { Serial::new(COM1) }.send(bytes);
        }
    }
}

/// Says an emulator the status, and ends it; without one, the machine stops.
pub fn end(status: i64) -> ! {
    // The emulator's own status has too few bits.
    let _ = writeln!(Console, "\x1estatus {status}");
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
    let _ = writeln!(Console, "error: {why}");
    end(FATAL)
}

/// Handles an exception of the kernel's own code that nobody else handles.
pub(crate) extern "C" fn fatal(context: &mut Context) {
    let Context { vector, error, rip, rsp, .. } = context;
    let address = Cr2::read_raw();
    if *vector as usize == PAGE_FAULT && (address as usize).wrapping_sub(memory::guard()) < PAGE {
        stop("the processor's stack is full: procedures call each other too deeply");
    }
    let _ = writeln!(
        Console,
        "error: exception {vector} ({error:#x}) at {rip:#x}, stack {rsp:#x}, address {address:#x}"
    );
    end(FATAL)
}
