//! What is quickest with tokio: locks and direct calls instead of services, and many elements moved at once. The
//! results are those of the mirrors, the messages are not.

pub mod city;
pub mod eratosthenes;
pub mod library;
pub mod news;
pub mod producer_consumer;
