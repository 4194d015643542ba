//! Which file an IMPORT means, and all files that a program takes. Paths are texts here; who reads files is told by
//! the caller.

use std::collections::HashSet;

use crate::parser;
use crate::source::SourceFile;

/// The folder of the library's files: a path that no file of a user has.
pub const LIBRARY: &str = "<library>/";

/// Where the file may be that `importer` calls `name`, in the order in which it is looked for.
pub fn candidates(importer: &str, name: &str) -> [String; 3] {
    let folder = importer.rfind('/').map_or("", |slash| &importer[..=slash]);
    let lower = name.to_ascii_lowercase();
    [format!("{folder}{name}.dry"), format!("{folder}{lower}.dry"), format!("{LIBRARY}{name}.dry")]
}

/// The given files, then those that they import, directly or not. `read` gives the text of the file with a path, if
/// there is one.
pub fn load(mut files: Vec<SourceFile>, mut read: impl FnMut(&str) -> Option<String>) -> Vec<SourceFile> {
    let mut known: HashSet<String> = files.iter().map(|file| plain(&file.path)).collect();
    let mut next = 0;
    while let Some(importer) = files.get(next) {
        let names = parser::imports(&importer.text).into_iter();
        let wanted: Vec<_> = names.map(|name| candidates(&importer.path, &name.text)).collect();
        for paths in wanted {
            let found = paths.into_iter().find_map(|path| {
                let text = if known.contains(&plain(&path)) { None } else { Some(read(&path)?) };
                Some((path, text))
            });
            if let Some((path, Some(text))) = found {
                known.insert(plain(&path));
                files.push(SourceFile { path, text });
            }
        }
        next += 1;
    }
    files
}

/// A path without the steps that lead nowhere, by which files are told apart.
pub(crate) fn plain(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
    root.to_string() + &steps.collect::<Vec<_>>().join("/")
}
