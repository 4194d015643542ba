//! Systems of native components. Cargo makes the image of the components' crates and of a package that puts them
//! together (`package`). The crates are those that `--with` names; otherwise the crate beside the system's file and its
//! dependencies.

mod package;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drystone_language::program::{Program, System};
use serde_json::Value;

use crate::arguments::{Build, Source};
use crate::cargo::{self, Metadata};
use crate::image;
use crate::library::keep;
use crate::output::{Status, fail, wrong};
use crate::sizes::Native;

pub use package::Parts;

/// The feature that needs Cargo, for error messages.
const WHAT: &str = "a system of native components";

/// The target of images.
const TRIPLE: &str = "x86_64-unknown-none";

/// Refuses options that have no meaning for a system, rather than ignoring them.
pub fn check(command: &Build) -> Result<(), Status> {
    if command.mir {
        return Err(wrong(
            "--mir shows what the compiler makes of a program, and a system is put together only",
        ));
    }
    check_files(&command.target.initial)
}

/// Refuses initial files likewise.
pub fn check_files(files: &[PathBuf]) -> Result<(), Status> {
    match files.is_empty() {
        true => Ok(()),
        false => Err(wrong("--files is for programs: a system's own components have files")),
    }
}

/// A system that can be built: all its parts were found.
pub struct Composed<'a> {
    parts: Parts<'a>,
    /// The first crate that was named.
    first: Metadata,
    /// The crates, as its package's manifest lists them.
    dependencies: String,
    /// The code of its package.
    code: String,
}

impl<'a> Composed<'a> {
    /// Looks at the crates of a system.
    pub fn new(program: &'a Program, system: &'a System, source: &Source) -> Result<Composed<'a>, Status> {
        let parts = Parts { program, system };
        let beside = source.files[0].parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new(".")).to_path_buf();
        if source.with.is_empty() && !beside.join("Cargo.toml").is_file() {
            let what = "its components are from the crate beside it, or from those that --with names";
            return Err(fail(format_args!("there is no {}: {what}", beside.join("Cargo.toml").display())));
        }
        let folders = if source.with.is_empty() { vec![beside] } else { source.with.clone() };
        let mut packages = BTreeMap::new();
        let mut first = None;
        for folder in folders {
            let metadata = Metadata::of(&folder, WHAT)?;
            for package in metadata.packages() {
                packages.extend(cargo::library(package).map(|library| (library.name, package.clone())));
            }
            first.get_or_insert(metadata);
        }
        let first = first.expect("there is a folder");
        let mut dependencies = String::new();
        for name in parts.crates() {
            let package = packages.get(&name).ok_or_else(|| {
                let shown = first.manifest.display();
                fail(format_args!(
                    "{shown}: no crate {name} is among what it depends on, and the system needs it"
                ))
            })?;
            dependencies += &dependency(package)?;
        }
        let code = parts.code().map_err(fail)?;
        Ok(Composed { parts, first, dependencies, code })
    }

    /// Builds its image, with the symbols that tell its parts apart.
    pub fn build(&self) -> Result<PathBuf, Status> {
        let Composed { first, dependencies, code, .. } = self;
        let name = self.parts.package();
        let target = first.target();
        let folder = target.join("drystone").join(&name);
        let layout = folder.join("image.ld");
        let written = std::fs::create_dir_all(folder.join("src"))
            .and_then(|()| keep(&folder.join("Cargo.toml"), &package::manifest(&name, dependencies)))
            .and_then(|()| keep(&folder.join("src/main.rs"), code))
            .and_then(|()| keep(&layout, image::LAYOUT));
        written.map_err(|error| fail(format_args!("{}: {error}", folder.display())))?;
        let lock = folder.join("Cargo.lock");
        if !lock.exists() {
            // Without a lock file, Cargo resolves the versions.
            let _ = std::fs::copy(first.workspace().join("Cargo.lock"), lock);
        }
        let mut cargo = cargo::command();
        cargo.current_dir(&folder).env("CARGO_ENCODED_RUSTFLAGS", "-Crelocation-model=static");
        cargo.args(["rustc", "--release", "--target", TRIPLE, "--target-dir"]).arg(&target).arg("--");
        cargo.arg(format!("-Clink-arg=-T{}", layout.display()));
        cargo.args(["-Clink-arg=--gc-sections", "-Clink-arg=-zmax-page-size=4096"]);
        let doing = format!("building {} of {} parts", self.parts.name(), self.parts.system.parts.len());
        cargo::build(cargo, WHAT, &doing).map_err(fail)?;
        Ok(target.join(TRIPLE).join("release").join(name))
    }

    /// Its parts, by their names in the image.
    pub fn natives(&self) -> Vec<Native> {
        self.parts.natives()
    }
}

/// A crate's line in the manifest: where it comes from.
fn dependency(package: &Value) -> Result<String, Status> {
    let name = package["name"].as_str().unwrap_or_default();
    let folder = cargo::folder(package);
    let source = cargo::source(package)?;
    let source = source.unwrap_or_else(|| format!("{{ path = {:?} }}", folder.display().to_string()));
    Ok(format!("{name} = {source}\n"))
}
