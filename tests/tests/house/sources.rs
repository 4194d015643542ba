//! The product's sources: the Rust files of all crates but those of tests, figures and tools.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders without sources of the product.
const LEFT_OUT: [&str; 8] =
    ["bench", "fuzz", "target", "tests", "examples", "node_modules", "editors", "clients"];

/// A source file.
pub struct Source {
    /// The folder of its crate, from the repository on.
    pub of_crate: String,
    /// Its path from there on.
    pub in_crate: String,
    /// What it says.
    pub text: String,
}

impl Source {
    /// The path from the repository on.
    pub fn path(&self) -> PathBuf {
        Path::new(&self.of_crate).join(&self.in_crate)
    }
}

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the repository").to_path_buf()
}

/// All sources, in the order of their paths.
pub fn of_product() -> Vec<Source> {
    let mut found = Vec::new();
    collect(Path::new(""), Path::new(""), &mut found);
    assert!(found.len() > 500, "only {} sources were found", found.len());
    found
}

/// Adds the sources in a folder and below. The crate is the innermost folder with a manifest.
fn collect(folder: &Path, outer: &Path, found: &mut Vec<Source>) {
    let here = repository().join(folder);
    let of_crate = if here.join("Cargo.toml").is_file() { folder } else { outer };
    for name in names(&here) {
        let path = folder.join(&name);
        if here.join(&name).is_dir() {
            if !name.starts_with('.') && !LEFT_OUT.contains(&&*name) {
                collect(&path, of_crate, found);
            }
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push(Source {
                of_crate: of_crate.display().to_string(),
                in_crate: path.strip_prefix(of_crate).expect("it is within").display().to_string(),
                text: drystone_golden::read(&here.join(&name)),
            });
        }
    }
}

/// The names of what lies in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |entry: io::Result<fs::DirEntry>| entry.expect("it can be read").file_name().into_string();
    let mut names: Vec<_> = entries.map(|entry| name(entry).expect("names are UTF-8")).collect();
    names.sort();
    names
}
