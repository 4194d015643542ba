//! A project: a folder whose `Cargo.toml` has a table `[package.metadata.drystone]`. What this says is read here,
//! without Cargo; what the project depends on, `packages` asks Cargo.

use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use crate::output::{Status, WRONG, say, wrong};

/// The file that makes a folder a project.
const MANIFEST: &str = "Cargo.toml";

/// What a project's manifest says.
pub struct Project {
    /// The project's name.
    pub name: String,
    /// Its folder, seen from where the command runs.
    pub folder: PathBuf,
    /// The folder of the files that others may import.
    pub files: PathBuf,
    /// Whether it depends on any crates.
    pub has_dependencies: bool,
    entry: String,
    tests: Vec<String>,
}

impl Project {
    /// The project that a file belongs to: the innermost one around it.
    pub fn of(file: &Path) -> Result<Option<Project>, Status> {
        let mut folder = file.parent().unwrap_or(file).to_path_buf();
        let Ok(real) = here(&folder).canonicalize() else { return Ok(None) };
        for _ in real.ancestors() {
            if let Some(project) = read(&folder)? {
                return Ok(Some(project));
            }
            folder = above(&folder);
        }
        Ok(None)
    }

    /// The project in which the command runs.
    pub fn current() -> Result<Project, Status> {
        let project = Project::of(Path::new(""))?;
        project.ok_or_else(|| {
            wrong(format_args!(
                "there is no project here: neither this folder nor one around it has a {MANIFEST} with a table \
                 [package.metadata.drystone]\n\
                 help: name a file, or make a project by drystone new NAME"
            ))
        })
    }

    /// The file that its program begins with.
    pub fn entry(&self) -> Result<PathBuf, Status> {
        let path = self.folder.join(&self.entry);
        if path.is_file() {
            return Ok(path);
        }
        let what = if path.is_dir() { "it is a folder" } else { "there is no such file" };
        let hint = "entry in [package.metadata.drystone] names the file that the program begins with";
        Err(wrong(format_args!("{}: {what}\nhelp: {hint} ({})", path.display(), self.manifest().display())))
    }

    /// The files of its tests, in order, seen from its folder.
    pub fn tests(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.tests.iter().flat_map(|pattern| self.matching(pattern)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The source files of the project: all within its folder, except those of crates within it and what Cargo made.
    pub fn sources(&self) -> Vec<PathBuf> {
        let mut left = vec![self.folder.clone()];
        let mut all = Vec::new();
        while let Some(folder) = left.pop() {
            for path in entries(&folder) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if path.is_dir() {
                    let is_other = name.starts_with('.') || name == "target" || path.join(MANIFEST).exists();
                    left.extend((!is_other && !path.is_symlink()).then_some(path));
                } else if name.ends_with(".dry") {
                    all.push(path);
                }
            }
        }
        all.sort();
        all
    }

    /// Where its manifest is.
    pub fn manifest(&self) -> PathBuf {
        self.folder.join(MANIFEST)
    }

    /// The files that a pattern stands for: a path in which a `*` of the file's name stands for any characters.
    fn matching(&self, pattern: &str) -> Vec<PathBuf> {
        let path = Path::new(pattern);
        let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
        let Some((begin, rest)) = name.to_str().and_then(|name| name.split_once('*')) else {
            return vec![path.to_path_buf()];
        };
        let fits = |name: &str| name.strip_prefix(begin).is_some_and(|left| ends_as(left, rest));
        let found = entries(&self.folder.join(folder)).into_iter().filter(|path| path.is_file());
        let names = found.filter_map(|path| Some(path.file_name()?.to_str()?.to_string()));
        names.filter(|name| fits(name)).map(|name| folder.join(name)).collect()
    }
}

/// Whether any characters, and then what the rest of a pattern stands for, are this text.
fn ends_as(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text.ends_with(pattern),
        // The first place is the best: it leaves most for what follows.
        Some((part, rest)) => text.find(part).is_some_and(|at| ends_as(&text[at + part.len()..], rest)),
    }
}

