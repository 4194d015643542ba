//! Tests of the demultiplexer: generated filters and programs, on packets of which many almost match.

mod classic;
mod filters;
mod guarded;
mod packets;
mod pcap;
mod small;
mod threads;

/// `PROPTEST_CASES` says how many.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)
}
