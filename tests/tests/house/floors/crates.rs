//! Which crates the repository has: the root file of each library, program and build script.

use std::fs;
use std::path::Path;

use crate::sources::names;

/// Folders without sources of crates of ours.
const LEFT_OUT: [&str; 3] = ["fuzz", "target", "node_modules"];

/// Root files that Cargo finds by itself.
const USUAL: [&str; 3] = ["src/lib.rs", "src/main.rs", "build.rs"];

/// The root files of all crates, from the repository on, in order.
pub fn roots(repository: &Path) -> Vec<String> {
    let mut roots = Vec::new();
    visit(repository, "", &mut roots);
    roots.sort();
    roots.dedup();
    roots
}

/// Adds the roots of the packages in a folder, which is named from the repository on, and below it.
fn visit(repository: &Path, folder: &str, roots: &mut Vec<String>) {
    let here = repository.join(folder);
    if let Ok(manifest) = fs::read_to_string(here.join("Cargo.toml")) {
        let package = USUAL.into_iter().map(str::to_owned).chain(named(&manifest)).chain(programs(&here));
        let package = package.filter(|root| here.join(root).is_file());
        roots.extend(package.map(|root| format!("{folder}{root}")));
    }
    for name in names(&here) {
        if !name.starts_with('.') && !LEFT_OUT.contains(&&*name) && here.join(&name).is_dir() {
            visit(repository, &format!("{folder}{name}/"), roots);
        }
    }
}

/// The root files that a manifest names. Those of tests, examples and benchmarks are no part of the crate.
fn named(manifest: &str) -> Vec<String> {
    let mut of_the_crate = false;
    let mut roots = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            of_the_crate = matches!(line.trim(), "[lib]" | "[[bin]]");
        }
        if of_the_crate
            && let Some(path) = line.strip_prefix("path = \"").and_then(|rest| rest.strip_suffix('"'))
        {
            roots.push(path.to_owned());
        }
    }
    roots
}

/// The programs in `src/bin` of a package.
fn programs(package: &Path) -> Vec<String> {
    let folder = package.join("src/bin");
    if !folder.is_dir() {
        return Vec::new();
    }
    names(&folder)
        .into_iter()
        .filter(|name| name.ends_with(".rs"))
        .map(|name| format!("src/bin/{name}"))
        .collect()
}
