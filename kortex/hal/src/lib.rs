//! The hardware of a PC (x86-64), as it is: components that mirror it and decide nothing (paper 002, section 4.1).
//!
//! * [`serial`]: a line to a terminal, and [`debug`], what emulators have for that and to end.
//! * [`segments`]: the segments that are left in long mode, and the stacks that the processor takes.
//! * [`exception`]: what happens when the processor stops what it does: the paper's Trap.
//! * [`interrupt`]: from which device to which exception.
//! * [`mmu`]: page tables and what the processor knows of them.
//! * [`processor`]: what it can do.
//! * [`time`]: the processor's counter, what it counts in a second, and an alarm.
//!
//! # Soundness
//!
//! Everything here belongs to the kernel, in which one processor runs with all rights: who calls a function that is
//! `unsafe` knows what the hardware is. What may be called by anybody has no effect on memory.

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
