//! File names: converts a program's texts to paths.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Linux takes no longer names.
const LONGEST: usize = 4096;

/// Where a program's file names are looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The program's source directory: files that come with a program are found wherever it is started.
    pub(crate) source_directory: Option<PathBuf>,
}

impl Names {
    /// The path that a text names, relative to the current directory. A name with a 0X is refused: the part before it
    /// would name another file.
    pub(crate) fn path<'a>(&self, name: &'a [u8]) -> io::Result<&'a Path> {
        if name.len() >= LONGEST {
            return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
        }
        if name.contains(&0) {
            return Err(io::Error::other("No file name has a character 0X"));
        }
        Ok(Path::new(OsStr::from_bytes(name)))
    }

    /// The path of an existing file. A relative name that the current directory doesn't have is looked up in the
    /// program's source directory.
    pub(crate) fn existing(&self, name: &[u8]) -> io::Result<PathBuf> {
        let path = self.path(name)?;
        if let Some(directory) = &self.source_directory
            && path.is_relative()
            && !path.exists()
        {
            let beside = directory.join(path);
            if beside.exists() {
                return Ok(beside);
            }
        }
        Ok(path.to_path_buf())
    }
}
