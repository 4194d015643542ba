//! The work of a binding's two sides, the same for Drystone and its peers, and the check of its result.

use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::Value;

use crate::execute::execute;

/// Bytes of a text.
pub const TEXT: u64 = 100;
/// The timeout of a process.
const LIMIT: Duration = Duration::from_secs(60);

/// What the client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Work {
    /// A number; the client waits for the next number as the answer.
    Ask,
    /// Numbers; at the end the client asks for their sum.
    Put,
    /// Texts of [`TEXT`] bytes; at the end the client asks for the sum of their lengths.
    Text,
}

impl Work {
    /// Its word on the command line of all contenders.
    pub fn word(self) -> &'static str {
        match self {
            Work::Ask => "ask",
            Work::Put => "put",
            Work::Text => "text",
        }
    }

    /// The correct result for `n` messages.
    pub fn sum(self, n: u64) -> u64 {
        let numbers = n * (n + 1) / 2;
        match self {
            Work::Ask => numbers + n,
            Work::Put => numbers,
            Work::Text => n * TEXT,
        }
    }

    /// Runs a client that sends `n` messages on so many processors; returns nanoseconds for each.
    pub fn client(self, n: u64, mut command: Command, cores: usize) -> Result<f64, String> {
        let output = execute(&mut command, cores, LIMIT)?.output;
        let (ms, sum) = told(&output).ok_or_else(|| format!("no figures, but: {output}"))?;
        match sum == self.sum(n) {
            true => Ok(ms * 1e6 / n as f64),
            false => Err(format!("{n} times {}: the sum is {sum} instead of {}", self.word(), self.sum(n))),
        }
    }
}

/// Milliseconds and the sum: peers print them as such, a program of Drystone as its result.
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
