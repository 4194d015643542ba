//! What a call takes.

use std::time::Instant;

/// Since then, of one of so many.
pub fn picoseconds_since(start: Instant, calls: u32) -> f64 {
    start.elapsed().as_nanos() as f64 * 1000.0 / f64::from(calls)
}
