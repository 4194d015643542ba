//! The machine: its parts, access to its devices, and how it waits.

use crate::apic::{self, Apic, IoApic};
use crate::clock::{Alarm, Clock};
use crate::ending::stop;
use crate::memory::Memory;
use crate::own::Own;
use crate::ports::Ports;
use crate::processor::{Exception, PAGING, Processor};
use crate::users::Users;

/// The serial line's interrupt line.
const SERIAL: u8 = 4;

/// The machine's parts.
pub struct Machine {
    pub memory: Memory,
    pub processor: Processor,
    pub own: Own,
    pub users: Users,
    pub apic: Apic,
    pub io_apic: IoApic,
    pub ports: Ports,
    pub clock: Clock,
    pub alarm: Alarm,
    /// Counts possible changes of the page tables.
    pub changed: u64,
}

impl Machine {
    /// Raises an exception in the processor.
    pub fn raise(&mut self, exception: Exception) {
        if self.processor.raise(&self.memory, exception).is_err() {
            let Exception { vector, .. } = exception;
            let at = self.processor.registers.rip;
            stop(&format!("exception {vector} at {at:#x} is handled by nobody, and that is neither"));
        }
    }

    /// Reads a device's register. Where there is no device, all bits are set.
    pub fn read_device(&mut self, at: u64) -> u32 {
        match at & !0xfff {
            apic::LOCAL => self.apic.read(at & 0xfff, self.clock.now()),
            apic::DEVICES => self.io_apic.read(at & 0xfff),
            _ => u32::MAX,
        }
    }

    /// Writes a device's register.
    pub fn write_device(&mut self, at: u64, value: u32) {
        match at & !0xfff {
            apic::LOCAL => self.apic.write(at & 0xfff, value, self.clock.now()),
            apic::DEVICES => self.io_apic.write(at & 0xfff, value),
            _ => {}
        }
    }

    /// The page tables may have changed.
    pub fn pages_changed(&mut self) {
        self.changed += 1;
        let Machine { memory, processor, own, .. } = self;
        if processor.control[0] & PAGING != 0 {
            own.check(|address| processor.page(memory, address));
        }
    }

    /// Waits for an interrupt.
    pub fn halt(&mut self) {
        loop {
            if !self.processor.takes_interrupts {
                stop("the machine stands still: it waits for an interrupt, and takes none");
            }
            self.listen();
            if self.apic.next(self.clock.now()).is_some() {
                return;
            }
            self.ports.flush();
            let listens = self.io_apic.vector(SERIAL).is_some() && self.ports.may_interrupt();
            match self.apic.deadline() {
                None if !listens => {
                    stop("the machine stands still: it waits for an interrupt, and none will come")
                }
                deadline => self.clock.sleep(deadline, listens),
            }
        }
    }

    /// Checks for serial input, if the serial line's interrupts are on.
    pub fn listen(&mut self) {
        if let Some(vector) = self.io_apic.vector(SERIAL)
            && self.ports.may_interrupt()
            && self.ports.interrupts()
        {
            self.apic.request(vector);
        }
    }
}
