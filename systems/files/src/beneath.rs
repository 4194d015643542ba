//! What lies beneath a folder. Names are resolved by the kernel from the folder on, and may neither leave it nor go by a symbolic
//! link; so it makes no difference what others do to the folders on the way meanwhile.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, fstatfs, mkdirat, openat2,
    renameat, unlinkat,
};
use rustix::io::Errno;

/// A folder that nothing leads out of.
#[derive(Debug)]
pub struct Beneath(OwnedFd);

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

type Attempt<T> = Result<T, Errno>;

const CONFINED: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

impl Beneath {
    /// The folder itself may be reached by any name.
    ///
    /// # Errors
    /// It isn't there, or no folder.
    pub fn new(folder: &Path) -> io::Result<Beneath> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Beneath(openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::empty())?))
    }

    /// Whether it is in memory, and on no disk.
    pub fn is_in_memory(&self) -> bool {
        const TMPFS: u64 = 0x0102_1994;
        const RAMFS: u64 = 0x8584_58f6;
        let kind = fstatfs(&self.0).map(|it| it.f_type as u64);
        kind.is_ok_and(|kind| kind == TMPFS || kind == RAMFS)
    }

    /// Nothing is waited for: not for the other end of a pipe either.
    fn at(&self, name: &[u8], flags: OFlags) -> Attempt<OwnedFd> {
        let opens = !flags.contains(OFlags::PATH);
        let flags =
            flags | OFlags::CLOEXEC | if opens { OFlags::NONBLOCK | OFlags::NOCTTY } else { OFlags::empty() };
        let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
        let resolve = CONFINED;
        loop {
            // Whoever renames something on the way has the kernel ask for another attempt.
            match openat2(&self.0, name, flags, mode, resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                result => return result,
            }
        }
    }

    /// Opens a file: see `interfaces.dry` for the modes.
    ///
    /// # Errors
    /// It isn't there, may not be opened, or is no file.
    pub fn open(&self, name: &[u8], mode: &[u8]) -> io::Result<File> {
        let write = OFlags::RDWR;
        let flags = match mode {
            b"r" => OFlags::RDONLY,
            b"rw" => write | OFlags::CREATE,
            // It is emptied when it is known to be a file.
            b"w" => write | OFlags::CREATE,
            b"x" => write | OFlags::CREATE | OFlags::EXCL,
            _ => return Err(io::Error::other("a mode is r, rw, w or x")),
        };
        let file = only_file(self.at(name, flags)?)?;
        if mode == b"w" {
            file.set_len(0)?;
        }
        Ok(file)
    }

    /// Opens a file to be read, if all that is needed for that is in memory.
    pub fn open_now(&self, name: &[u8]) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = openat2(&self.0, name, flags, Mode::empty(), CONFINED | ResolveFlags::CACHED).ok()?;
        only_file(file).ok()
    }

    /// What a name stands for.
    ///
    /// # Errors
    /// It isn't there, or neither a file nor a folder.
    pub fn stat(&self, name: &[u8]) -> io::Result<Status> {
        let Stat { st_mode, st_size, st_mtime, st_mtime_nsec, .. } = fstat(self.at(name, OFlags::PATH)?)?;
        let kind = FileType::from_raw_mode(st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::Directory) {
            return Err(io::Error::other("it is neither a file nor a folder"));
        }
        let modified = st_mtime * 1000 + st_mtime_nsec as i64 / 1_000_000;
        Ok(Status { is_folder: kind == FileType::Directory, size: st_size, modified })
    }

    /// The first names in a folder that come behind one, in the order of their bytes.
    ///
    /// # Errors
    /// It is no folder, or may not be read.
    pub fn list(&self, folder: &[u8], after: &[u8], most: usize) -> io::Result<Vec<Vec<u8>>> {
        let folder = if folder.is_empty() { b"." } else { folder };
        let mut names = BinaryHeap::<Vec<u8>>::new();
        for entry in Dir::new(self.at(folder, OFlags::RDONLY | OFlags::DIRECTORY)?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            // One with the end of a line in it would look like two.
            let is_one = name != b"." && name != b".." && !name.contains(&b'\n');
            let is_first = names.len() < most || names.peek().is_some_and(|last| name < last.as_slice());
            if is_one && is_first && *name > *after {
                names.push(name.to_vec());
                if names.len() > most {
                    names.pop();
                }
            }
        }
        Ok(names.into_sorted_vec())
    }

    /// Deletes a file, or an empty folder.
    ///
    /// # Errors
    /// It isn't there, or may not be deleted.
    pub fn delete(&self, name: &[u8]) -> io::Result<()> {
        let (folder, last) = self.parent(name)?;
        match unlinkat(&folder, last, AtFlags::empty()) {
            Err(Errno::ISDIR) => unlinkat(&folder, last, AtFlags::REMOVEDIR)?,
            result => result?,
        }
        Ok(())
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// It is there, or may not be made.
    pub fn make_folder(&self, name: &[u8]) -> io::Result<()> {
        let (folder, last) = self.parent(name)?;
        Ok(mkdirat(folder, last, Mode::from_raw_mode(0o777))?)
    }

    /// Gives a file or folder another name. What had that is replaced.
    ///
    /// # Errors
    /// It isn't there, or may not be renamed so.
    pub fn rename(&self, name: &[u8], new: &[u8]) -> io::Result<()> {
        let ((from, old), (to, new)) = (self.parent(name)?, self.parent(new)?);
        Ok(renameat(from, old, to, new)?)
    }

    /// The folder in which a name lies, and what it is called there.
    fn parent<'n>(&self, name: &'n [u8]) -> io::Result<(OwnedFd, &'n [u8])> {
        let slash = name.iter().rposition(|&letter| letter == b'/');
        let (folder, last) = slash.map_or((&b"."[..], name), |at| (&name[..at], &name[at + 1..]));
        if folder.is_empty() || matches!(last, b"" | b"." | b"..") {
            return Err(io::Error::other("not a name within the folder"));
        }
        Ok((self.at(folder, OFlags::PATH | OFlags::DIRECTORY)?, last))
    }
}

fn only_file(file: OwnedFd) -> io::Result<File> {
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file.into()),
        _ => Err(io::Error::other("it is no file")),
    }
}

/// Why something went wrong, for people.
pub fn reason(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::XDEV) => "not a name within the folder".into(),
        Some(Errno::LOOP) => "symbolic links lead nowhere here".into(),
        Some(Errno::NXIO) => "it is no file".into(),
        Some(_) => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().into()
        }
        None => error.to_string(),
    }
}
