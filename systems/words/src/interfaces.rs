//! The Rust side of the crate's interfaces, which `build.rs` makes of their declarations.

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
