//! The Rust side of the system's interfaces, which `build.rs` takes from where they are declared in the component
//! language: language reference, section 8.
#![allow(clippy::enum_variant_names, reason = "messages have the names that programs know")]

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
