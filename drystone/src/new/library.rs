//! The project's own Rust. Programs in the language need none, so this may stay empty. Components and procedures in
//! Rust go here: Drystone's book tells how in "Components in Rust" (docs/src/native.md).
