//! What the two sides of a binding do, the same for Drystone and its peers, and how it is seen that they did.

use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::Value;

use crate::execute::execute;

/// Bytes of a text.
pub const TEXT: u64 = 100;
/// For one process.
const LIMIT: Duration = Duration::from_secs(60);

/// What a client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Work {
    /// A number, and waits for the next one as the answer.
    Ask,
    /// Numbers; in the end it asks for their sum.
    Put,
    /// Texts of [`TEXT`] bytes; in the end it asks for the sum of their lengths.
    Text,
}

impl Work {
    /// As all contenders know it.
    pub fn word(self) -> &'static str {
        match self {
            Work::Ask => "ask",
            Work::Put => "put",
            Work::Text => "text",
        }
    }

    /// What comes out when `n` messages were said and understood.
    pub fn sum(self, n: u64) -> u64 {
        let numbers = n * (n + 1) / 2;
        match self {
            Work::Ask => numbers + n,
            Work::Put => numbers,
            Work::Text => n * TEXT,
        }
    }

    /// Runs a client that says `n` messages on so many processors; nanoseconds for each of them.
    pub fn client(self, n: u64, mut command: Command, cores: usize) -> Result<f64, String> {
        let output = execute(&mut command, cores, LIMIT)?.output;
        let (ms, sum) = told(&output).ok_or_else(|| format!("no figures, but: {output}"))?;
        match sum == self.sum(n) {
            true => Ok(ms * 1e6 / n as f64),
            false => Err(format!("{n} times {}: the sum is {sum} instead of {}", self.word(), self.sum(n))),
        }
    }
}

/// Milliseconds and the sum: peers say them as such, and a program of Drystone as its result.
fn told(line: &str) -> Option<(f64, u64)> {
    let told: Value = serde_json::from_str(line).ok()?;
    let Some(result) = told["result"].as_str() else {
        return Some((told["ms"].as_f64()?, told["sum"].as_u64()?));
    };
    let (ms, sum) = result.trim().split_once(' ')?;
    Some((ms.parse().ok()?, sum.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> Command {
        let mut command = Command::new("echo");
        command.arg(text);
        command
    }

    #[test]
    fn a_client_that_did_its_work_has_a_figure() {
        assert_eq!(Work::Put.client(10, says(r#"{"ms": 5.0, "sum": 55}"#), 1), Ok(500_000.0));
        let drystone = r#"{"ms": 80.0, "messages": 20, "result": "5 65\n"}"#;
        assert_eq!(Work::Ask.client(10, says(drystone), 1), Ok(500_000.0));
        assert_eq!(Work::Text.client(10, says(r#"{"ms": 5.0, "sum": 1000}"#), 1), Ok(500_000.0));
    }

    #[test]
    fn a_client_whose_messages_were_lost_has_none() {
        let error = Work::Put.client(10, says(r#"{"ms": 5.0, "sum": 54}"#), 1).unwrap_err();
        assert_eq!(error, "10 times put: the sum is 54 instead of 55");
        assert!(Work::Put.client(10, says("hello"), 1).unwrap_err().starts_with("no figures"));
    }
}
