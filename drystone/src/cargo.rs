//! Cargo, as this command uses it: the metadata of crates ([`Metadata`]), and builds that show their progress.

use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::output::{Status, fail, say};

/// What Cargo knows of a crate and of all its dependencies.
pub struct Metadata {
    told: Value,
    /// The crate's own manifest.
    pub manifest: PathBuf,
}

impl Metadata {
    /// The metadata of the crate in a folder; `what` names the feature that needs Cargo, for error messages.
    pub fn of(folder: &Path, what: &str) -> Result<Metadata, Status> {
        let shown = folder.join("Cargo.toml");
        let folder = std::fs::canonicalize(folder).ok().filter(|_| shown.is_file());
        let folder =
            folder.ok_or_else(|| fail(format_args!("{}: there is no such crate", shown.display())))?;
        let manifest = folder.join("Cargo.toml");
        let mut cargo = command();
        cargo.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest);
        let done = cargo.output().map_err(|error| fail(unusable(&error, what)))?;
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

    /// The crate itself, unless its manifest is only that of a workspace.
    pub fn own(&self) -> Option<&Value> {
        self.packages().iter().find(|package| manifest(package) == self.manifest)
    }

    /// What each package depends on.
    pub fn nodes(&self) -> &[Value] {
        self.told["resolve"]["nodes"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Cargo's target folder.
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

/// Where a package is.
pub fn folder(package: &Value) -> PathBuf {
    manifest(package).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The library of a package.
pub struct Library {
    /// What Rust code calls it.
    pub name: String,
    /// Its first source file.
    pub source: PathBuf,
}

/// The library of a package, if it has one.
pub fn library(package: &Value) -> Option<Library> {
    let targets = package["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array().map(Vec::as_slice).unwrap_or_default();
        kinds.iter().any(|kind| kind == "lib" || kind == "rlib")
    };
    let library = targets.iter().find(is_library)?;
    let source = PathBuf::from(library["src_path"].as_str()?);
    Some(Library { name: library["name"].as_str()?.replace('-', "_"), source })
}

/// Where Cargo gets a package from, as a manifest says it; `None`: from its folder.
pub fn source(package: &Value) -> Result<Option<String>, Status> {
    let [name, version] = ["name", "version"].map(|key| package[key].as_str().unwrap_or_default());
    let Some(source) = package["source"].as_str() else { return Ok(None) };
    if source == "registry+https://github.com/rust-lang/crates.io-index" {
        return Ok(Some(format!("\"={version}\"")));
    }
    if let Some(index) = source.strip_prefix("registry+").or(source.starts_with("sparse+").then_some(source))
    {
        return Ok(Some(format!("{{ version = \"={version}\", registry-index = {index:?} }}")));
    }
    // `git+URL?branch=NAME#COMMIT`; the lock file says the commit.
    let git = source.strip_prefix("git+").and_then(|git| git.split('#').next());
    let git = git.ok_or_else(|| {
        fail(format_args!("{name} is from {source}: use a folder, a Git repository or a registry"))
    })?;
    let (url, which) = git.split_once('?').unwrap_or((git, ""));
    let which = which.split_once('=').map(|(kind, which)| format!(", {kind} = {which:?}"));
    Ok(Some(format!("{{ git = {url:?}{} }}", which.unwrap_or_default())))
}

/// A Cargo command without the settings of a surrounding build: instrumentation, lints, and the variables that Cargo
/// sets for build scripts and tests. Inherited, they would make Cargo run some build scripts again and recompile what
/// depends on them.
pub fn command() -> Command {
    const NAMES: [&str; 12] = [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_CRATE_NAME",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_TMPDIR",
        "OUT_DIR",
        "TARGET",
        "HOST",
        "OPT_LEVEL",
        "PROFILE",
        "DEBUG",
    ];
    const BEGINNINGS: [&str; 5] =
        ["CARGO_PKG_", "CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_BIN_"];
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        let is_meant = |it: &str| NAMES.contains(&it) || BEGINNINGS.iter().any(|begin| it.starts_with(begin));
        if name.to_str().is_some_and(is_meant) {
            command.env_remove(name);
        }
    }
    command
}

/// Builds and reports progress: in a terminal as one line that changes, otherwise a line now and then. `what` names the
/// feature that needs Cargo. If the build fails, the error is the output of Cargo and rustc.
pub fn build(mut cargo: Command, what: &str, doing: &str) -> Result<(), String> {
    let unusable = |error: &io::Error| unusable(error, what);
    // By default Cargo shows progress in terminals only.
    cargo.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "160");
    let mut child = cargo.stderr(Stdio::piped()).spawn().map_err(|error| unusable(&error))?;
    let mut told = String::new();
    let mut progress = Progress::new(doing);
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    while let Some(line) = next_line(&mut lines).map_err(|error| unusable(&error))? {
        match Step::of(&line) {
            Some(step) => progress.show(&step),
            None => told = told + &line + "\n",
        }
    }
    progress.end();
    let status = child.wait().map_err(|error| unusable(&error))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("the crates could not be built:\n{}", told.trim_end())),
    }
}

