//! Cargo, for what consists of crates: what it knows of one, and how it builds.

use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::library::alone;
use crate::{Status, fail, say};

/// What Cargo knows of a crate and of all that it depends on.
pub struct Metadata {
    told: Value,
    /// The crate's own manifest.
    pub manifest: PathBuf,
}

impl Metadata {
    /// Of the crate in a folder; `what` needs Cargo for it.
    pub fn of(folder: &Path, what: &str) -> Result<Metadata, Status> {
        let shown = folder.join("Cargo.toml");
        let folder = std::fs::canonicalize(folder).ok().filter(|_| shown.is_file());
        let folder =
            folder.ok_or_else(|| fail(format_args!("{}: there is no such crate", shown.display())))?;
        let manifest = folder.join("Cargo.toml");
        let mut cargo = Command::new("cargo");
        alone(&mut cargo);
        cargo.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest);
        let done = cargo.output().map_err(|error| unusable(&error, what))?;
        if !done.status.success() {
            let reason = String::from_utf8_lossy(&done.stderr);
            return Err(fail(format_args!("{}: {}", shown.display(), reason.trim_end())));
        }
        let told = serde_json::from_slice(&done.stdout)
            .map_err(|error| fail(format_args!("cargo metadata can't be understood: {error}")))?;
        Ok(Metadata { told, manifest })
    }

    /// All packages.
    pub fn packages(&self) -> &[Value] {
        self.told["packages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Where Cargo puts what it makes.
    pub fn target(&self) -> PathBuf {
        PathBuf::from(self.told["target_directory"].as_str().unwrap_or_default())
    }

    /// The folder of its workspace.
    pub fn workspace(&self) -> PathBuf {
        PathBuf::from(self.told["workspace_root"].as_str().unwrap_or_default())
    }
}

/// Where a package's manifest is.
pub fn manifest(package: &Value) -> PathBuf {
    PathBuf::from(package["manifest_path"].as_str().unwrap_or_default())
}

/// What Rust code calls the library of a package, if it has one.
pub fn library(package: &Value) -> Option<String> {
    let targets = package["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array().map(Vec::as_slice).unwrap_or_default();
        kinds.iter().any(|kind| kind == "lib" || kind == "rlib")
    };
    let library = targets.iter().find(is_library)?;
    Some(library["name"].as_str()?.replace('-', "_"))
}

/// Builds. Says what is being built: in a terminal each step, else that there is something to be done. `what` needs Cargo for it.
pub fn build(mut cargo: Command, what: &str, doing: &str) -> Result<(), Status> {
    let unusable = |error: &io::Error| unusable(error, what);
    let mut child = cargo.stderr(Stdio::piped()).spawn().map_err(|error| unusable(&error))?;
    let mut told = String::new();
    let (in_terminal, mut has_said) = (io::stderr().is_terminal(), false);
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    while let Some(line) = next_line(&mut lines).map_err(|error| unusable(&error))? {
        if is_step(&line) {
            if in_terminal {
                say(format_args!("{line}\n"));
            } else if !std::mem::replace(&mut has_said, true) {
                say(format_args!("{doing}\n"));
            }
        }
        told = told + &line + "\n";
    }
    let status = child.wait().map_err(|error| unusable(&error))?;
    match status.success() {
        true => Ok(()),
        false => Err(fail(format_args!("the crates could not be built:\n{}", told.trim_end()))),
    }
}

/// Whatever tools of others have written there, which needn't be UTF-8.
fn next_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let count = from.read_until(b'\n', &mut line)?;
    let text = String::from_utf8_lossy(&line);
    Ok((count > 0).then(|| text.trim_end_matches(['\r', '\n']).into()))
}

/// Whether cargo has something to do, and says what.
fn is_step(line: &str) -> bool {
    let steps = ["Compiling", "Downloading", "Downloaded", "Updating", "Blocking"];
    line.split_whitespace().next().is_some_and(|word| steps.contains(&word))
}

fn unusable(error: &io::Error, what: &str) -> Status {
    match error.kind() {
        ErrorKind::NotFound => {
            fail(format_args!("{what} needs cargo, which was not found: install Rust (https://rustup.rs)"))
        }
        _ => fail(format_args!("cargo cannot be run: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_text_ends_nothing() {
        let mut from = &b"one\n\xFF two\n\nthree"[..];
        let lines = std::iter::from_fn(|| next_line(&mut from).expect("it can be read"));
        assert_eq!(lines.collect::<Vec<_>>(), ["one", "\u{FFFD} two", "", "three"]);
    }
}
