//! Files in memory: at first those of the image's archive (tar). Folders exist only in names: `a/b` is a file in the
//! folder `a`.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use tar_no_std::TarArchiveRef;

use crate::memory;

/// A file's bytes, which stay as long as they are referenced.
pub(crate) type Bytes = Rc<RefCell<Vec<u8>>>;

/// An error, for people.
pub(crate) type Refused = &'static str;

pub(crate) const MISSING: Refused = "No such file or directory";
const IS_FOLDER: Refused = "Is a directory";
const NO_MEMORY: Refused = "Cannot allocate memory";
const NO_NAME: Refused = "No file name has a character 0X";

/// All files.
#[derive(Default)]
pub(crate) struct Store(RefCell<BTreeMap<Vec<u8>, Bytes>>);

impl Store {
    /// The files of an archive; `None`: it isn't one.
    pub(crate) fn of(archive: &[u8]) -> Option<Store> {
        let store = Store::default();
        if !archive.is_empty() {
            let archive = TarArchiveRef::new(archive).ok()?;
            for entry in archive.entries() {
                let name = path(entry.filename().as_str().ok()?.as_bytes()).ok()?;
                store.0.borrow_mut().insert(name, Rc::new(RefCell::new(entry.data().to_owned())));
            }
        }
        Some(store)
    }

    /// A file that exists.
    pub(crate) fn open(&self, name: &[u8]) -> Result<Bytes, Refused> {
        let path = path(name)?;
        match self.0.borrow().get(&path) {
            Some(file) => Ok(file.clone()),
            None if self.is_folder(&path) => Err(IS_FOLDER),
            None => Err(MISSING),
        }
    }

    /// Makes a file; one that exists is emptied.
    pub(crate) fn create(&self, name: &[u8]) -> Result<Bytes, Refused> {
        match self.open(name) {
            Ok(file) => {
                file.borrow_mut().clear();
                Ok(file)
            }
            Err(MISSING) => {
                let file = Bytes::default();
                self.0.borrow_mut().insert(path(name)?, file.clone());
                Ok(file)
            }
            Err(refused) => Err(refused),
        }
    }

    /// The names in a folder, in order.
    pub(crate) fn list(&self, name: &[u8]) -> Result<Vec<Vec<u8>>, Refused> {
        let folder = path(name)?;
        let files = self.0.borrow();
        if files.contains_key(&folder) {
            return Err("Not a directory");
        }
        let inside = files.keys().filter_map(|file| within(&folder, file));
        let first = inside.map(|rest| rest.split(|&byte| byte == b'/').next().unwrap_or(rest).to_vec());
        let names: BTreeSet<Vec<u8>> = first.collect();
        if names.is_empty() && !folder.is_empty() { Err(MISSING) } else { Ok(names.into_iter().collect()) }
    }

    /// Removes a file's name.
    pub(crate) fn delete(&self, name: &[u8]) -> Result<(), Refused> {
        let path = path(name)?;
        let removed = self.0.borrow_mut().remove(&path);
        match removed {
            Some(_) => Ok(()),
            None if self.is_folder(&path) => Err("Directory not empty"),
            None => Err(MISSING),
        }
    }

    /// Renames a file, replacing one of the new name.
    pub(crate) fn rename(&self, name: &[u8], new: &[u8]) -> Result<(), Refused> {
        let (from, to) = (path(name)?, path(new)?);
        if self.is_folder(&to) {
            return Err(IS_FOLDER);
        }
        let file = self.open(name)?;
        let mut files = self.0.borrow_mut();
        files.remove(&from);
        files.insert(to, file);
        Ok(())
    }

    fn is_folder(&self, path: &[u8]) -> bool {
        path.is_empty() || self.0.borrow().keys().any(|file| within(path, file).is_some())
    }
}

/// Truncates a file, or extends it by zeros.
pub(crate) fn resize(file: &mut Vec<u8>, length: usize) -> Result<(), Refused> {
    // A vector that has to grow doubles its capacity.
    let room = length.max(2 * file.capacity());
    if length > file.capacity() && !memory::is_there(room) {
        return Err(NO_MEMORY);
    }
    file.resize(length, 0);
    Ok(())
}

/// Copies a part of a file. Short copies may use the system's own memory.
pub(crate) fn copy(bytes: &[u8]) -> Result<Vec<u8>, Refused> {
    const SHORT: usize = 1 << 14;
    if bytes.len() <= SHORT || memory::is_there(bytes.len()) { Ok(bytes.to_vec()) } else { Err(NO_MEMORY) }
}

/// The name of a file within a folder, if it is in the folder.
fn within<'a>(folder: &[u8], file: &'a [u8]) -> Option<&'a [u8]> {
    match folder {
        b"" => Some(file),
        _ => file.strip_prefix(folder)?.strip_prefix(b"/"),
    }
}

/// A normal form of the name, without `.`, `..`, and `/` at the beginning.
fn path(name: &[u8]) -> Result<Vec<u8>, Refused> {
    if name.contains(&0) {
        return Err(NO_NAME);
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in name.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    Ok(parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_made_found_and_listed() {
        let store = Store::default();
        store.create(b"a/one").unwrap().borrow_mut().extend(b"1");
        store.create(b"/a/b/two").unwrap();
        store.create(b"three").unwrap();
        assert_eq!(*store.open(b"./a/../a/one").unwrap().borrow(), b"1");
        assert_eq!(store.list(b".").unwrap(), [&b"a"[..], b"three"]);
        assert_eq!(store.list(b"a").unwrap(), [&b"b"[..], b"one"]);
        assert_eq!(store.list(b"no"), Err(MISSING));
        assert_eq!(store.open(b"a").err(), Some(IS_FOLDER));
        store.rename(b"three", b"a/one").unwrap();
        assert!(store.open(b"a/one").unwrap().borrow().is_empty());
        assert_eq!(store.delete(b"three"), Err(MISSING));
        assert_eq!(store.delete(b"a"), Err("Directory not empty"));
    }
}