/// A folder's path for the system, to which an empty path is nothing.
pub fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The folder around another one, by its path.
fn above(folder: &Path) -> PathBuf {
    match folder.components().next_back() {
        Some(Component::Normal(_)) => folder.parent().map(Path::to_path_buf).unwrap_or_default(),
        Some(Component::RootDir | Component::Prefix(_)) => folder.to_path_buf(),
        Some(Component::CurDir) | None => PathBuf::from(".."),
        Some(Component::ParentDir) => folder.join(".."),
    }
}

/// What is in a folder; nothing if that can't be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    // Paths are joined to the folder as it is given, so files here have no `./`.
    let all = fs::read_dir(here(folder)).into_iter().flatten().flatten();
    all.map(|entry| folder.join(entry.file_name())).collect()
}

/// The project in a folder, if there is one.
fn read(folder: &Path) -> Result<Option<Project>, Status> {
    let manifest = folder.join(MANIFEST);
    let Ok(bytes) = fs::read(&manifest) else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    // Other manifests are Cargo's alone.
    if !["metadata", "drystone"].iter().all(|word| text.contains(word)) {
        return Ok(None);
    }
    let table: Table = text.parse().map_err(|error| {
        say(format_args!("error: {}: {error}", manifest.display()));
        WRONG
    })?;
    let package = table.get("package");
    let own = package.and_then(|package| package.get("metadata")?.get("drystone"));
    own.map(|own| understand(folder, &table, own))
        .transpose()
        .map_err(|what| wrong(format_args!("{}: {what}", manifest.display())))
}

fn understand(folder: &Path, manifest: &Table, own: &Value) -> Result<Project, String> {
    let own = own.as_table().ok_or("package.metadata.drystone is a table: [package.metadata.drystone]")?;
    const KNOWN: [&str; 3] = ["entry", "tests", "files"];
    if let Some(key) = own.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(format!(
            "{key} has no meaning in [package.metadata.drystone]: it has {}",
            KNOWN.join(", ")
        ));
    }
    let text = |key: &str, default: &str| match own.get(key) {
        None => Ok(default.to_string()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("{key} is the name of a file or folder, such as {key} = \"{default}\"")),
    };
    let tests = match own.get("tests") {
        None => Some(vec!["tests/*.dry".to_string()]),
        Some(Value::Array(tests)) => tests.iter().map(|test| Some(test.as_str()?.to_string())).collect(),
        Some(_) => None,
    };
    let name = manifest["package"].get("name").and_then(Value::as_str);
    Ok(Project {
        name: name.ok_or("[package] has no name, such as name = \"greetings\"")?.to_string(),
        folder: folder.to_path_buf(),
        files: folder_in(folder, &text("files", ".")?),
        has_dependencies: has_dependencies(manifest),
        entry: text("entry", "main.dry")?,
        tests: tests.ok_or("tests is a list of files, such as tests = [\"tests/*.dry\"]")?,
    })
}

/// A folder that a manifest names.
pub fn folder_in(folder: &Path, name: &str) -> PathBuf {
    let steps = Path::new(name).components().filter(|step| *step != Component::CurDir);
    steps.fold(folder.to_path_buf(), |folder, step| folder.join(step))
}

/// Whether a manifest names any crates, for whatever target.
fn has_dependencies(manifest: &Table) -> bool {
    let own = manifest.get("dependencies");
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let all = own.into_iter().chain(targets.filter_map(|target| target.get("dependencies")));
    all.filter_map(Value::as_table).any(|table| !table.is_empty())
}

#[cfg(test)]
mod tests {
    use super::ends_as;

    #[test]
    fn stars_stand_for_any_characters() {
        for (text, pattern, is_so) in [
            ("a_test.dry", ".dry", true),
            ("a_test_b.dry", "_test*.dry", true),
            ("a_test.dry", "_test*.dry", true),
            ("a_est.dry", "_test*.dry", false),
            ("aab", "a*ab", true),
            ("ab", "a*ab", false),
            ("a.dry.dry", ".dry*.dry", true),
            (".dry", ".dry*.dry", false),
        ] {
            assert_eq!(ends_as(text, pattern), is_so, "{text} by *{pattern}");
        }
    }
}
