//! What is known of a loop at its jumps back, and how many iterations it can have.

use super::drift::{COUNTERS, Drift};
use super::value::{Kind, Value};

/// The most landmarks of a loop.
const LANDMARKS: usize = 24;

/// What is known of a loop at its jumps back.
#[derive(Default)]
pub(super) struct Rounds {
    /// Landmarks: numbers at which its variables may stop growing, ascending.
    landmarks: [i64; LANDMARKS],
    marks: usize,
    /// The registers; `None` while no path jumps back.
    registers: Option<[Value; COUNTERS]>,
}

impl Rounds {
    pub fn note_landmark(&mut self, number: i64) {
        for mark in [number.saturating_sub(1), number, number.saturating_add(1)] {
            if let Err(index) = self.landmarks[..self.marks].binary_search(&mark)
                && self.marks < LANDMARKS
            {
                self.landmarks.copy_within(index..self.marks, index + 1);
                self.landmarks[index] = mark;
                self.marks += 1;
            }
        }
    }

    /// Adds the registers of another path that jumps back.
    pub fn note(&mut self, registers: &[Value]) {
        let now = &registers[..COUNTERS];
        match &mut self.registers {
            Some(known) => known.iter_mut().zip(now).for_each(|(known, now)| *known = known.join(now)),
            none => *none = now.try_into().ok(),
        }
    }

    pub fn landmarks(&self) -> &[i64] {
        &self.landmarks[..self.marks]
    }

    /// The most iterations, if the registers drift so in each; `None` if there is no bound.
    pub fn most(&self, drifts: &[Drift; COUNTERS]) -> Option<u64> {
        let Some(registers) = &self.registers else { return Some(0) };
        let rounds = |index: usize| {
            let value = &registers[index];
            let counts = matches!(value.kind, Kind::Number | Kind::Region(_) | Kind::Stack(_));
            if counts { drifts[index].rounds(index, value.number) } else { None }
        };
        (0..COUNTERS).filter_map(rounds).min()
    }
}
