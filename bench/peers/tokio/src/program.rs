//! What every program has: its sizes, its ways to work and what a run gives.

use std::pin::Pin;

use serde_json::Value;

/// See the head of this file.
pub struct Program {
    pub name: &'static str,
    /// With their defaults.
    pub sizes: &'static [(&'static str, i64)],
    /// With the structure of the Drystone program.
    pub mirror: Work,
}

/// Does the work once and checks it.
pub type Work = fn(&Sizes) -> Run;

/// A run to come.
pub type Run = Pin<Box<dyn Future<Output = Result<Outcome, String>> + Send>>;

/// The sizes of a run.
pub struct Sizes(Vec<(&'static str, i64)>);

impl Sizes {
    pub fn new(sizes: Vec<(&'static str, i64)>) -> Sizes {
        Sizes(sizes)
    }

    /// As a number to calculate with.
    pub fn number(&self, name: &str) -> i64 {
        let size = self.0.iter().find(|(known, _)| *known == name);
        size.expect("programs ask for what they declare").1
    }

    /// As a number of things.
    pub fn count(&self, name: &str) -> usize {
        self.number(name) as usize
    }
}

/// What one run gives.
pub struct Outcome {
    pub messages: i64,
    pub result: Value,
}

impl Outcome {
    /// Only mirrors count messages.
    pub fn uncounted(result: Value) -> Outcome {
        Outcome { messages: 0, result }
    }
}

/// Says what differs from what a run must give.
pub fn expect(what: &str, got: i64, want: i64) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: {got} instead of {want}")) }
}
