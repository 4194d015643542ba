//! Folders of pinned handlers, in Linux's BPF file system. A folder appears and disappears as a whole, and a lock
//! serialises changes of all processes.

use std::fs::{self, DirBuilder, File};
use std::io::{Error, Result};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const FILE_SYSTEM: &str = "/sys/fs/bpf";
const ALL: &str = "/sys/fs/bpf/drystone";

/// The suffix of an incomplete folder, which is being made or removed. No handler's name has it.
const UNFINISHED: char = '~';

/// The lock: no other process changes folders while this lives.
pub(super) struct Changes {
    _lock: File,
}

impl Changes {
    /// Waits for the lock, and removes incomplete folders of processes that were killed. `abandon` is called for each
    /// before.
    pub fn begin(abandon: impl Fn(&Path) -> Result<()>) -> Result<Changes> {
        mount()?;
        DirBuilder::new().recursive(true).mode(0o700).create(ALL)?;
        let lock = File::open(ALL)?;
        lock.lock()?;
        for unfinished in entries()?.iter().filter(|name| name.ends_with(UNFINISHED)) {
            let folder = Path::new(ALL).join(unfinished);
            abandon(&folder)?;
            fs::remove_dir_all(folder)?;
        }
        Ok(Changes { _lock: lock })
    }

    /// Makes a folder and fills it, or makes none.
    pub fn make(&self, name: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let unfinished = unfinished(name);
        fs::create_dir(&unfinished)?;
        let made = fill(&unfinished).and_then(|()| fs::rename(&unfinished, folder(name)?));
        made.inspect_err(|_| drop(fs::remove_dir_all(&unfinished)))
    }

    /// Removes a folder.
    pub fn remove(&self, name: &str) -> Result<()> {
        let unfinished = unfinished(name);
        fs::rename(folder(name)?, &unfinished)?;
        fs::remove_dir_all(&unfinished)
    }
}

/// The folder of a handler.
pub(super) fn folder(name: &str) -> Result<PathBuf> {
    let is_one = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || !name.chars().all(is_one) {
        return Err(Error::other(format!(
            "`{name}` is no name for a handler: letters, digits, - and _ make one"
        )));
    }
    Ok(Path::new(ALL).join(name))
}

fn unfinished(name: &str) -> PathBuf {
    Path::new(ALL).join(format!("{name}{UNFINISHED}"))
}

/// The names of all complete folders.
pub(super) fn names() -> Result<Vec<String>> {
    let mut names = entries()?;
    names.retain(|name| !name.ends_with(UNFINISHED));
    names.sort();
    Ok(names)
}

fn entries() -> Result<Vec<String>> {
    let folder = match fs::read_dir(ALL) {
        Ok(folder) => folder,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    folder.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Mounts the file system, unless it is mounted.
fn mount() -> Result<()> {
    const MAGIC: i64 = 0xcafe_4a11;
    let is_mounted = || rustix::fs::statfs(FILE_SYSTEM).is_ok_and(|it| it.f_type == MAGIC);
    if is_mounted() {
        return Ok(());
    }
    fs::create_dir_all(FILE_SYSTEM)?;
    // A second one would hide what is in the first.
    let lock = File::open(FILE_SYSTEM)?;
    lock.lock()?;
    if is_mounted() {
        return Ok(());
    }
    rustix::mount::mount("bpf", FILE_SYSTEM, "bpf", rustix::mount::MountFlags::empty(), None)
        .map_err(Error::from)
}
