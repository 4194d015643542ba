//! Limits of filters.

/// Tests of an alternative, at most.
pub const TESTS: usize = 64;
/// Alternatives of a filter, at most, programs included.
pub const ALTERNATIVES: usize = 1024;
