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

/// The paths at which the file is looked for that `importer` imports as `name`, in order.
pub fn candidates(importer: &str, name: &str) -> [String; 3] {
    let folder = importer.rfind('/').map_or("", |slash| &importer[..=slash]);
    let lower = name.to_ascii_lowercase();
    [format!("{folder}{name}.dry"), format!("{folder}{lower}.dry"), format!("{LIBRARY}{name}.dry")]
}

/// The given files, then those that they import, directly or not. `read` gives the text of the file at a path, if there
/// is one; the library's own files are known here.
pub fn load(mut files: Vec<SourceFile>, mut read: impl FnMut(&str) -> Option<String>) -> Vec<SourceFile> {
    let mut known: HashSet<String> = files.iter().map(|file| plain(&file.path)).collect();
    let mut next = 0;
    while let Some(importer) = files.get(next) {
        let names = parser::imports(&importer.text).into_iter();
        let wanted: Vec<_> = names.map(|name| candidates(&importer.path, &name.text)).collect();
        for paths in wanted {
            let found = paths.into_iter().find_map(|path| {
                let text = if known.contains(&plain(&path)) {
                    None
                } else {
                    Some(of_library(&path).or_else(|| read(&path))?)
                };
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

/// A path without `.` and empty steps. Two files are the same if these paths are.
pub(crate) fn plain(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
    root.to_string() + &steps.collect::<Vec<_>>().join("/")
}
