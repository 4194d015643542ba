//! The hardware of a PC (x86-64): components that mirror the hardware and contain no policy (*THINK*, section 4.1).
//!
//! * [`serial`]: a line to a terminal. [`debug`]: an emulator's ports for text and for its end.
//! * [`segments`]: the segments that are left in long mode, and the stacks for interrupts.
//! * [`exception`]: exceptions and interrupts (Trap in *THINK*).
//! * [`interrupt`]: interrupt controllers, which map devices to vectors.
//! * [`mmu`]: page tables and address spaces.
//! * [`processor`]: the processor's features.
//! * [`time`]: the cycle counter, its rate, an alarm, and the date.
//!
//! # Soundness
//!
//! All of this is the kernel's, which runs on one processor with all rights. Callers of an `unsafe` function know what
//! the hardware is. Safe functions have no effect on memory.

#![no_std]
#![cfg(target_arch = "x86_64")]

pub mod debug;
pub mod exception;
pub mod interrupt;
mod memory_functions;
pub mod mmu;
pub mod processor;
pub mod segments;
pub mod serial;
mod shared;
pub mod time;

pub use shared::Shared;
pub use x86_64;
