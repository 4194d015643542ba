//! The runtime as generated code meets it. Tests of when things happen are binaries of their own.
//!
//! One binary, because each takes as long to link as most of these take to run.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    reason = "steps are generated code, written by hand: why one is right is what its test is about"
)]

#[macro_use]
mod common;

mod collections;
mod communication;
mod connection;
mod contract;
mod deletion;
mod far;
mod faults;
mod loans;
mod lost;
mod monitor;
mod names;
mod parallel;
mod select;
mod storm;
mod testers;
mod visitors;
