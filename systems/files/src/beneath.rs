//! A folder of this machine. The kernel resolves names from the folder on, and lets them neither leave it nor pass a
//! symbolic link. So renaming folders on the way meanwhile makes no difference.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, fstatfs, mkdirat, openat2,
    renameat, unlinkat,
};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::folder::{First, Folder, Status, split, strange_mode};

/// A folder that no name leads out of.
#[derive(Debug)]
pub struct Beneath {
    folder: OwnedFd,
    is_in_memory: bool,
}

type Attempt<T> = Result<T, Errno>;

/// File systems without a disk: tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

const CONFINED: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

impl Beneath {
    /// Opens the folder, which may have any path.
    ///
    /// # Errors
    /// It isn't there, or no folder.
    pub fn new(folder: &Path) -> io::Result<Beneath> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::empty())?;
        let kind = fstatfs(&folder)?.f_type as u64;
        Ok(Beneath { folder, is_in_memory: IN_MEMORY.contains(&kind) })
    }

    /// Opens a name without waiting, even for the other end of a pipe.
    fn at(&self, name: &[u8], flags: OFlags) -> Attempt<OwnedFd> {
        let opens = !flags.contains(OFlags::PATH);
        let flags =
            flags | OFlags::CLOEXEC | if opens { OFlags::NONBLOCK | OFlags::NOCTTY } else { OFlags::empty() };
        let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
        loop {
            // If something on the way is renamed meanwhile, the kernel asks for another attempt.
            match openat2(&self.folder, name, flags, mode, CONFINED) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                result => return result,
            }
        }
    }

    /// The folder of a name, and its last component.
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
            // It is emptied once it is known to be a file.
            b"w" => write | OFlags::CREATE,
            b"x" => write | OFlags::CREATE | OFlags::EXCL,
            _ => return Err(strange_mode()),
        };
        let file = only_file(self.at(name, flags)?)?;
        if mode == b"w" {
            file.set_len(0)?;
        }
        Ok(file)
    }

    fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    fn open_now(&self, name: &[u8], mode: &[u8]) -> Option<File> {
        if mode != b"r" {
            return None;
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = CONFINED | ResolveFlags::CACHED;
        let file = openat2(&self.folder, name, flags, Mode::empty(), resolve).ok()?;
        only_file(file).ok()
    }

    fn read_now(&self, file: &File, position: u64, buffer: &mut [u8]) -> Option<usize> {
        let flags = if self.is_in_memory { ReadWriteFlags::empty() } else { ReadWriteFlags::NOWAIT };
        let n = buffer.len();
        let count = preadv2(file, &mut [IoSliceMut::new(buffer)], position, flags).ok()?;
        // A short read is complete only at the file's end; otherwise the rest isn't in memory.
        let is_all = count == n || position + count as u64 >= file.metadata().ok()?.len();
        is_all.then_some(count)
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

fn only_file(file: OwnedFd) -> io::Result<File> {
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file.into()),
        _ => Err(io::Error::other("it is no file")),
    }
}
