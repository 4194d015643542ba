//! The control socket's file. It is removed when the program ends, also by `exit`. A file that a killed program has
//! left is replaced.
//!
//! # Soundness
//!
//! The system calls get numbers, and a path that lives for ever.

use std::ffi::{CString, c_char};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, absolute};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering::SeqCst};

use mio::net::{UnixListener, UnixStream};

/// The file, and the process that has made it: forked processes don't remove it.
static FILE: AtomicPtr<c_char> = AtomicPtr::new(null_mut());
static OWNER: AtomicI32 = AtomicI32::new(0);

/// The socket's file.
pub(super) struct File(());

impl File {
    /// Makes the file, and listens.
    pub(super) fn listen(path: &Path) -> io::Result<(UnixListener, File)> {
        if is_left(path) {
            fs::remove_file(path)?;
        }
        let name = CString::new(absolute(path)?.as_os_str().as_bytes())?;
        static WATCH: Once = Once::new();
        // SAFETY: a function that may be called at the end.
        WATCH.call_once(|| _ = unsafe { libc::atexit(remove) });
        OWNER.store(std::process::id() as i32, SeqCst);
        let listener = UnixListener::bind(path)?;
        FILE.store(name.into_raw(), SeqCst);
        Ok((listener, File(())))
    }

    pub(super) fn remove(&self) {
        remove();
    }
}

extern "C" fn remove() {
    // SAFETY: see the head of this file.
    unsafe {
        let file = FILE.load(SeqCst);
        if OWNER.load(SeqCst) == libc::getpid() && !file.is_null() {
            FILE.store(null_mut(), SeqCst);
            libc::unlink(file);
        }
    }
}

/// Whether it is a socket without a listener. A listener that is too busy to accept still counts.
fn is_left(path: &Path) -> bool {
    let connected = UnixStream::connect(path);
    is_socket(path) && connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// Why the file can't be made if there is one already, for people.
pub(super) fn in_whose_way(path: &Path) -> &'static str {
    match is_socket(path) {
        true => "another program runs with this socket",
        false => "there is a file of this name, which is no socket: remove it, or take another name",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_left_only_if_nobody_listens() {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).expect("it can be made");
        rustix::net::listen(&listener, 0).expect("it listens");
        let waiting = std::iter::from_fn(|| UnixStream::connect(&path).ok()).take(100).collect::<Vec<_>>();
        assert!(waiting.len() < 100 && !is_left(&path), "{} wait", waiting.len());
        drop(listener);
        assert!(is_left(&path));
    }
}
