//! A serial line: a 16550 UART, as each PC has or emulates one.

use x86_64::instructions::port::Port;

/// The first serial line of a PC.
pub const COM1: u16 = 0x3f8;
/// The line by which [`COM1`] interrupts.
pub const COM1_LINE: u8 = 4;

const RECEIVED: u8 = 1;
const EMPTY: u8 = 1 << 5;

/// A line of which one end is here.
#[derive(Debug)]
pub struct Serial {
    data: Port<u8>,
    status: Port<u8>,
}

impl Serial {
    /// Sets a device up: 115200 bits a second, 8 bits, no parity; it interrupts when something has come. What had come before is still there:
    /// the device loses that if it begins to keep more than one byte, so it doesn't then, and is slower.
    ///
    /// # Safety
    /// At `base` there is such a device or nothing.
    pub unsafe fn new(base: u16) -> Serial {
        const ENABLE: u16 = 1;
        const FIFO: u16 = 2;
        const FORMAT: u16 = 3;
        const MODEM: u16 = 4;
        const STATUS: u16 = 5;
        let set = |register, value: u8| {
            // SAFETY: as the caller promises.
            unsafe { Port::new(base + register).write(value) };
        };
        let mut serial = Serial { data: Port::new(base), status: Port::new(base + STATUS) };
        set(ENABLE, 0);
        // The speed is told by its divisor, in the place of data and interrupts.
        set(FORMAT, 0x80);
        set(0, 1);
        set(1, 0);
        set(FORMAT, 0b11);
        if serial.status() & RECEIVED == 0 {
            // It interrupts when 14 bytes have come, or some and then none for a moment.
            set(FIFO, 0b1100_0111);
        }
        // Ready, and its interrupts go out.
        set(MODEM, 0b1011);
        set(ENABLE, 1);
        serial
    }

    /// Sends bytes, and waits until the device has taken them.
    pub fn send(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            while self.status() & EMPTY == 0 {
                core::hint::spin_loop();
            }
            // SAFETY: the device takes bytes.
            unsafe { self.data.write(byte) };
        }
    }

    /// The next byte that has come.
    pub fn receive(&mut self) -> Option<u8> {
        // SAFETY: the device has one.
        (self.status() & RECEIVED != 0).then(|| unsafe { self.data.read() })
    }

    /// What the device says; nothing of it where there is no device.
    fn status(&mut self) -> u8 {
        // SAFETY: reading it changes nothing.
        match unsafe { self.status.read() } {
            0xff => EMPTY,
            status => status,
        }
    }
}
