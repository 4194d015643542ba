//! What a kernel's primitives cost, in instructions: systems that run in one QEMU, which counts them.

pub mod linux;
pub mod published;
