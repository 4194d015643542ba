//! `--with CRATE`: a program together with library crates that add components, naming contexts and binding factories of
//! their own. Cargo makes one static library of them and the platform (`library`), in the first crate's target folder: crates of one
//! workspace share that, and what they and the platform are made of is compiled once.
//!
//! A crate says what it adds by a `pub static DRYSTONE: drystone_kortex::Addition`. Where it has `drystone-kortex` from,
//! there the platform is taken from, too.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::library::{Crate, Package, Platform, alone};
use crate::{Status, fail, say};

/// The kind of machine for which this was compiled.
const TRIPLE: &str = env!("DRYSTONE_TRIPLE");

/// Makes the static library that takes the place of the command's own.
pub fn library(crates: &[PathBuf], platform: Platform) -> Result<PathBuf, Status> {
    let mut all = Vec::new();
    let mut places = None;
    for folder in crates {
        let (found, its) = look_at(folder)?;
        all.push(found);
        places = places.or(Some(its));
    }
    let Places { root, target } = places.expect("at least one crate is given");
    let target = target.join("drystone");
    // Programs with other crates may be built there at the same time.
    let name = all.iter().fold(platform.library().into(), |name, it| format!("{name}-{}", it.package));
    let package = Package { name: &name, platform, root: &root, crates: &all };
    package.write(&target).map_err(|error| fail(format_args!("{}: {error}", target.display())))?;
    build(package.command("cargo", &target, TRIPLE), &all)?;
    Ok(package.library(&target, TRIPLE))
}

/// What else is known of a crate.
struct Places {
    /// The root of the repository that it has `drystone-kortex` from.
    root: PathBuf,
    /// Where Cargo puts what it makes of it.
    target: PathBuf,
}

fn look_at(folder: &Path) -> Result<(Crate, Places), Status> {
    let manifest = folder.join("Cargo.toml");
    let folder = fs::canonicalize(folder).ok().filter(|_| manifest.is_file());
    let folder =
        folder.ok_or_else(|| fail(format_args!("{}: there is no such crate", manifest.display())))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    let told = output_of(cargo)?;
    if !told.status.success() {
        let reason = String::from_utf8_lossy(&told.stderr);
        return Err(fail(format_args!("{}: {}", manifest.display(), reason.trim_end())));
    }
    let metadata: Value = serde_json::from_slice(&told.stdout)
        .map_err(|error| fail(format_args!("cargo metadata can't be understood: {error}")))?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let path = |package: &Value| PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
    let own = packages.iter().find(|package| path(package) == folder.join("Cargo.toml"));
    let own = own.ok_or_else(|| fail(format_args!("{}: it is no package", manifest.display())))?;
    let targets = own["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_library = |target: &&Value| {
        target["kind"]
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib" || kind == "rlib"))
    };
    let library = targets.iter().find(is_library).and_then(|target| target["name"].as_str());
    let library = library.ok_or_else(|| fail(format_args!("{}: it has no library", manifest.display())))?;
    let kortex = packages.iter().find(|package| package["name"] == "drystone-kortex").map(path);
    let root = kortex.as_deref().and_then(Path::parent).and_then(Path::parent).ok_or_else(|| {
        let need = "a crate that is built in depends on drystone-kortex";
        fail(format_args!("{}: {need}", manifest.display()))
    })?;
    let name = own["name"].as_str().unwrap_or_default().to_string();
    let target = PathBuf::from(metadata["target_directory"].as_str().unwrap_or_default());
    let found = Crate { package: name, library: library.replace('-', "_"), folder };
    Ok((found, Places { root: root.to_path_buf(), target }))
}

/// Says what is being built: in a terminal each step, else that there is something to be done.
fn build(mut cargo: Command, crates: &[Crate]) -> Result<(), Status> {
    let mut child = cargo.stderr(Stdio::piped()).spawn().map_err(|error| unusable(&error))?;
    let mut told = String::new();
    let (in_terminal, mut has_said) = (io::stderr().is_terminal(), false);
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    while let Some(line) = next_line(&mut lines).map_err(|error| unusable(&error))? {
        if is_step(&line) {
            if in_terminal {
                say(format_args!("{line}\n"));
            } else if !std::mem::replace(&mut has_said, true) {
                let names = crates.iter().map(|c| c.package.as_str()).collect::<Vec<_>>().join(", ");
                say(format_args!("building {names} with what a program runs on: minutes, the first time\n"));
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

fn output_of(mut command: Command) -> Result<Output, Status> {
    alone(&mut command);
    command.output().map_err(|error| unusable(&error))
}

fn unusable(error: &io::Error) -> Status {
    match error.kind() {
        ErrorKind::NotFound => {
            fail("--with needs cargo, which was not found: install Rust (https://rustup.rs)")
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
