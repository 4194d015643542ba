//! Standard input, output and error that were closed when the process started (`program >&-`). No other file may get
//! their numbers. Output to a closed one is lost, and the program is told.
//!
//! # Soundness
//!
//! The system calls get constants. The code that the loader calls before `main` uses only one atomic flag.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's own start, which opens /dev/null in place of closed files.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    CLOSED.store(!is_open(libc::STDOUT_FILENO), Ordering::Relaxed);
}

fn is_open(fd: i32) -> bool {
    // SAFETY: see the head of this file.
    unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}

/// Whether there was no standard output when the process started.
pub(crate) fn output_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Opens /dev/null in place of closed files.
pub(crate) fn fill() {
    for fd in libc::STDIN_FILENO..=libc::STDERR_FILENO {
        if !is_open(fd) {
            // SAFETY: see the head of this file. The lowest number that is free is this one.
            unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        }
    }
}

/// Writes all bytes to a file descriptor of the process, of any kind.
pub(crate) fn write_all(fd: i32, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: `bytes` can be read.
        let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        if written >= 0 {
            bytes = &bytes[written as usize..];
            continue;
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            // Another program has made it non-blocking: that is no reason to lose output.
            io::ErrorKind::WouldBlock => {
                let mut entry = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
                // SAFETY: the array has one entry.
                unsafe { libc::poll(&mut entry, 1, -1) };
            }
            _ => return Err(error),
        }
    }
    Ok(())
}
