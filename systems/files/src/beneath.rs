//! What lies beneath a folder. Names are resolved by the kernel from the folder on, and may neither leave it nor go by a symbolic
//! link; so it makes no difference what others do to the folders on the way meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat, openat2, renameat,
    unlinkat,
};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::folder::{First, Folder, Status, split, strange_mode};

/// A folder that nothing leads out of.
#[derive(Debug)]
pub struct Beneath(OwnedFd);

type Attempt<T> = Result<T, Errno>;

impl Beneath {
    /// The folder itself may be reached by any name.
    ///
    /// # Errors
    /// It isn't there, or no folder.
    pub fn new(folder: &Path) -> io::Result<Beneath> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Beneath(openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::empty())?))
    }

    /// Nothing is waited for: not for the other end of a pipe either.
    fn at(&self, name: &[u8], flags: OFlags) -> Attempt<OwnedFd> {
        let opens = !flags.contains(OFlags::PATH);
        let flags =
            flags | OFlags::CLOEXEC | if opens { OFlags::NONBLOCK | OFlags::NOCTTY } else { OFlags::empty() };
        let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        loop {
            // Whoever renames something on the way has the kernel ask for another attempt.
            match openat2(&self.0, name, flags, mode, resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                result => return result,
            }
        }
    }

    /// The folder in which a name lies, and what it is called there.
    fn parent<'n>(&self, name: &'n [u8]) -> io::Result<(OwnedFd, &'n [u8])> {
        let (folder, last) = split(name)?;
        Ok((self.at(folder, OFlags::PATH | OFlags::DIRECTORY)?, last))
    }
}

impl Folder for Beneath {
    type File = File;

    fn find(name: &[u8]) -> io::Result<Beneath> {
        Beneath::new(Path::new(OsStr::from_bytes(name)))
    }

    fn open(&self, name: &[u8], mode: &[u8]) -> io::Result<File> {
        let write = OFlags::RDWR;
        let flags = match mode {
            b"r" => OFlags::RDONLY,
            b"rw" => write | OFlags::CREATE,
            // It is emptied when it is known to be a file.
            b"w" => write | OFlags::CREATE,
            b"x" => write | OFlags::CREATE | OFlags::EXCL,
            _ => return Err(strange_mode()),
        };
        let file = self.at(name, flags)?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no file"));
        }
        let file = File::from(file);
        if mode == b"w" {
            file.set_len(0)?;
        }
        Ok(file)
    }

    fn read_now(&self, file: &File, position: u64, n: usize) -> Option<Vec<u8>> {
        let mut data = vec![0; n];
        let read = preadv2(file, &mut [IoSliceMut::new(&mut data)], position, ReadWriteFlags::NOWAIT);
        // Where it isn't in memory, or not all of it, a disk is waited for.
        (n > 0 && read == Ok(n)).then_some(data)
    }

    fn read(&self, file: &File, position: u64, n: usize) -> io::Result<Vec<u8>> {
        let mut data = vec![0; n];
        let mut count = 0;
        while count < n {
            match file.read_at(&mut data[count..], position + count as u64) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        data.truncate(count);
        Ok(data)
    }

    fn write(&self, file: &File, position: u64, data: &[u8]) -> io::Result<()> {
        file.write_all_at(data, position)
    }

    fn update(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn stat(&self, name: &[u8]) -> io::Result<Status> {
        let Stat { st_mode, st_size, st_mtime, st_mtime_nsec, .. } = fstat(self.at(name, OFlags::PATH)?)?;
        let kind = FileType::from_raw_mode(st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::Directory) {
            return Err(io::Error::other("it is neither a file nor a folder"));
        }
        let modified = st_mtime * 1000 + st_mtime_nsec as i64 / 1_000_000;
        Ok(Status { is_folder: kind == FileType::Directory, size: st_size, modified })
    }

    fn list(&self, folder: &[u8], after: &[u8], most: usize) -> io::Result<Vec<Vec<u8>>> {
        let folder = if folder.is_empty() { b"." } else { folder };
        let mut first = First::new(after, most);
        for entry in Dir::new(self.at(folder, OFlags::RDONLY | OFlags::DIRECTORY)?)? {
            first.see(entry?.file_name().to_bytes());
        }
        Ok(first.in_order())
    }

    fn delete(&self, name: &[u8]) -> io::Result<()> {
        let (folder, last) = self.parent(name)?;
        match unlinkat(&folder, last, AtFlags::empty()) {
            Err(Errno::ISDIR) => unlinkat(&folder, last, AtFlags::REMOVEDIR)?,
            result => result?,
        }
        Ok(())
    }

    fn make_folder(&self, name: &[u8]) -> io::Result<()> {
        let (folder, last) = self.parent(name)?;
        Ok(mkdirat(folder, last, Mode::from_raw_mode(0o777))?)
    }

    fn rename(&self, name: &[u8], new: &[u8]) -> io::Result<()> {
        let ((from, old), (to, new)) = (self.parent(name)?, self.parent(new)?);
        Ok(renameat(from, old, to, new)?)
    }
}
