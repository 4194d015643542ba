//! Finds the file that an IMPORT means, and all files of a program. A path is a text here; the caller gives the
//! function that reads files.

use std::collections::HashSet;

use crate::parser;
use crate::source::SourceFile;

/// The folder of the library's files. No file of a user has such a path.
pub const LIBRARY: &str = "<library>/";

/// The library's files by path and text.
const FILES: &[(&str, &str)] = &[
    ("<library>/Args.dry", include_str!("../../library/Args.dry")),
    ("<library>/Base64.dry", include_str!("../../library/Base64.dry")),
    ("<library>/Csv.dry", include_str!("../../library/Csv.dry")),
    ("<library>/Hash.dry", include_str!("../../library/Hash.dry")),
    ("<library>/Http.dry", include_str!("../../library/Http.dry")),
    ("<library>/Json.dry", include_str!("../../library/Json.dry")),
    ("<library>/Log.dry", include_str!("../../library/Log.dry")),
    ("<library>/Metrics.dry", include_str!("../../library/Metrics.dry")),
    ("<library>/Pool.dry", include_str!("../../library/Pool.dry")),
    ("<library>/Queue.dry", include_str!("../../library/Queue.dry")),
    ("<library>/Random.dry", include_str!("../../library/Random.dry")),
    ("<library>/Regex.dry", include_str!("../../library/Regex.dry")),
    ("<library>/Sql.dry", include_str!("../../library/Sql.dry")),
    ("<library>/Supervisor.dry", include_str!("../../library/Supervisor.dry")),
    ("<library>/Text.dry", include_str!("../../library/Text.dry")),
    ("<library>/Time.dry", include_str!("../../library/Time.dry")),
];

/// The text of a file of the library.
fn of_library(path: &str) -> Option<String> {
    FILES.iter().find(|(file, _)| *file == path).map(|(_, text)| text.to_string())
}

/// Packages of files. A file may import the files of its own package, and those of the packages that this depends on.
#[derive(Clone, Debug, Default)]
pub struct Packages(Vec<Package>);

/// A package: a folder of files.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// What it is called in messages.
    pub name: String,
    /// Its folder; all files within belong to it, but those in the folder of another package.
    pub folder: String,
    /// The folder of the files that others may import.
    pub files: String,
    /// The packages that it depends on, by their places in the list.
    pub dependencies: Vec<usize>,
}

/// No packages: files are imported from beside their importer and from the library.
static NONE: Packages = Packages(Vec::new());

impl Default for &Packages {
    fn default() -> Self {
        &NONE
    }
}

impl Packages {
    /// Packages of which the first is the program's own: files that are in no folder of a package belong to it.
    pub fn new(packages: Vec<Package>) -> Packages {
        Packages(packages)
    }

    /// The given files, then those that they import, directly or not. `read` gives the text of the file at a path, if
    /// there is one; the library's own files are known here.
    pub fn load(
        &self,
        mut files: Vec<SourceFile>,
        mut read: impl FnMut(&str) -> Option<String>,
    ) -> Vec<SourceFile> {
        let mut known: HashSet<String> = files.iter().map(|file| plain(&file.path)).collect();
        let mut next = 0;
        while let Some(file) = files.get(next) {
            let importer = file.path.clone();
            for name in parser::imports(&file.text) {
                self.find(&importer, &name.text, |path| {
                    let is_new = !known.contains(&plain(path));
                    if is_new && let Some(text) = of_library(path).or_else(|| read(path)) {
                        known.insert(plain(path));
                        files.push(SourceFile { path: path.into(), text });
                        return true;
                    }
                    !is_new
                });
            }
            next += 1;
        }
        files
    }

    /// The file that `importer` imports as `name`: beside it, else in its package, else in what this depends on, else
    /// in the library. Several packages that it depends on may have one of that name; those are all given.
    pub(crate) fn find(
        &self,
        importer: &str,
        name: &str,
        mut exists: impl FnMut(&str) -> bool,
    ) -> Vec<String> {
        let mut in_folder = |folder: &str| beside(folder, name).into_iter().find(|path| exists(path));
        let slash = importer.rfind('/').map_or(0, |slash| slash + 1);
        let package = self.of(importer);
        let own = package.map(|package| package.files.as_str());
        if let Some(path) = [Some(&importer[..slash]), own].into_iter().flatten().find_map(&mut in_folder) {
            return vec![path];
        }
        let mut found: Vec<String> = package
            .into_iter()
            .flat_map(|package| &package.dependencies)
            .filter_map(|&dependency| in_folder(&self.0[dependency].files))
            .collect();
        if found.is_empty() {
            found.extend(in_folder(LIBRARY));
        }
        found
    }

    /// The package that a file belongs to: the one whose folder is the innermost.
    pub(crate) fn of(&self, file: &str) -> Option<&Package> {
        let file = plain(file);
        let holds = |package: &&Package| {
            let folder = plain(&package.folder);
            let rest = match folder.is_empty() {
                true => (!file.starts_with('/')).then_some(file.as_str()),
                false => file.strip_prefix(&folder).and_then(|rest| rest.strip_prefix('/')),
            };
            rest.is_some_and(|rest| rest != ".." && !rest.starts_with("../"))
        };
        self.0.iter().filter(holds).max_by_key(|package| package.folder.len()).or(self.0.first())
    }
}

/// The paths that a file imported as `name` may have in a folder.
pub(crate) fn beside(folder: &str, name: &str) -> [String; 2] {
    let slash = if folder.is_empty() || folder.ends_with('/') { "" } else { "/" };
    [format!("{folder}{slash}{name}.dry"), format!("{folder}{slash}{}.dry", name.to_ascii_lowercase())]
}

/// All files of a program that uses no packages; see [`Packages::load`].
pub fn load(files: Vec<SourceFile>, read: impl FnMut(&str) -> Option<String>) -> Vec<SourceFile> {
    NONE.load(files, read)
}

/// A path without `.` and empty steps. Two files are the same if these paths are.
pub(crate) fn plain(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
    root.to_string() + &steps.collect::<Vec<_>>().join("/")
}
