//! Time: what the processor counts, how much of it is a second, and what day it is.

use core::arch::x86_64::_rdtsc;

use x86_64::instructions::port::Port;

use crate::interrupt;

/// What a processor counts in a second, found out beside a clock that each PC has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Of [`counter`].
    pub counter: u64,
    /// Beats of the alarm.
    pub alarm: u64,
}

/// The processor's counter.
pub fn counter() -> u64 {
    // SAFETY: every x86-64 processor has it.
    unsafe { _rdtsc() }
}

/// Measures how fast the counters are, for a quarter of a millisecond.
///
/// # Safety
/// [`interrupt::load`] was called, and nobody uses the alarm.
pub unsafe fn measure() -> Rates {
    /// Beats of the old timer in a second.
    const OLD: u64 = 1_193_182;
    const ENOUGH: u64 = 300;
    // It counts down, and begins again. Nobody hears its interrupts.
    // SAFETY: the first channel of the old timer has no other effect.
    unsafe {
        Port::<u8>::new(0x43).write(0b0011_0100);
        old_timer(&[0, 0]);
    }
    interrupt::count();
    let start = (old_count(), counter(), interrupt::alarm());
    let (old, end, left) = loop {
        let now = (old_count(), counter(), interrupt::alarm());
        if u64::from(start.0.wrapping_sub(now.0)) >= ENOUGH {
            break now;
        }
    };
    interrupt::set_alarm(0);
    let passed = u64::from(start.0.wrapping_sub(old));
    let rate = |counted: u64| (counted * OLD / passed).max(1);
    Rates { counter: rate(end - start.1), alarm: rate(u64::from(start.2 - left)) }
}

/// Sets what the old timer counts down from.
///
/// # Safety
/// It waits for that.
unsafe fn old_timer(bytes: &[u8]) {
    // SAFETY: as the caller promises.
    bytes.iter().for_each(|&byte| unsafe { Port::<u8>::new(0x40).write(byte) });
}

/// What the old timer has counted down to.
fn old_count() -> u16 {
    let mut data = Port::<u8>::new(0x40);
    // SAFETY: the count is kept for who reads its two bytes, and goes on.
    unsafe {
        Port::<u8>::new(0x43).write(0u8);
        u16::from_le_bytes([data.read(), data.read()])
    }
}

/// Seconds since 1970, by the clock that runs while the machine is off. What it says must be the same twice: it may just change.
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
