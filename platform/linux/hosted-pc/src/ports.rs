//! The devices with ports: a serial line, on standard input and output; the emulator's own console, on standard error;
//! the old timer; the clock; and the port that ends the machine.
//!
//! # Soundness
//!
//! System calls on standard input get valid addresses to write to.

use std::io::{self, Write};
use std::mem;

use crate::clock::{self, Clock};

const CONSOLE: u16 = 0xe9;
const EXIT: u16 = 0xf4;
const SERIAL: u16 = 0x3f8;
const OLD_TIMER: u16 = 0x40;
const OLD_CONTROL: u16 = 0x43;
const CLOCK: u16 = 0x70;

/// Begins the line by which the image tells its status.
const STATUS: &[u8] = b"\x1estatus ";
/// The line by which the image tells that it reads standard input from now on.
const READY: &[u8] = b"\x1eready\n";

/// Beats of the old timer in a second.
const BEATS: u128 = 1_193_182;

/// The state of these devices.
#[derive(Default)]
pub struct Ports {
    /// The console's output since the last line end.
    line: Vec<u8>,
    status: Option<i32>,
    /// Registers of the serial line.
    serial: [u8; 8],
    /// A byte of standard input that the guest hasn't read; and whether the input has ended.
    received: Option<u8>,
    /// The serial line has interrupted for that byte.
    has_interrupted: bool,
    is_over: bool,
    /// When the old timer began and its initial count; and the latched bytes to be read next.
    old_timer: (u64, u32),
    latched: Vec<u8>,
    written: Vec<u8>,
    selected: u8,
}

impl Ports {
    /// Reads `bytes` bytes from a port.
    pub fn read(&mut self, port: u16, bytes: usize, clock: &Clock) -> u32 {
        let nothing = u32::MAX >> (32 - 8 * bytes);
        match port {
            CONSOLE => CONSOLE.into(),
            SERIAL..0x400 => self.read_serial(port - SERIAL).into(),
            OLD_TIMER => self.read_old_timer(clock).into(),
            _ if port == CLOCK + 1 => self.read_clock().into(),
            _ => nothing,
        }
    }

    /// Writes to a port. Returns the status if that ends the machine.
    pub fn write(&mut self, port: u16, value: u32, clock: &Clock) -> Option<i32> {
        let byte = value as u8;
        match port {
            CONSOLE => self.say(byte),
            EXIT => {
                self.flush();
                return Some(self.status.unwrap_or((value << 1 | 1) as i32));
            }
            SERIAL..0x400 => self.write_serial(port - SERIAL, byte),
            OLD_TIMER => {
                self.written.push(byte);
                if let [low, high] = self.written[..] {
                    let count = u16::from_le_bytes([low, high]);
                    self.old_timer = (clock.now(), if count == 0 { 1 << 16 } else { count.into() });
                    self.written.clear();
                }
            }
            // Counter 0. Its count is latched until it is read, or its mode is set.
            OLD_CONTROL if byte & 0xf0 == 0 => self.latched = self.old_count(clock).to_le_bytes().to_vec(),
            OLD_CONTROL => (self.latched, self.written) = (Vec::new(), Vec::new()),
            CLOCK => self.selected = byte & 0x7f,
            _ => {}
        }
        None
    }

    /// Writes the rest of a line.
    pub fn flush(&mut self) {
        // If standard error is closed, there is no other place to report it.
        let _ = io::stderr().write_all(&mem::take(&mut self.line));
        let _ = io::stdout().flush();
    }

    fn say(&mut self, byte: u8) {
        self.line.push(byte);
        if byte != b'\n' {
            return;
        }
        if let Some(said) = self.line.strip_prefix(STATUS) {
            let number = String::from_utf8_lossy(said).trim().parse::<i64>();
            self.status = number.ok().map(|it| it as i32);
            self.line.clear();
        } else if self.line == READY {
            self.line.clear();
        }
        self.flush();
    }

    const DIVISOR: u8 = 0x80;
    const FORMAT: u16 = 3;

    fn read_serial(&mut self, register: u16) -> u8 {
        match register {
            0 if self.serial[3] & Ports::DIVISOR == 0 => {
                self.receive();
                self.has_interrupted = false;
                self.received.take().unwrap_or(0)
            }
            2 => 1,
            5 => {
                self.receive();
                0x60 | u8::from(self.received.is_some())
            }
            6 => 0xb0,
            register => self.serial[usize::from(register)],
        }
    }

    fn write_serial(&mut self, register: u16, byte: u8) {
        if register == 0 && self.serial[usize::from(Ports::FORMAT)] & Ports::DIVISOR == 0 {
            // If standard output is closed, the guest isn't told.
            let _ = io::stdout().write_all(&[byte]);
            return;
        }
        self.serial[usize::from(register)] = byte;
    }

    /// Whether the serial line may interrupt: its interrupt is on, and input may arrive.
    pub fn may_interrupt(&self) -> bool {
        const ENABLE: usize = 1;
        self.serial[ENABLE] & 1 != 0 && !(self.is_over && self.received.is_none())
    }

    /// Whether the serial line interrupts now: it has input for which it hasn't interrupted yet.
    pub fn interrupts(&mut self) -> bool {
        self.receive();
        self.received.is_some() && !mem::replace(&mut self.has_interrupted, true)
    }

    /// The byte by which a terminal ends its input.
    const END: u8 = 4;

    /// Takes a byte of input, if there is one.
    fn receive(&mut self) {
        if self.received.is_some() || self.is_over {
            return;
        }
        // A prompt is shown before its answer is awaited. A failure is ignored, as above.
        let _ = io::stdout().flush();
        let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
        let mut byte = Ports::END;
        // SAFETY: one descriptor is there, and one byte.
        unsafe {
            if libc::poll(&raw mut input, 1, 0) > 0 {
                self.is_over = libc::read(0, (&raw mut byte).cast(), 1) != 1;
                self.received = Some(byte);
            }
        }
    }

    fn old_count(&self, clock: &Clock) -> u16 {
        let (begun, from) = self.old_timer;
        let passed = u128::from(clock.now() - begun) * BEATS / 1_000_000_000;
        (u128::from(from) - passed % u128::from(from.max(1))) as u16
    }

    fn read_old_timer(&mut self, clock: &Clock) -> u8 {
        if self.latched.is_empty() {
            self.latched = self.old_count(clock).to_le_bytes().to_vec();
        }
        self.latched.remove(0)
    }

    fn read_clock(&self) -> u8 {
        let moment = clock::moment();
        match self.selected {
            0 => moment.tm_sec as u8,
            2 => moment.tm_min as u8,
            4 => moment.tm_hour as u8,
            7 => moment.tm_mday as u8,
            8 => moment.tm_mon as u8 + 1,
            9 => (moment.tm_year % 100) as u8,
            // Numbers are binary, hours up to 24.
            0xb => 0b110,
            _ => 0,
        }
    }
}
