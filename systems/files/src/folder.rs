//! The trait of a folder that can be served, wherever it lies: on this machine ([`beneath`](crate::beneath)) or at
//! another server. `interfaces.dry` says what a client may ask for.

use std::collections::BinaryHeap;
use std::io;

use rustix::io::Errno;

/// A folder that no name leads out of. Its methods may block, unless they say otherwise.
pub trait Folder: Send + Sync + Sized + 'static {
    /// An open file of it.
    type File: Send + Sync + 'static;

    /// Finds the folder to serve, which may have any path.
    ///
    /// # Errors
    /// It isn't there, or no folder.
    fn find(name: &[u8]) -> io::Result<Self>;

    /// Opens a file: see `interfaces.dry` for the modes.
    ///
    /// # Errors
    /// It isn't there, may not be opened, or is no file.
    fn open(&self, name: &[u8], mode: &[u8]) -> io::Result<Self::File>;

    /// Whether it is in memory, so that only listing it takes long.
    #[must_use]
    fn is_in_memory(&self) -> bool {
        false
    }

    /// As [`Folder::open`], if that is possible without waiting.
    #[must_use]
    fn open_now(&self, _name: &[u8], _mode: &[u8]) -> Option<Self::File> {
        None
    }

    /// Fills the buffer as far as there are bytes, if that is possible without waiting; returns how many there are.
    #[must_use]
    fn read_now(&self, _: &Self::File, _position: u64, _buffer: &mut [u8]) -> Option<usize> {
        None
    }

    /// Reads `n` bytes, or fewer at the end of the file.
    ///
    /// # Errors
    /// They can't be read.
    fn read(&self, file: &Self::File, position: u64, n: usize) -> io::Result<Vec<u8>>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// They can't be written, or not all of them.
    fn write(&self, file: &Self::File, position: u64, data: &[u8]) -> io::Result<()>;

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    /// It can't be brought there.
    fn update(&self, file: &Self::File) -> io::Result<()>;

    /// The status of a name.
    ///
    /// # Errors
    /// It isn't there, or neither a file nor a folder.
    fn stat(&self, name: &[u8]) -> io::Result<Status>;

    /// The first names of a folder after a given one, in the order of their bytes.
    ///
    /// # Errors
    /// It is no folder, or may not be read.
    fn list(&self, folder: &[u8], after: &[u8], most: usize) -> io::Result<Vec<Vec<u8>>>;

    /// Deletes a file, or an empty folder.
    ///
    /// # Errors
    /// It isn't there, or may not be deleted.
    fn delete(&self, name: &[u8]) -> io::Result<()>;

    /// Makes a folder.
    ///
    /// # Errors
    /// It is there, or may not be made.
    fn make_folder(&self, name: &[u8]) -> io::Result<()>;

    /// Renames a file or folder, and replaces one that has the new name.
    ///
    /// # Errors
    /// It isn't there, or may not be renamed so.
    fn rename(&self, name: &[u8], new: &[u8]) -> io::Result<()>;
}

/// The status of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Whether it is a folder; otherwise it is a file.
    pub is_folder: bool,
    /// In bytes.
    pub size: i64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified: i64,
}

/// The folder of a name, and its last component.
///
/// # Errors
/// It is no name within the folder that is served.
pub fn split(name: &[u8]) -> io::Result<(&[u8], &[u8])> {
    let slash = name.iter().rposition(|&letter| letter == b'/');
    let (folder, last) = slash.map_or((&b"."[..], name), |at| (&name[..at], &name[at + 1..]));
    if folder.is_empty() || matches!(last, b"" | b"." | b"..") {
        return Err(outside());
    }
    Ok((folder, last))
}

/// The error for a name that leads out.
#[must_use]
pub fn outside() -> io::Error {
    Errno::XDEV.into()
}

/// The error for a mode that `interfaces.dry` doesn't have.
#[must_use]
pub fn strange_mode() -> io::Error {
    io::Error::other("a mode is r, rw, w or x")
}

/// Collects the first names of a folder after a given one, in the order of their bytes.
#[derive(Debug)]
pub struct First<'n> {
    after: &'n [u8],
    most: usize,
    names: BinaryHeap<Vec<u8>>,
}

impl<'n> First<'n> {
    /// Collects at most so many.
    #[must_use]
    pub fn new(after: &'n [u8], most: usize) -> First<'n> {
        First { after, most, names: BinaryHeap::new() }
    }

    /// Adds one of the folder's names.
    pub fn see(&mut self, name: &[u8]) {
        // A name with a line's end in it would look like two names.
        let is_one = name != b"." && name != b".." && !name.contains(&b'\n');
        let is_first = self.names.len() < self.most || self.names.peek().is_some_and(|last| name < last);
        if is_one && is_first && name > self.after {
            self.names.push(name.to_vec());
            if self.names.len() > self.most {
                self.names.pop();
            }
        }
    }

    /// The names, once all have been seen.
    #[must_use]
    pub fn in_order(self) -> Vec<Vec<u8>> {
        self.names.into_sorted_vec()
    }
}

/// The reason of an error, for people.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::XDEV) => "not a name within the folder".into(),
        Some(Errno::LOOP) => "symbolic links lead nowhere here".into(),
        Some(Errno::NXIO) => "it is no file".into(),
        _ => sentence(error),
    }
}

/// The system's message, without the error's number.
#[must_use]
pub fn sentence(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().into()
}
