//! Tests of pipes: lists do what their pipes do one after the other.

mod generate;
mod lists;
mod naive;
mod programs;
mod ready;
mod refused;

/// `PROPTEST_CASES` says how many.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)
}
