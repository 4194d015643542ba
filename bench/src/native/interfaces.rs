//! The Rust side of the measured interfaces.

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
