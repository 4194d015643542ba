//! Bindings between domains: a kernel, and its users in address spaces of their own (paper 002, section 4.5).
//!
//! * [`gate`]: a user calls the kernel (`syscall`), which keeps what calls keep anyway, or calls what may have to wait
//!   (`int`), which keeps everything.
//! * [`upcall`]: the kernel calls a user, in its address space, for no longer than it is given.
//! * [`lrpc`]: a user calls another: a system call, then an upcall.
//! * [`array`]: a user makes a block of calls by one.
//! * [`signal`]: what has happened to a user is told to it.
//! * [`memory`]: the kernel reads and writes what a user says, and fails where that isn't the user's.
//!
//! [`activation`] is where a thread is in all that.
//!
//! A user has no names for anything but the numbers of its own [`Domain`]'s table of calls, which says for each which
//! function of which component that is: what isn't there can't be called.
//!
//! # Soundness
//!
//! One processor, on which the kernel's code runs with interrupts off. What a user passes is numbers; nothing of it is
//! believed.

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
