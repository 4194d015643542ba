//! The programs with the structure that they have in Drystone.
//!
//! Channels have one place. They are kanal's, which hands a message straight to the task that waits for it: several
//! times quicker than tokio's own mpsc with one place, and a third of its size. What comes once comes by oneshot.

pub mod city;
pub mod eratosthenes;
pub mod library;
pub mod mandelbrot;
pub mod news;
pub mod producer_consumer;
pub mod token_ring;

use kanal::{AsyncReceiver, AsyncSender, bounded_async};

/// One direction of a communication.
pub fn channel<T>() -> (AsyncSender<T>, AsyncReceiver<T>) {
    bounded_async(1)
}
