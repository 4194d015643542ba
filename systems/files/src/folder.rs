//! What a folder is to those who serve it, wherever it lies: beneath one of this machine's
//! ([`beneath`](crate::beneath)), or at another server. `interfaces.dry` says what a client may ask for.

use std::collections::BinaryHeap;
use std::io;

use rustix::io::Errno;

/// A folder that no name leads out of. What it is asked for may take its time.
pub trait Folder: Send + Sync + Sized + 'static {
    /// One of its files, open.
    type File: Send + Sync + 'static;

    /// The folder that is served, which may be reached by any name.
    ///
    /// # Errors
    /// It isn't there, or no folder.
    fn find(name: &[u8]) -> io::Result<Self>;

    /// Opens a file: see `interfaces.dry` for the modes.
    ///
    /// # Errors
    /// It isn't there, may not be opened, or is no file.
    fn open(&self, name: &[u8], mode: &[u8]) -> io::Result<Self::File>;

    /// Whether it is in memory, so that nothing but listing it takes long.
    #[must_use]
    fn is_in_memory(&self) -> bool {
        false
    }

    /// As [`Folder::open`], if that can be done without waiting for anything.
    #[must_use]
    fn open_now(&self, _name: &[u8], _mode: &[u8]) -> Option<Self::File> {
        None
    }

    /// Fills the buffer, as far as there are bytes, if all of them can be had without waiting for anything: how many
    /// there are.
    #[must_use]
    fn read_now(&self, _: &Self::File, _position: u64, _buffer: &mut [u8]) -> Option<usize> {
        None
    }

    /// So many bytes; fewer where there are no more.
    ///
    /// # Errors
    /// They can't be read.
    fn read(&self, file: &Self::File, position: u64, n: usize) -> io::Result<Vec<u8>>;

    /// Writes all of it.
    ///
    /// # Errors
    /// It can't be written, or not wholly.
    fn write(&self, file: &Self::File, position: u64, data: &[u8]) -> io::Result<()>;

    /// Sees to it that what was written is on the disk.
    ///
    /// # Errors
    /// It isn't.
    fn update(&self, file: &Self::File) -> io::Result<()>;

    /// What a name stands for.
    ///
    /// # Errors
    /// It isn't there, or neither a file nor a folder.
    fn stat(&self, name: &[u8]) -> io::Result<Status>;

    /// The first names in a folder that come behind one, in the order of their bytes.
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

    /// Gives a file or folder another name. What had that is replaced.
    ///
    /// # Errors
    /// It isn't there, or may not be renamed so.
    fn rename(&self, name: &[u8], new: &[u8]) -> io::Result<()>;
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// It is a folder, and else a file.
    pub is_folder: bool,
    /// In bytes.
    pub size: i64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified: i64,
}

/// The folder in which a name lies, and what it is called there.
///
/// # Errors
/// It is no name of something within the folder that is served.
pub fn split(name: &[u8]) -> io::Result<(&[u8], &[u8])> {
    let slash = name.iter().rposition(|&letter| letter == b'/');
    let (folder, last) = slash.map_or((&b"."[..], name), |at| (&name[..at], &name[at + 1..]));
    if folder.is_empty() || matches!(last, b"" | b"." | b"..") {
        return Err(outside());
    }
    Ok((folder, last))
}

/// What is said of a name that leads out.
#[must_use]
pub fn outside() -> io::Error {
    Errno::XDEV.into()
}

/// What is said of a mode that `interfaces.dry` doesn't have.
#[must_use]
pub fn strange_mode() -> io::Error {
    io::Error::other("a mode is r, rw, w or x")
}

/// The first names behind one of those that a folder has, in the order of their bytes.
#[derive(Debug)]
pub struct First<'n> {
    after: &'n [u8],
    most: usize,
    names: BinaryHeap<Vec<u8>>,
}

impl<'n> First<'n> {
    /// At most so many.
    #[must_use]
    pub fn new(after: &'n [u8], most: usize) -> First<'n> {
        First { after, most, names: BinaryHeap::new() }
    }

    /// One of the folder's names.
    pub fn see(&mut self, name: &[u8]) {
        // One with the end of a line in it would look like two.
        let is_one = name != b"." && name != b".." && !name.contains(&b'\n');
        let is_first = self.names.len() < self.most || self.names.peek().is_some_and(|last| name < last);
        if is_one && is_first && name > self.after {
            self.names.push(name.to_vec());
            if self.names.len() > self.most {
                self.names.pop();
            }
        }
    }

    /// They, when all have been seen.
    #[must_use]
    pub fn in_order(self) -> Vec<Vec<u8>> {
        self.names.into_sorted_vec()
    }
}

/// Why something went wrong, for people.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::XDEV) => "not a name within the folder".into(),
        Some(Errno::LOOP) => "symbolic links lead nowhere here".into(),
        Some(Errno::NXIO) => "it is no file".into(),
        _ => sentence(error),
    }
}

/// What the system says, without its number.
#[must_use]
pub fn sentence(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().into()
}
