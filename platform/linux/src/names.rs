//! File names: a program's names are texts, the system's are paths.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Linux takes none that is longer.
const LONGEST: usize = 4096;

/// Where the names of a program are looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The directory of the program's source: files that come with a program are found wherever it is started.
    pub(crate) source_directory: Option<PathBuf>,
}

impl Names {
    /// The path that a text names, as it is: relative to the current directory. No name has a 0X in it: what stands
    /// before would be the name of another file.
    pub(crate) fn path<'a>(&self, name: &'a [u8]) -> io::Result<&'a Path> {
        if name.len() >= LONGEST {
            return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
        }
        if name.contains(&0) {
            return Err(io::Error::other("No file name has a character 0X"));
        }
        Ok(Path::new(OsStr::from_bytes(name)))
    }

    /// The path of something that exists: a relative name that the current directory hasn't got is looked for beside
    /// the program's source.
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
