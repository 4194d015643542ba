//! The control socket's file. It is removed when the program ends, also by a signal or `exit`. A file that a killed
//! program has left is replaced.
//!
//! # Soundness
//!
//! The signal handler calls only async-signal-safe functions: it reads atomics, removes a file, and restores the
//! signal's default action. Its path lives for ever.

use std::ffi::{CString, c_char, c_int};
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
        WATCH.call_once(watch);
        OWNER.store(std::process::id() as i32, SeqCst);
        // From now on other programs may see the file, and send a signal.
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

extern "C" fn end(signal: c_int) {
    remove();
    // SAFETY: see the head of this file.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Has the file removed at the end, from now on.
fn watch() {
    // SAFETY: see the head of this file.
    unsafe {
        libc::atexit(remove);
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            // A signal that was ignored stays ignored.
            if libc::signal(signal, end as *const () as libc::sighandler_t) == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
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
