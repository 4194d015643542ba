//! eBPF as RFC 9669 has it: instructions, and their form in bytes.

mod slot;

pub use slot::Slot;
