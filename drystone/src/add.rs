//! `drystone add` and `drystone remove`: Cargo changes the project's manifest and lock file.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use crate::arguments::{Add, Remove};
use crate::cargo::{self, Metadata};
use crate::output::{FAILED, Status, fail, say};
use crate::packages::is_package;
use crate::project::{Project, here};

/// Adds a dependency, and warns if a program has no use for it.
pub fn add(command: &Add) -> Result<(), Status> {
    let project = Project::current()?;
    let manifest = project.manifest();
    let before = dependencies(&manifest);
    let mut arguments: Vec<&OsStr> = command.name.iter().map(OsStr::new).collect();
    if let Some(path) = &command.path {
        arguments.extend([OsStr::new("--path"), path.as_os_str()]);
    }
    if let Some(url) = &command.git {
        arguments.extend(["--git", url].map(OsStr::new));
    }
    edit("add", &manifest, &arguments)?;
    let mut added: BTreeSet<String> = dependencies(&manifest).difference(&before).cloned().collect();
    // It may have been there already, in another version or from another place.
    added.extend(command.name.iter().filter_map(|name| Some(name.split('@').next()?.to_string())));
    let metadata = Metadata::of(here(&project.folder), "drystone add")?;
    for package in
        metadata.packages().iter().filter(|it| it["name"].as_str().is_some_and(|it| added.contains(it)))
    {
        if !is_package(package) {
            say(format_args!(
                "warning: {} has no source files (.dry) in {}, and no `pub static DRYSTONE` with components in Rust: \
                 programs have no use for it, only the project's own Rust\n",
                package["name"].as_str().unwrap_or_default(),
                cargo::folder(package).display(),
            ));
        }
    }
    Ok(())
}

/// Removes a dependency.
pub fn remove(command: &Remove) -> Result<(), Status> {
    edit("remove", &Project::current()?.manifest(), &[OsStr::new(&command.name)])
}

/// Has Cargo change a manifest. It says itself what it does, and what is wrong.
fn edit(how: &str, manifest: &Path, arguments: &[&OsStr]) -> Result<(), Status> {
    let mut cargo = cargo::command();
    cargo.arg(how).arg("--manifest-path").arg(manifest).args(arguments);
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(FAILED),
        Err(error) => Err(fail(cargo::unusable(&error, &format!("drystone {how}")))),
    }
}

/// The names of the crates that a manifest depends on.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let table: Option<Table> = fs::read_to_string(manifest).ok().and_then(|text| text.parse().ok());
    let dependencies = table.and_then(|table| table.get("dependencies").and_then(Value::as_table).cloned());
    dependencies.into_iter().flatten().map(|(name, _)| name).collect()
}