/// The next line of Cargo's output. Progress lines end with a carriage return. Other tools may write bytes there that
/// aren't UTF-8.
fn next_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    loop {
        let available = from.fill_buf()?;
        let end = available.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        line.extend_from_slice(&available[..end.unwrap_or(available.len())]);
        let (is_over, used) = (available.is_empty(), end.map_or(available.len(), |end| end + 1));
        from.consume(used);
        if is_over && line.is_empty() {
            return Ok(None);
        }
        if is_over || end.is_some() {
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
    }
}

/// What Cargo is doing.
#[derive(Debug, PartialEq)]
enum Step {
    /// It found something to compile.
    Begun,
    /// So many crates of the total are compiled.
    Compiled(String),
    /// Another Cargo is at work in the same folder.
    Blocked,
}

impl Step {
    fn of(line: &str) -> Option<Step> {
        const BEGINNINGS: [&str; 4] = ["Compiling", "Downloading", "Downloaded", "Updating"];
        let word = line.split_whitespace().next()?;
        if word == "Blocking" {
            return Some(Step::Blocked);
        }
        if word == "Building" {
            // `Building [====>     ] 12/85: tokio, rustls(build)`
            let count = line.split_once("] ")?.1.split(':').next()?;
            return count.contains('/').then(|| Step::Compiled(count.replace('/', " of ")));
        }
        BEGINNINGS.contains(&word).then_some(Step::Begun)
    }
}

/// Shows the progress of a build.
struct Progress<'a> {
    doing: &'a str,
    in_terminal: bool,
    /// When something was said last.
    said: Option<Instant>,
}

impl<'a> Progress<'a> {
    fn new(doing: &'a str) -> Progress<'a> {
        Progress { doing, in_terminal: io::stderr().is_terminal(), said: None }
    }

    fn show(&mut self, step: &Step) {
        let pause = Duration::from_millis(if self.in_terminal { 200 } else { 15_000 });
        if self.said.is_some_and(|said| said.elapsed() < pause) {
            return;
        }
        match step {
            Step::Blocked => return say(format_args!("{}: waiting for another Cargo to end\n", self.doing)),
            // If everything is compiled already, nothing need be said.
            Step::Compiled(_) if self.said.is_none() => return,
            Step::Compiled(count) if self.in_terminal => {
                say(format_args!("\r{}: {count} crates compiled ", self.doing))
            }
            Step::Compiled(count) => say(format_args!("{}: {count} crates compiled\n", self.doing)),
            Step::Begun if self.said.is_some() => return,
            Step::Begun if self.in_terminal => say(self.doing),
            Step::Begun => say(format_args!("{}\n", self.doing)),
        }
        self.said = Some(Instant::now());
    }

    fn end(&self) {
        if self.in_terminal && self.said.is_some() {
            say("\n");
        }
    }
}

/// Why Cargo could not be run; `what` names the feature that needs it.
pub fn unusable(error: &io::Error, what: &str) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            format!("{what} needs cargo, which was not found: install Rust (https://rustup.rs)")
        }
        _ => format!("cargo cannot be run: {error}"),
    }
}
