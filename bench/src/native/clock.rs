//! The time of a call.

use std::time::Instant;

/// The picoseconds of one of `calls` calls since `start`.
pub fn picoseconds_since(start: Instant, calls: u32) -> f64 {
    start.elapsed().as_nanos() as f64 * 1000.0 / f64::from(calls)
}
