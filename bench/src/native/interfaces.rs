//! The Rust side of the interfaces of what is measured.

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
