//! `--with CRATE`: a program together with library crates that add components, naming contexts and binding factories.
//! Cargo makes one static library of the crates and the platform (`library`) in the first crate's target folder. Crates
//! of one workspace share that folder, so common dependencies are compiled once.
//!
//! A crate declares its additions by a `pub static DRYSTONE: drystone_kortex::Addition`. The platform is taken from the
//! repository that its `drystone-kortex` comes from.

use std::path::{Path, PathBuf};

use crate::cargo::{self, Metadata};
use crate::library::{Crate, Package, Platform};
use crate::output::{Status, fail};

/// The feature that needs Cargo, for error messages.
const WHAT: &str = "--with";

/// Makes the static library that replaces the command's own.
pub fn library(crates: &[PathBuf], platform: Platform) -> Result<PathBuf, Status> {
    let found = check(crates)?;
    let (all, mut places): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let Places { root, target } = places.swap_remove(0);
    // Programs with other crates may be built there at the same time, so the name says which crates are in it.
    let name = all.iter().fold(platform.library().into(), |name, it| format!("{name}-{}", it.package));
    let package = Package { name: &name, platform, root: &root, crates: &all };
    let names = all.iter().map(|it| it.package.as_str()).collect::<Vec<_>>().join(", ");
    package.make(&target, WHAT, &format!("building {names} with what a program runs on"))
}

/// Looks up all crates, and checks that they can be built in.
pub fn check(crates: &[PathBuf]) -> Result<Vec<(Crate, Places)>, Status> {
    crates.iter().map(|folder| look_at(folder)).collect()
}

/// Folders that belong to a crate.
pub struct Places {
    /// The root of the repository that its `drystone-kortex` comes from.
    root: PathBuf,
    /// Cargo's target folder for it.
    target: PathBuf,
}

fn look_at(folder: &Path) -> Result<(Crate, Places), Status> {
    let metadata = Metadata::of(folder, WHAT)?;
    let shown = folder.join("Cargo.toml");
    let packages = metadata.packages();
    let own = packages.iter().find(|package| cargo::manifest(package) == metadata.manifest);
    let own = own.ok_or_else(|| fail(format_args!("{}: it is no package", shown.display())))?;
    let library =
        cargo::library(own).ok_or_else(|| fail(format_args!("{}: it has no library", shown.display())))?;
    let kortex = packages.iter().find(|package| package["name"] == "drystone-kortex").map(cargo::manifest);
    let root = kortex.as_deref().and_then(Path::parent).and_then(Path::parent).ok_or_else(|| {
        let need = "a crate that is built in depends on drystone-kortex";
        fail(format_args!("{}: {need}", shown.display()))
    })?;
    let package = own["name"].as_str().unwrap_or_default().to_string();
    let folder = metadata.manifest.parent().expect("a manifest is in a folder").to_path_buf();
    let found = Crate { package, library, folder };
    Ok((found, Places { root: root.to_path_buf(), target: metadata.target() }))
}
