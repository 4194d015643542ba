//! The packages of a program: its project, and the crates that this depends on, directly or not, as Cargo finds them. A
//! crate counts if it has source files in the language or components in Rust. What such a crate depends on counts
//! likewise; all other crates are Rust's alone.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use drystone_language::imports::{Package, Packages};
use serde_json::Value;

use crate::cargo::{self, Metadata};
use crate::output::Status;
use crate::project::{Project, folder_in, here};
use crate::with::{self, Found};

/// The feature that needs Cargo, for error messages.
pub const WHAT: &str = "a project that depends on packages";

/// The packages of a program.
#[derive(Default)]
pub struct Known {
    /// Where imports are found.
    pub packages: Packages,
    /// The crates that have components in Rust, to be built in.
    pub natives: Vec<Found>,
}

/// Finds a project's packages. Without dependencies Cargo isn't needed.
pub fn of(project: &Project) -> Result<Known, Status> {
    if !project.has_dependencies {
        let own = package(&project.name, &project.folder, &project.files);
        return Ok(Known { packages: Packages::new(vec![own]), natives: Vec::new() });
    }
    let metadata = Metadata::of(here(&project.folder), WHAT)?;
    let graph = Graph::of(&metadata);
    let mut ids: Vec<&str> = metadata.own().and_then(|own| own["id"].as_str()).into_iter().collect();
    let mut packages = Vec::new();
    let mut natives = Vec::new();
    while let Some(&id) = ids.get(packages.len()) {
        let told = graph.packages[id];
        let mut found = match packages.is_empty() {
            true => package(&project.name, &project.folder, &project.files),
            false => package(
                told["name"].as_str().unwrap_or_default(),
                &shown(&cargo::folder(told)),
                &shown(&files(told)),
            ),
        };
        for dependency in graph.dependencies(id).filter(|id| is_package(graph.packages[id])) {
            let known = ids.iter().position(|known| *known == dependency);
            found.dependencies.push(known.unwrap_or_else(|| {
                ids.push(dependency);
                ids.len() - 1
            }));
        }
        packages.push(found);
        if is_native(told) {
            natives.push(with::of_project(told, &metadata)?);
        }
    }
    Ok(Known { packages: Packages::new(packages), natives })
}

/// Whether a crate is more than Rust's alone.
pub fn is_package(told: &Value) -> bool {
    has_files(told) || is_native(told)
}

/// Whether a crate has source files that others may import.
fn has_files(told: &Value) -> bool {
    let entries = fs::read_dir(files(told)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|extension| extension == "dry"))
}

/// Whether a crate has components in Rust: it depends on drystone-kortex, and its library declares what it adds.
fn is_native(told: &Value) -> bool {
    let dependencies = told["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let needs_kortex = |it: &Value| it["name"] == "drystone-kortex" && it["kind"].is_null();
    let source = cargo::library(told).map(|library| library.source);
    dependencies.iter().any(needs_kortex)
        && source
            .and_then(|path| fs::read_to_string(path).ok())
            .is_some_and(|text| text.contains("static DRYSTONE:"))
}

/// The folder of the files that others may import from a crate.
fn files(told: &Value) -> PathBuf {
    folder_in(&cargo::folder(told), told["metadata"]["drystone"]["files"].as_str().unwrap_or("."))
}

fn package(name: &str, folder: &Path, files: &Path) -> Package {
    let [folder, files] = [folder, files].map(|path| path.display().to_string());
    Package { name: name.into(), folder, files, dependencies: Vec::new() }
}

/// A path as people read it: from where the command runs, if that is shorter.
fn shown(path: &Path) -> PathBuf {
    let Ok(here) = env::current_dir() else { return path.to_path_buf() };
    let same = here.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = here.components().skip(same).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(same)).collect();
    if relative.as_os_str().len() < path.as_os_str().len() { relative } else { path.to_path_buf() }
}

/// What Cargo knows of crates, by their ids.
struct Graph<'a> {
    packages: HashMap<&'a str, &'a Value>,
    nodes: HashMap<&'a str, &'a Value>,
}

impl<'a> Graph<'a> {
    fn of(metadata: &'a Metadata) -> Graph<'a> {
        let by_id = |all: &'a [Value]| all.iter().filter_map(|it| Some((it["id"].as_str()?, it))).collect();
        Graph { packages: by_id(metadata.packages()), nodes: by_id(metadata.nodes()) }
    }

    /// What a crate depends on when it is built in, not only tested or while it is compiled.
    fn dependencies(&self, id: &str) -> impl Iterator<Item = &'a str> {
        let all = self.nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        let is_normal = |it: &&Value| {
            it["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
        };
        all.filter(is_normal).filter_map(|it| it["pkg"].as_str())
    }
}
