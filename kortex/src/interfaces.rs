//! The Rust side of the system's interfaces (language reference, section 8). `build.rs` generates it from their
//! declarations in the component language.
#![allow(clippy::enum_variant_names, reason = "messages have the names that programs know")]

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
