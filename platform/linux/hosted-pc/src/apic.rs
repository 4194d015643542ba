//! The interrupt controllers: the one beside the processor (local APIC), with its timer, which counts nanoseconds; and
//! the one beside the devices (I/O APIC).

use std::collections::{BTreeMap, BTreeSet};

/// The local APIC's address.
pub const LOCAL: u64 = 0xfee0_0000;
/// The I/O APIC's address.
pub const DEVICES: u64 = 0xfec0_0000;

const VERSION: u64 = 0x30;
const PRIORITY: u64 = 0x80;
const END: u64 = 0xb0;
const SPURIOUS: u64 = 0xf0;
const TIMER: u64 = 0x320;
const INITIAL: u64 = 0x380;
const COUNT: u64 = 0x390;
const DIVISOR: u64 = 0x3e0;
/// In the spurious vector's register: the controller is on.
const ON: u32 = 1 << 8;
/// In a vector's register: the interrupt is masked.
const MASKED: u32 = 1 << 16;
/// In the timer's register: the timer is periodic.
const PERIODIC: u32 = 1 << 17;

/// The local APIC.
pub struct Apic {
    registers: [u32; 64],
    /// When the timer began, and when it is due next, in nanoseconds of the machine's clock.
    begun: u64,
    deadline: Option<u64>,
    requested: BTreeSet<u8>,
    /// The vectors whose handlers the guest is running.
    serviced: Vec<u8>,
}

impl Apic {
    /// The state after a reset.
    pub fn new() -> Apic {
        Apic {
            registers: [0; 64],
            begun: 0,
            deadline: None,
            requested: BTreeSet::new(),
            serviced: Vec::new(),
        }
    }

    fn register(&mut self, at: u64) -> &mut u32 {
        &mut self.registers[(at >> 4) as usize & 63]
    }

    fn divisor(&mut self) -> u64 {
        let said = *self.register(DIVISOR);
        match said & 3 | said >> 1 & 4 {
            7 => 1,
            power => 2 << power,
        }
    }

    /// Reads a register.
    pub fn read(&mut self, at: u64, now: u64) -> u32 {
        match at & 0xff0 {
            VERSION => 0x5_0014,
            COUNT => {
                let (initial, divisor) = (u64::from(*self.register(INITIAL)), self.divisor());
                let passed = (now - self.begun) / divisor;
                match *self.register(TIMER) & PERIODIC {
                    0 => initial.saturating_sub(passed) as u32,
                    _ => (initial - passed % initial.max(1)) as u32,
                }
            }
            at => *self.register(at),
        }
    }

    /// Writes a register.
    pub fn write(&mut self, at: u64, value: u32, now: u64) {
        match at & 0xff0 {
            END => _ = self.serviced.pop(),
            VERSION | COUNT => {}
            at => {
                *self.register(at) = value;
                if at == INITIAL {
                    self.begun = now;
                    let beats = u64::from(value) * self.divisor();
                    self.deadline = (value > 0).then_some(now + beats);
                }
            }
        }
    }

    /// When the timer interrupts next.
    pub fn deadline(&mut self) -> Option<u64> {
        let is_on = *self.register(TIMER) & MASKED == 0 && *self.register(SPURIOUS) & ON != 0;
        self.deadline.filter(|_| is_on)
    }

    /// The pending interrupt that the processor is to take now, if there is one.
    pub fn next(&mut self, now: u64) -> Option<u8> {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            let is_heard = self.deadline().is_some();
            let timer = *self.register(TIMER);
            let beats = u64::from(*self.register(INITIAL)) * self.divisor();
            // Periods that passed while the machine didn't run count as one interrupt.
            self.deadline = (timer & PERIODIC != 0).then(|| now + beats - (now - self.begun) % beats.max(1));
            if is_heard {
                self.requested.insert(timer as u8);
            }
        }
        let vector = *self.requested.last()?;
        let least = self.serviced.last().copied().unwrap_or(0).max(*self.register(PRIORITY) as u8);
        (vector >> 4 > least >> 4).then_some(vector)
    }

    /// Requests an interrupt for a device.
    pub fn request(&mut self, vector: u8) {
        self.requested.insert(vector);
    }

    /// The processor has taken the interrupt.
    pub fn take(&mut self, vector: u8) {
        self.requested.remove(&vector);
        self.serviced.push(vector);
    }
}

/// The I/O APIC.
#[derive(Default)]
pub struct IoApic {
    selected: u8,
    registers: BTreeMap<u8, u32>,
}

impl IoApic {
    /// The vector of an interrupt line, unless the line is masked.
    pub fn vector(&self, line: u8) -> Option<u8> {
        let entry = self.registers.get(&(0x10 + 2 * line)).filter(|&&entry| entry & MASKED == 0)?;
        Some(*entry as u8)
    }

    /// Reads a register.
    pub fn read(&self, at: u64) -> u32 {
        match at & 0xff {
            0 => self.selected.into(),
            0x10 if self.selected == 1 => 0x17_0011,
            0x10 => self.registers.get(&self.selected).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Writes a register.
    pub fn write(&mut self, at: u64, value: u32) {
        match at & 0xff {
            0 => self.selected = value as u8,
            0x10 => _ = self.registers.insert(self.selected, value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_timer(timer: u32, beats: u32) -> Apic {
        let mut apic = Apic::new();
        for (register, value) in [(SPURIOUS, ON | 0x2f), (DIVISOR, 0b1011), (TIMER, timer), (INITIAL, beats)]
        {
            apic.write(register, value, 1000);
        }
        apic
    }

    #[test]
    fn a_timer_comes_once_or_again_and_again() {
        let mut once = with_timer(0x20, 500);
        assert_eq!((once.deadline(), once.next(1499)), (Some(1500), None));
        assert_eq!(once.read(COUNT, 1100), 400);
        assert_eq!(once.next(1500), Some(0x20));
        once.take(0x20);
        once.write(END, 0, 1500);
        assert_eq!((once.deadline(), once.next(9999)), (None, None));
        let mut periodic = with_timer(PERIODIC | 0x20, 500);
        // Two missed periods give one interrupt, and the rhythm is kept.
        assert_eq!((periodic.next(2100), periodic.deadline()), (Some(0x20), Some(2500)));
        let mut masked = with_timer(MASKED | 0x20, 500);
        assert_eq!((masked.deadline(), masked.next(9999)), (None, None));
        let mut stopped = with_timer(0x20, 0);
        assert_eq!((stopped.deadline(), stopped.next(9999)), (None, None));
    }

    #[test]
    fn who_is_in_a_handler_hears_only_what_is_more_urgent() {
        let mut apic = with_timer(0x3f, 500);
        apic.requested.insert(0x41);
        assert_eq!(apic.next(1000), Some(0x41));
        apic.take(0x41);
        assert_eq!(apic.next(1500), None);
        apic.write(END, 0, 1500);
        assert_eq!(apic.next(1500), Some(0x3f));
        apic.write(PRIORITY, 0x30, 1500);
        assert_eq!(apic.next(1500), None);
    }
}
