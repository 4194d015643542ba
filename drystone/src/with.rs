//! Programs together with library crates that add components, naming contexts and binding factories: those that
//! `--with CRATE` names, and those of the packages that a project depends on. Cargo makes one static library of the
//! crates and the platform (`library`) in the first crate's target folder, or in the project's. Crates of one workspace
//! share that folder, so common dependencies are compiled once.
//!
//! A crate declares its additions by a `pub static DRYSTONE: drystone_kortex::Addition`. The platform is taken from the
//! repository that its `drystone-kortex` comes from.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cargo::{self, Metadata};
use crate::library::{Crate, Package, Platform};
use crate::output::{Status, fail};

/// The feature that needs Cargo, for error messages.
const WHAT: &str = "--with";

/// Makes the static library that replaces the command's own.
pub fn library(crates: &[Found], platform: Platform) -> Result<PathBuf, Status> {
    let Found { root, source, target, folder, lock, .. } = &crates[0];
    let all: Vec<&Crate> = crates.iter().map(|found| &found.it).collect();
    // Programs with other crates may be built there at the same time, so the name says which crates are in it.
    let name = all.iter().fold(platform.library().into(), |name, it| format!("{name}-{}", it.package));
    let package = Package {
        name: &name,
        platform,
        root,
        source: source.as_deref(),
        crates: &all,
        folder,
        lock: Some(lock),
    };
    let names = all.iter().map(|it| it.package.as_str()).collect::<Vec<_>>().join(", ");
    package.make(target, WHAT, &format!("building {names} with what a program runs on"))
}

/// All crates that are built in: those that `--with` names, which are looked up, and those of the project.
pub fn all(named: &[PathBuf], of_project: Vec<Found>) -> Result<Vec<Found>, Status> {
    let mut all = named.iter().map(|folder| look_at(folder)).collect::<Result<Vec<_>, _>>()?;
    for found in of_project {
        if !all.iter().any(|known| known.it.folder == found.it.folder) {
            all.push(found);
        }
    }
    Ok(all)
}

/// A crate that can be built in.
pub struct Found {
    it: Crate,
    /// The root of the repository that its `drystone-kortex` comes from.
    root: PathBuf,
    /// Where Cargo gets that from, if not from its folder.
    source: Option<String>,
    /// Cargo's target folder for it.
    target: PathBuf,
    /// The folder whose settings of Cargo and toolchain are used.
    folder: PathBuf,
    /// The lock file that says which versions it is built with.
    lock: PathBuf,
}

fn look_at(folder: &Path) -> Result<Found, Status> {
    let metadata = Metadata::of(folder, WHAT)?;
    let own = metadata.own();
    let shown = folder.join("Cargo.toml");
    found(own.ok_or_else(|| fail(format_args!("{}: it is no package", shown.display())))?, &metadata, &shown)
}

/// A crate that a project depends on, or the project's own.
pub fn of_project(told: &Value, metadata: &Metadata) -> Result<Found, Status> {
    found(told, metadata, &cargo::manifest(told))
}

fn found(told: &Value, metadata: &Metadata, shown: &Path) -> Result<Found, Status> {
    let library =
        cargo::library(told).ok_or_else(|| fail(format_args!("{}: it has no library", shown.display())))?;
    let kortex = metadata.packages().iter().find(|package| package["name"] == "drystone-kortex");
    let kortex = kortex.ok_or_else(|| {
        let need = "a crate that is built in depends on drystone-kortex";
        fail(format_args!("{}: {need}", shown.display()))
    })?;
    let it = Crate {
        package: told["name"].as_str().unwrap_or_default().to_string(),
        library: library.name,
        folder: cargo::folder(told),
        source: cargo::source(told)?,
    };
    let root = cargo::manifest(kortex).ancestors().nth(2).unwrap_or(Path::new("/")).to_path_buf();
    let folder = metadata.manifest.parent().expect("a manifest is in a folder").to_path_buf();
    let lock = metadata.workspace().join("Cargo.lock");
    Ok(Found { it, root, source: cargo::source(kortex)?, target: metadata.target(), folder, lock })
}
