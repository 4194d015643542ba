//! Options of factories: which ones a factory knows, and the ranges of their values.

use alloc::format;
use alloc::string::String;
use core::ops::RangeInclusive;

use drystone_runtime::binding::Factory;

/// Options that any factory of a BY accepts. They concern the binding that finally reaches the name; the other
/// factories ignore them.
pub const COMMON: [&str; 6] = ["capacity", "deadline", "certificate", "key", "authority", "token"];

/// Refuses options that a factory doesn't know.
///
/// # Errors
/// Names the first unknown option, and the known ones.
pub fn only(factory: &Factory<'_>, known: &[&str]) -> Result<(), String> {
    match factory.options.iter().find(|(name, _)| !known.contains(name) && !COMMON.contains(name)) {
        Some((name, _)) => {
            Err(format!("{} has no option {name}: it knows {}", factory.name, known.join(", ")))
        }
        None => Ok(()),
    }
}

/// The range of options that are counts or milliseconds. The compiler checks constants itself.
pub const SOME: RangeInclusive<i64> = 1..=1_000_000_000;
/// The range of pauses in milliseconds, which may be 0.
pub(super) const ANY: RangeInclusive<i64> = 0..=1_000_000_000;

/// The value of an integer option, if it is given.
///
/// # Errors
/// It isn't an integer, or not in the range.
pub fn count(factory: &Factory<'_>, name: &str, range: RangeInclusive<i64>) -> Result<Option<u64>, String> {
    match factory.integer(name)? {
        Some(value) if !range.contains(&value) => {
            let (least, most) = range.into_inner();
            Err(format!("{}: {name} is from {least} to {most}, not {value}", factory.name))
        }
        value => Ok(value.map(|value| value as u64)),
    }
}

/// In nanoseconds.
pub(super) const MILLISECOND: u64 = 1_000_000;
