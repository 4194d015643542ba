//! Bytes on their way out that the kernel hasn't taken yet, for connections and pipes.

use std::io::{self, Write};

/// See the head of this file. An empty one has no memory.
#[derive(Default)]
pub struct Outflow {
    bytes: Vec<u8>,
    /// How many of them the kernel has taken.
    sent: usize,
    /// Nothing more will be written.
    finished: bool,
    /// Why nothing can be written any more.
    failure: Option<io::Error>,
}

/// Bytes that are collected before they are sent at once.
const BATCH: usize = 16 * 1024;

/// Bytes: with so many unsent, writers should wait.
pub const FULL: usize = 64 * 1024;

impl Outflow {
    /// Takes bytes; whether there are enough now to be sent at once. `None`: there were none, or they are dropped,
    /// after a failure or the end.
    pub fn take(&mut self, bytes: &[u8]) -> Option<bool> {
        if self.finished || self.failure.is_some() || bytes.is_empty() {
            return None;
        }
        self.bytes.extend_from_slice(bytes);
        Some(self.bytes.len() >= BATCH)
    }

    /// How many bytes wait to be sent.
    pub fn unsent(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Nothing more will be written.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Whether nothing more will be written.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// What is left can't be written: it is dropped.
    pub fn fail(&mut self, why: io::Error) {
        (self.bytes, self.sent) = (Vec::new(), 0);
        self.failure.get_or_insert(why);
    }

    /// Why nothing can be written any more.
    pub fn failure(&self) -> Option<String> {
        self.failure.as_ref().map(drystone_reactor::reason)
    }

    /// Writes what the kernel takes; `true`: nothing is left.
    pub fn drain(&mut self, to: &mut impl Write) -> bool {
        while self.sent < self.bytes.len() {
            match to.write(&self.bytes[self.sent..]) {
                Ok(n) => self.sent += n,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => {
                        // Bytes in front that the kernel has shall not pile up.
                        if self.sent >= BATCH {
                            self.bytes.drain(..self.sent);
                            self.sent = 0;
                        }
                        return false;
                    }
                    io::ErrorKind::Interrupted => {}
                    _ => self.fail(error),
                },
            }
        }
        (self.bytes, self.sent) = (Vec::new(), 0);
        true
    }
}
