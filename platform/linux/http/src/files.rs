//! The files of a folder, read once when it is exported: pages that use the interface that is served beside them.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::rc::Rc;

use hyper::body::Bytes;

use super::zip::zipped;
use drystone_reactor::reason;

/// Most files in memory, and most bytes of them.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// Files, by their paths within the folder.
#[derive(Default)]
pub(super) struct Files {
    files: HashMap<String, Rc<File>>,
    bytes: usize,
}

/// A file that is served.
pub(super) struct File {
    pub(super) body: Bytes,
    /// The body as gzip, if that is shorter.
    pub(super) zipped: Option<Bytes>,
    /// Its media type.
    pub(super) kind: &'static str,
    /// The entity tag, which changes with the body.
    pub(super) tag: String,
}

impl Files {
    /// Reads all files in a folder; an empty name means none.
    ///
    /// # Errors
    /// One can't be read, or there are too many.
    pub(super) fn read(folder: &str) -> Result<Files, String> {
        let mut files = Files::default();
        if !folder.is_empty() {
            files.add(Path::new(folder), "").map_err(|why| format!("files: {folder}: {why}"))?;
        }
        Ok(files)
    }

    /// Leaves out names that begin with a dot, and links to folders, which may lead in circles.
    fn add(&mut self, folder: &Path, before: &str) -> Result<(), String> {
        for entry in fs::read_dir(folder).map_err(|error| reason(&error))? {
            let entry = entry.map_err(|error| reason(&error))?;
            let Some(name) = entry.file_name().to_str().map(str::to_string) else { continue };
            if name.starts_with('.') {
                continue;
            }
            let path = format!("{before}{name}");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add(&entry.path(), &format!("{path}/"))?;
            } else if fs::metadata(entry.path()).is_ok_and(|about| about.is_file()) {
                self.add_file(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, at: &Path, path: String) -> Result<(), String> {
        let body = fs::read(at).map_err(|error| format!("{path}: {}", reason(&error)))?;
        self.bytes += body.len();
        if self.bytes > MOST_BYTES || self.files.len() >= MOST_FILES {
            return Err(format!("there are more than {MOST_FILES} files, or {} MiB", MOST_BYTES >> 20));
        }
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let zipped = zipped(&body).filter(|zipped| zipped.len() < body.len()).map(Bytes::from);
        let file = File {
            zipped,
            kind: kind(&path),
            tag: format!("\"{:016x}\"", hasher.finish()),
            body: body.into(),
        };
        self.files.insert(path, Rc::new(file));
        Ok(())
    }

    /// The file at a path; for a folder its `index.html`.
    pub(super) fn find(&self, path: &str) -> Option<Rc<File>> {
        let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
        if path.is_empty() || path.ends_with('/') {
            return self.files.get(&format!("{path}index.html")).cloned();
        }
        self.files.get(&*path).cloned()
    }
}

/// The media type, by the file's extension.
fn kind(path: &str) -> &'static str {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    match &*end {
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" | "md" => "text/plain; charset=utf-8",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "pdf" => "application/pdf",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        _ => "application/octet-stream",
    }
}
