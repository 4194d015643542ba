//! The record: the instruction counts that were last accepted.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Instructions of one operation, by kernel.
pub type Counts = BTreeMap<String, f64>;

/// Reads a record; without a file it is empty.
pub fn read(path: &Path) -> Result<Counts, String> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Counts::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Writes a new record.
pub fn write(path: &Path, counts: &Counts) -> Result<(), String> {
    fs::write(path, text(counts)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Rounds to three digits: they don't vary between runs, so a new record shows only real changes.
pub fn rounded(count: f64) -> f64 {
    format!("{count:.2e}").parse().expect("what was a number is one")
}

/// Refuses what can't be a count: it would never be exceeded, or always.
fn parse(text: &str) -> Result<Counts, String> {
    let counts: Counts = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match counts.iter().find(|(_, count)| **count <= 0.0) {
        Some((kernel, count)) => Err(format!("{kernel}: {count} instructions")),
        None => Ok(counts),
    }
}

/// The text of a record, a kernel a line.
fn text(counts: &Counts) -> String {
    serde_json::to_string_pretty(counts).expect("names and numbers can be written") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let counts = Counts::from([("array".into(), 34.8), ("message".into(), 221.0)]);
        assert_eq!(text(&counts), "{\n  \"array\": 34.8,\n  \"message\": 221.0\n}\n");
        assert_eq!(parse(&text(&counts)), Ok(counts));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        assert!(parse("{\"array\": \"few\"}").is_err());
        assert!(parse("{\"array\": 34.8").is_err());
        assert_eq!(parse("{\"array\": 0}").unwrap_err(), "array: 0 instructions");
    }

    #[test]
    fn without_a_file_nothing_is_recorded() {
        assert_eq!(read(Path::new("/nowhere/instructions.json")), Ok(Counts::new()));
    }

    #[test]
    fn counts_have_three_digits() {
        assert_eq!([34.8385, 2358.18, 160.015].map(rounded), [34.8, 2360.0, 160.0]);
    }
}
