//! Handlers that stay attached when who attached them has ended: each has a folder in Linux's file system for BPF, with its link, its
//! program and its maps.

use std::fs;
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::bpf;
use crate::interface;
use crate::xdp::{Attached, Xdp};

const FILE_SYSTEM: &str = "/sys/fs/bpf";
const FOLDER: &str = "/sys/fs/bpf/drystone";
const LINK: &str = "link";
const PROGRAM: &str = "program";

/// A handler that stays attached.
#[derive(Debug)]
pub struct Pinned {
    name: String,
    program: OwnedFd,
    link: OwnedFd,
}

impl Pinned {
    /// Has a handler stay where it is attached, under a name of letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// The name is another one's, or there is no file system for BPF and no right to mount it.
    pub fn new(name: &str, handler: &Xdp, attached: Attached) -> Result<Pinned> {
        let folder = folder(name)?;
        mount()?;
        fs::create_dir_all(FOLDER)?;
        fs::create_dir(&folder)?;
        let pinned = || {
            bpf::pin(handler.program(), &folder.join(PROGRAM))?;
            for (map, fd) in handler.maps() {
                // The kernel takes no dots there.
                bpf::pin(fd.fd(), &folder.join(format!("map-{}", map.replace('.', ""))))?;
            }
            attached.pin(&folder.join(LINK))
        };
        pinned().inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        Pinned::open(name)
    }

    /// A handler that has such a name.
    ///
    /// # Errors
    /// There is none.
    pub fn open(name: &str) -> Result<Pinned> {
        let folder = folder(name)?;
        let (program, link) = (bpf::pinned(&folder.join(PROGRAM))?, bpf::pinned(&folder.join(LINK))?);
        Ok(Pinned { name: name.to_string(), program, link })
    }

    /// The names of all.
    ///
    /// # Errors
    /// There is no right to look.
    pub fn all() -> Result<Vec<String>> {
        let folder = match fs::read_dir(FOLDER) {
            Ok(folder) => folder,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in folder {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the network interface that it is attached to, in that one's namespace; none if that has gone.
    pub fn interface(&self) -> Option<u32> {
        bpf::interface_of(&self.link).ok().filter(|number| *number != 0)
    }

    /// What the interface with that number is called, in this network namespace.
    pub fn interface_here(&self) -> Option<String> {
        self.interface().and_then(interface::name)
    }

    /// How long its runs took, and how many there were, while that was counted: nanoseconds, runs.
    ///
    /// # Errors
    /// The kernel doesn't say.
    pub fn runs(&self) -> Result<(u64, u64)> {
        bpf::runs(&self.program)
    }

    /// Takes it from its interface; its maps go, unless somebody else has them.
    ///
    /// # Errors
    /// There is no right to.
    pub fn detach(self) -> Result<()> {
        let detached = bpf::detach(&self.link);
        fs::remove_dir_all(folder(&self.name)?)?;
        // Without its interface it is detached already.
        detached
            .or_else(|error| if error.raw_os_error() == Some(libc::ENOLINK) { Ok(()) } else { Err(error) })
    }
}

fn folder(name: &str) -> Result<PathBuf> {
    let is_one = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || !name.chars().all(is_one) {
        return Err(Error::other(format!(
            "`{name}` is no name for a handler: letters, digits, - and _ make one"
        )));
    }
    Ok(Path::new(FOLDER).join(name))
}

/// Mounts the file system, if it isn't.
fn mount() -> Result<()> {
    const MAGIC: i64 = 0xcafe_4a11;
    let is_mounted = rustix::fs::statfs(FILE_SYSTEM).is_ok_and(|it| it.f_type == MAGIC);
    if is_mounted {
        return Ok(());
    }
    fs::create_dir_all(FILE_SYSTEM)?;
    rustix::mount::mount("bpf", FILE_SYSTEM, "bpf", rustix::mount::MountFlags::empty(), None)
        .map_err(Error::from)
}
