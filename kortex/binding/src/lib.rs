//! Bindings between domains: a kernel, and users in address spaces of their own (*THINK*, section 4.5).
//!
//! * [`gate`]: a user calls the kernel. An ordinary call (`syscall`) saves callee-saved registers only; a call that may
//!   wait (`int`) saves all registers.
//! * [`upcall`]: the kernel calls a user in the user's address space, for a limited time.
//! * [`lrpc`]: a user calls another user: a system call, then an upcall.
//! * [`mod@array`]: a user makes a block of calls by one system call.
//! * [`signal`]: a user handles its own exceptions.
//! * [`memory`]: the kernel copies from and to users' memory. A copy fails where the memory isn't the user's.
//!
//! [`activation`] is a thread's position among domains.
//!
//! A user can name nothing but the numbers of its own [`Domain`]'s table, which maps each to a method of a component.
//! What isn't in the table can't be called.
//!
//! # Soundness
//!
//! There is one processor, and the kernel's code runs with interrupts off. Users pass only numbers, and none is
//! trusted.

#![no_std]
#![cfg(target_arch = "x86_64")]

pub mod activation;
pub mod array;
pub mod domain;
pub mod gate;
pub mod lrpc;
pub mod memory;
pub mod signal;
pub mod upcall;

pub use activation::{Activation, Domains};
pub use domain::{Call, Domain, Method, REFUSED};
