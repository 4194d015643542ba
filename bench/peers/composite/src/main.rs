//! What else runs programs that somebody sent:
//!
//! ```text
//! peers ENGINE copy|instructions|ready N      {"ns": .., "result": ..}
//! ```
//!
//! `copy` is a loop with two calls of nothing, with three arguments each, N times; `instructions` a loop of four
//! instructions, N times; nanoseconds are of a round. A tenth of it is done before and not measured. `ready` makes the
//! first program ready to run N times; nanoseconds are of once.

mod common;
mod rbpf;
mod sbpf;
mod text;

fn main() {
    common::main(|engine| {
        Some(match engine {
            "rbpf" => rbpf::interpreter,
            "rbpf-jit" => rbpf::compiled,
            "sbpf" => sbpf::interpreter,
            "sbpf-jit" => sbpf::compiled,
            _ => return None,
        })
    });
}
