//! Time: the cycle counter, its rate, an alarm, and the date.

use core::arch::x86_64::_rdtsc;

use x86_64::instructions::port::Port;

use crate::exception::OWN;
use crate::interrupt::{read, write};

/// The counters' rates a second, measured against the old timer that every PC has (the PIT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Counts of [`counter`].
    pub counter: u64,
    /// Beats of the alarm.
    pub alarm: u64,
}

/// Converts a number of one unit to another. In the same time there are `from` of the first and `to` of the second.
pub fn convert(number: u64, to: u64, from: u64) -> u64 {
    (u128::from(number) * u128::from(to) / u128::from(from)) as u64
}

/// The processor's cycle counter.
pub fn counter() -> u64 {
    // SAFETY: every x86-64 processor has a cycle counter.
    unsafe { _rdtsc() }
}

/// The vector of the alarm.
pub const ALARM: usize = OWN;

/// The interface of this component: an alarm, and the rates of the counters.
pub trait Timer {
    /// Measures the rates; `None`: the machine has no timer to measure against.
    ///
    /// # Safety
    /// Interrupts are off, and the alarm isn't in use.
    unsafe fn measure(&self) -> Option<Rates>;

    /// Raises [`ALARM`] once, after `beats`; 0: never.
    fn set_alarm(&self, beats: u32);
}

/// The timer of the processor's local interrupt controller (local APIC). Its rate is measured against the old timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalTimer;

impl LocalTimer {
    /// The only one.
    pub const fn new() -> LocalTimer {
        LocalTimer
    }
}

// Registers of the controller.
const ENTRY: usize = 0x320;
const INITIAL: usize = 0x380;
const COUNT: usize = 0x390;
const DIVISOR: usize = 0x3e0;
const MASKED: u32 = 1 << 16;

impl Timer for LocalTimer {
    unsafe fn measure(&self) -> Option<Rates> {
        start_old_timer();
        let mut least = Rates { counter: u64::MAX, alarm: u64::MAX };
        for _ in 0..MEASUREMENTS {
            let Rates { counter, alarm } = measure_once()?;
            least = Rates { counter: least.counter.min(counter), alarm: least.alarm.min(alarm) };
        }
        self.set_alarm(0);
        Some(least)
    }

    #[inline]
    fn set_alarm(&self, beats: u32) {
        write(ENTRY, ALARM as u32);
        write(INITIAL, beats);
    }
}

/// Starts counting from the largest count, without an alarm, at the undivided rate of the bus.
fn count() {
    write(DIVISOR, 0b1011);
    write(ENTRY, MASKED | ALARM as u32);
    write(INITIAL, u32::MAX);
}

/// Beats of the old timer in a second.
const OLD: u64 = 1_193_182;
/// Beats of the old timer in a measurement: five milliseconds.
const BEATS: u16 = 6_000;
/// An interruption makes a measurement too large, so the least of several is right.
const MEASUREMENTS: usize = 3;

fn measure_once() -> Option<Rates> {
    count();
    let (start, alarm) = (counter(), read(COUNT));
    let (beats, end, left) = wait_for_old_timer()?;
    let rate = |counted: u64| (counted * OLD / u64::from(beats)).max(1);
    Some(Rates { counter: rate(end - start), alarm: rate(u64::from(alarm - left)) })
}

/// Waits for [`BEATS`] beats of the old timer. Returns how many came, and what both counters say then.
fn wait_for_old_timer() -> Option<(u16, u64, u32)> {
    /// More looks than even a fast processor takes.
    const LOOKS: usize = 1 << 20;
    let first = old_timer();
    let passed = (0..LOOKS).map(|_| first.wrapping_sub(old_timer())).find(|&passed| passed >= BEATS)?;
    Some((passed, counter(), read(COUNT)))
}

const OLD_COUNT: u16 = 0x40;
const OLD_CONTROL: u16 = 0x43;

/// Has the old timer count down from 65536 for ever. Its interrupts are masked.
fn start_old_timer() {
    // SAFETY: the timer touches no memory, and its line is masked.
    unsafe {
        Port::<u8>::new(OLD_CONTROL).write(0b0011_0100);
        let mut count = Port::<u8>::new(OLD_COUNT);
        count.write(0);
        count.write(0);
    }
}

/// The old timer's count.
fn old_timer() -> u16 {
    // SAFETY: the timer touches no memory. The write latches the count, so that both its bytes are of one moment.
    unsafe {
        Port::<u8>::new(OLD_CONTROL).write(0);
        let mut count = Port::<u8>::new(OLD_COUNT);
        u16::from_le_bytes([count.read(), count.read()])
    }
}

/// Seconds since 1970, by the battery-backed clock. It is read until it says the same twice, because it may be
/// changing.
pub fn now() -> u64 {
    let mut said = read_clock();
    loop {
        let again = read_clock();
        if again == said {
            return seconds(said);
        }
        said = again;
    }
}

/// Second, minute, hour, day, month, year of the century.
type Moment = [u8; 6];

fn read_clock() -> Moment {
    let read = |register: u8| {
        // SAFETY: asking the clock changes nothing else.
        unsafe {
            Port::<u8>::new(0x70).write(register);
            Port::<u8>::new(0x71).read()
        }
    };
    const FORMAT: u8 = 0xb;
    let is_binary = read(FORMAT) & 1 << 2 != 0;
    [0, 2, 4, 7, 8, 9].map(|register| {
        let value = read(register);
        if is_binary { value } else { (value >> 4) * 10 + (value & 0xf) }
    })
}

fn seconds([second, minute, hour, day, month, year]: Moment) -> u64 {
    let (year, month, day) = (2000 + u64::from(year), u64::from(month), u64::from(day));
    // Years begin in March, so that the leap day is at their end.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    /// The day number of the 1st of January 1970.
    const EPOCH: u64 = 719_469;
    let minutes = ((days - EPOCH) * 24 + u64::from(hour)) * 60 + u64::from(minute);
    minutes * 60 + u64::from(second)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn days_are_counted_as_everybody_does() {
        assert_eq!(seconds([0, 0, 0, 1, 1, 0]), 946_684_800);
        assert_eq!(seconds([59, 59, 23, 29, 2, 24]), 1_709_251_199);
        assert_eq!(seconds([0, 0, 0, 1, 3, 24]), 1_709_251_200);
        assert_eq!(seconds([0, 0, 0, 1, 1, 26]), 1_767_225_600);
    }
}
