//! The Rust side of the interface that `Sql.dry` declares, which `build.rs` makes of it.

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
