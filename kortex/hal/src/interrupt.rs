//! The interrupt controllers of a PC, which map devices to vectors: one beside the processor (the local APIC) and one
//! beside the devices (the I/O APIC). The old ones are silenced.

use core::ptr::{read_volatile, write_volatile};

use x86_64::instructions::port::Port;
use x86_64::registers::model_specific::Msr;

use crate::exception::OWN;

/// The address of the local APIC, unless it has been moved.
pub const LOCAL: usize = 0xfee0_0000;
/// The address of the I/O APIC.
pub const DEVICES: usize = 0xfec0_0000;

/// The vector of the first interrupt line.
const LINES: usize = OWN + 1;
/// The vector of spurious interrupts, which have gone again before the processor asked for them.
const SPURIOUS: u32 = 0x2f;

const END: usize = 0xb0;
const SPURIOUS_VECTOR: usize = 0xf0;

/// The interface of this component: which lines may interrupt, and by which vectors.
pub trait Controller {
    /// The vector of an interrupt line.
    fn vector(&self, line: u8) -> usize;

    /// Unmasks a line, which is one of the first 11. It is edge-triggered, as for old devices.
    ///
    /// # Safety
    /// Its vector has a handler.
    unsafe fn enable(&self, line: u8);

    /// Ends the handling of an interrupt: the next may come.
    fn end(&self);
}

/// The local APIC and the I/O APIC of a PC.
#[derive(Clone, Copy, Debug, Default)]
pub struct Apics;

impl Apics {
    /// The only ones.
    pub const fn new() -> Apics {
        Apics
    }
}

/// Reads a register of the local APIC.
pub(crate) fn read(register: usize) -> u32 {
    // SAFETY: a register of the controller that each such processor has; reading changes nothing.
    unsafe { read_volatile((LOCAL + register) as *const u32) }
}

pub(crate) fn write(register: usize, value: u32) {
    // SAFETY: the controller touches no memory.
    unsafe { write_volatile((LOCAL + register) as *mut u32, value) };
}

/// Silences the old controllers and turns the new ones on, with all lines masked.
///
/// # Safety
/// Called once; the addresses of the controllers are mapped, uncached.
pub unsafe fn load() {
    const BASE: u32 = 0x1b;
    const ENABLED: u64 = 1 << 11;
    // SAFETY: a controller that isn't there ignores the write.
    unsafe {
        for port in [0x21, 0xa1] {
            Port::<u8>::new(port).write(0xff);
        }
        let mut base = Msr::new(BASE);
        base.write(LOCAL as u64 | base.read() & 0xfff | ENABLED);
    }
    write(SPURIOUS_VECTOR, 1 << 8 | SPURIOUS);
}

impl Controller for Apics {
    fn vector(&self, line: u8) -> usize {
        LINES + line as usize
    }

    unsafe fn enable(&self, line: u8) {
        const ENTRIES: u32 = 0x10;
        let entry = ENTRIES + 2 * u32::from(line);
        let set = |register: u32, value: u32| {
            // SAFETY: registers of the controller, which touches no memory.
            unsafe {
                write_volatile(DEVICES as *mut u32, register);
                write_volatile((DEVICES + 0x10) as *mut u32, value);
            }
        };
        // To the first processor.
        set(entry + 1, 0);
        set(entry, self.vector(line) as u32);
    }

    #[inline]
    fn end(&self) {
        write(END, 0);
    }
}
