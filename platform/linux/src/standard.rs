//! Standard input, output and error, where whoever started the process has closed one (`program >&-`): nothing else
//! that is opened may get its number, and what is written to a closed output is lost, which the program is told.
//!
//! # Soundness
//!
//! The system calls get constants. What the loader calls before `main` touches nothing but one atomic flag.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Rust's own start opens /dev/null in the place of what is closed, so this has to look before it.
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

/// Opens /dev/null in the place of what is closed.
pub(crate) fn fill() {
    for fd in libc::STDIN_FILENO..=libc::STDERR_FILENO {
        if !is_open(fd) {
            // SAFETY: see the head of this file. The lowest number that is free is this one.
            unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        }
    }
}

/// Writes all bytes to a file descriptor that belongs to the process, whatever its kind.
pub(crate) fn write_all(fd: i32, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the bytes are there.
        let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        if written >= 0 {
            bytes = &bytes[written as usize..];
            continue;
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            // Someone else made it non-blocking: that is no reason to lose output.
            io::ErrorKind::WouldBlock => {
                let mut entry = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
                // SAFETY: one entry.
                unsafe { libc::poll(&mut entry, 1, -1) };
            }
            _ => return Err(error),
        }
    }
    Ok(())
}
