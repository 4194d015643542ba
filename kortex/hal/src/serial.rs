//! A serial line: a 16550 UART, as each PC has or emulates one.

use x86_64::instructions::port::Port;

/// The interface of this component: one end of a serial line.
pub trait Line {
    /// The interrupt line that it raises when bytes have come.
    const INTERRUPT: u8;

    /// Sends bytes, and waits until the device has taken them.
    fn send(&self, bytes: &[u8]);

    /// The next byte that has come.
    fn receive(&self) -> Option<u8>;
}

/// The UART whose registers begin at port `BASE` and that raises interrupt line `INTERRUPT`.
#[derive(Clone, Copy, Debug)]
pub struct Serial<const BASE: u16, const INTERRUPT: u8>(());

/// A PC's first UART.
pub type Com1 = Serial<0x3f8, 4>;
/// A PC's second UART.
pub type Com2 = Serial<0x2f8, 3>;

const RECEIVED: u8 = 1;
const EMPTY: u8 = 1 << 5;

impl<const BASE: u16, const INTERRUPT: u8> Serial<BASE, INTERRUPT> {
    /// The UART at that port.
    ///
    /// # Safety
    /// There is a UART at that port, or nothing.
    pub const unsafe fn new() -> Serial<BASE, INTERRUPT> {
        Serial(())
    }

    /// Sets the UART up: 115200 bits a second, 8 bits, no parity, an interrupt when bytes have come. Bytes that came
    /// before are kept: turning the FIFO on would lose them, so it stays off then, and the line is slower.
    pub fn begin(&self) {
        const ENABLE: u16 = 1;
        const FIFO: u16 = 2;
        const FORMAT: u16 = 3;
        const MODEM: u16 = 4;
        let set = |register, value: u8| {
            // SAFETY: the caller of `new` promises that there is a UART at that port, or nothing.
            unsafe { Port::new(BASE + register).write(value) };
        };
        set(ENABLE, 0);
        // The speed is set by its divisor, in the registers of data and interrupts.
        set(FORMAT, 0x80);
        set(0, 1);
        set(1, 0);
        set(FORMAT, 0b11);
        if self.status() & RECEIVED == 0 {
            // The FIFO, which interrupts after 14 bytes, or after some and a pause.
            set(FIFO, 0b1100_0111);
        }
        // Signals "ready", and lets interrupts out.
        set(MODEM, 0b1011);
        set(ENABLE, 1);
    }

    /// The status register; no bit is set where there is no device.
    fn status(&self) -> u8 {
        const STATUS: u16 = 5;
        // SAFETY: reading it changes nothing.
        match unsafe { Port::new(BASE + STATUS).read() } {
            0xff => EMPTY,
            status => status,
        }
    }
}

impl<const BASE: u16, const INTERRUPT: u8> Line for Serial<BASE, INTERRUPT> {
    const INTERRUPT: u8 = INTERRUPT;

    fn send(&self, bytes: &[u8]) {
        for &byte in bytes {
            while self.status() & EMPTY == 0 {
                core::hint::spin_loop();
            }
            // SAFETY: the device takes bytes.
            unsafe { Port::new(BASE).write(byte) };
        }
    }

    fn receive(&self) -> Option<u8> {
        // SAFETY: the device has one.
        (self.status() & RECEIVED != 0).then(|| unsafe { Port::new(BASE).read() })
    }
}
