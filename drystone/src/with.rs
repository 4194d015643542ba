//! `--with CRATE`: a program together with library crates that add components, naming contexts and binding factories of
//! their own. Cargo makes one static library of them and the platform, in the first crate's target folder: crates of one
//! workspace share that, and what they and the platform are made of is compiled once.
//!
//! A crate says what it adds by a `pub static DRYSTONE: drystone_kortex::Addition`. Where it has `drystone-kortex` from,
//! there the platform is taken from, too.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::{Status, fail, say};

/// A crate that is built in.
struct Crate {
    folder: PathBuf,
    /// Where Cargo puts what it makes of it.
    target: PathBuf,
    package: String,
    /// As Rust code calls it.
    library: String,
}

/// Makes the static library that takes the place of the command's own.
pub fn library(crates: &[PathBuf]) -> Result<PathBuf, Status> {
    let mut all = Vec::new();
    let mut kortex = None;
    for folder in crates {
        let (found, platform) = look_at(folder)?;
        all.push(found);
        kortex = kortex.or(Some(platform));
    }
    let root = kortex.expect("at least one crate is given");
    let target = all[0].target.join("drystone");
    // Programs with other crates may be built there at the same time.
    let name = all.iter().fold("drystone-with".into(), |name, c| format!("{name}-{}", c.package));
    let package = target.join(&name);
    write(&name, &package, &root, &all)
        .map_err(|error| fail(format_args!("{}: {error}", package.display())))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--manifest-path"]).arg(package.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(&target);
    build(cargo, &all)?;
    Ok(target.join(format!("release/lib{}.a", name.replace('-', "_"))))
}

/// A crate, and the root of the repository that it has `drystone-kortex` from.
fn look_at(folder: &Path) -> Result<(Crate, PathBuf), Status> {
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
    let found = Crate { package: name, library: library.replace('-', "_"), folder, target };
    Ok((found, root.to_path_buf()))
}

/// Writes the package that joins them.
fn write(name: &str, package: &Path, root: &Path, crates: &[Crate]) -> io::Result<()> {
    fs::create_dir_all(package.join("src"))?;
    let quoted = |path: &Path| format!("{:?}", path.display().to_string());
    let dependencies: String =
        crates.iter().map(|c| format!("{} = {{ path = {} }}\n", c.package, quoted(&c.folder))).collect();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"staticlib\"]\n\n\
         [dependencies]\ndrystone-linux = {{ path = {} }}\n{dependencies}\n\
         [profile.release]\npanic = \"abort\"\n\n[workspace]\n",
        quoted(&root.join("platform/linux")),
    );
    // What isn't changed isn't built again.
    keep(&package.join("Cargo.toml"), &manifest)?;
    let lock = package.join("Cargo.lock");
    if !lock.exists() && root.join("Cargo.lock").exists() {
        fs::copy(root.join("Cargo.lock"), lock)?;
    }
    let additions: Vec<String> = crates.iter().map(|c| format!("&{}::DRYSTONE", c.library)).collect();
    keep(&package.join("src/lib.rs"), &code(&additions.join(", ")))
}

fn keep(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) { Ok(()) } else { fs::write(path, text) }
}

/// The same as `platform/linux/start`, with what the crates add.
fn code(additions: &str) -> String {
    format!(
        "//! Made by `drystone build --with`.\n\
         use std::ffi::{{c_char, c_int}};\n\n\
         unsafe extern \"C\" {{\n\
         \x20   static ds_program: drystone_linux::Program;\n\
         \x20   static ds_processor: c_char;\n}}\n\n\
         static ADDITIONS: &[&drystone_linux::Addition] = &[{additions}];\n\n\
         #[unsafe(no_mangle)]\n\
         pub unsafe extern \"C\" fn main(argc: c_int, argv: *const *const c_char) -> c_int {{\n\
         \x20   unsafe {{ drystone_linux::start(argc, argv, &ds_program, &raw const ds_processor, ADDITIONS) }}\n}}\n"
    )
}

/// Says what is being built: in a terminal each step, else that there is something to be done.
fn build(mut cargo: Command, crates: &[Crate]) -> Result<(), Status> {
    let mut child = alone(&mut cargo).stderr(Stdio::piped()).spawn().map_err(|error| unusable(&error))?;
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
    alone(&mut command).output().map_err(|error| unusable(&error))
}

/// Takes away what is meant for the build around this one, if there is one.
fn alone(command: &mut Command) -> &mut Command {
    for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"] {
        command.env_remove(name);
    }
    command
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
