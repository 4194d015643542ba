//! Time: what the processor counts, how much of it is a second, an alarm, and what day it is.

use core::arch::x86_64::_rdtsc;

use x86_64::instructions::port::Port;

use crate::exception::OWN;
use crate::interrupt::{read, write};

/// What a processor counts in a second, found out beside the timer that each PC has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Of [`counter`].
    pub counter: u64,
    /// Beats of the alarm.
    pub alarm: u64,
}

/// What is so many of one unit in another, of both of which there are so many in the same time.
pub fn convert(number: u64, to: u64, from: u64) -> u64 {
    (u128::from(number) * u128::from(to) / u128::from(from)) as u64
}

/// The processor's counter.
pub fn counter() -> u64 {
    // SAFETY: every x86-64 processor has it.
    unsafe { _rdtsc() }
}

/// The vector of the alarm.
pub const ALARM: usize = OWN;

/// The interface of this component: an alarm, and how fast time goes.
pub trait Timer {
    /// Measures how fast the counters are; `None`: the machine has nothing beside which that is done.
    ///
    /// # Safety
    /// Interrupts are off, and nobody uses the alarm.
    unsafe fn measure(&self) -> Option<Rates>;

    /// [`ALARM`] comes after so many beats, once; 0: it doesn't.
    fn set_alarm(&self, beats: u32);
}

/// The one that the processor's own interrupt controller has. The old one, which each PC has had, says how fast it is.
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

/// Counts without an alarm, from as many beats as there may be. It counts what the bus does, undivided.
fn count() {
    write(DIVISOR, 0b1011);
    write(ENTRY, MASKED | ALARM as u32);
    write(INITIAL, u32::MAX);
}

/// Beats of the old timer in a second.
const OLD: u64 = 1_193_182;
/// So many of them are waited for, five milliseconds.
const BEATS: u16 = 6_000;
/// Whatever comes between makes a measurement say too much: of several the least is right.
const MEASUREMENTS: usize = 3;

fn measure_once() -> Option<Rates> {
    count();
    let (start, alarm) = (counter(), read(COUNT));
    let (beats, end, left) = wait_for_old_timer()?;
    let rate = |counted: u64| (counted * OLD / u64::from(beats)).max(1);
    Some(Rates { counter: rate(end - start), alarm: rate(u64::from(alarm - left)) })
}

/// Waits for some beats of the old timer: how many came, and what both counters say then.
fn wait_for_old_timer() -> Option<(u16, u64, u32)> {
    /// As often as it is asked by who is quick.
    const LOOKS: usize = 1 << 20;
    let first = old_timer();
    let passed = (0..LOOKS).map(|_| first.wrapping_sub(old_timer())).find(|&passed| passed >= BEATS)?;
    Some((passed, counter(), read(COUNT)))
}

const OLD_COUNT: u16 = 0x40;
const OLD_CONTROL: u16 = 0x43;

/// Has the old timer count downwards for ever, from 65536. Nobody hears its interrupts.
fn start_old_timer() {
    // SAFETY: the timer touches no memory, and its line is masked.
    unsafe {
        Port::<u8>::new(OLD_CONTROL).write(0b0011_0100);
        let mut count = Port::<u8>::new(OLD_COUNT);
        count.write(0);
        count.write(0);
    }
}

/// What is left of its count.
fn old_timer() -> u16 {
    // SAFETY: as above; what is written keeps the count, so that both its halves are of one moment.
    unsafe {
        Port::<u8>::new(OLD_CONTROL).write(0);
        let mut count = Port::<u8>::new(OLD_COUNT);
        u16::from_le_bytes([count.read(), count.read()])
    }
}

/// Seconds since 1970, by the clock that runs while the machine is off. What it says must be the same twice: it may
/// just change.
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
    // Years begin in March, so that what is added in leap years is at the end.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    /// Of the 1st of January 1970, counted in the same way.
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
