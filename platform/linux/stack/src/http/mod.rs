//! HTTP/1.1 (RFC 9112), over any stream: a client that gets, and a small server.

mod body;
mod client;
mod head;
mod server;

pub use client::{Response, get};
pub use server::{Answer, Request, serve};
