//! Standard input, output and error, where whoever started the process has closed one (`program >&-`): nothing else
//! that is opened may get its number, and what is written to a closed output is lost, which the program is told.
//!
//! # Soundness
//!
//! The system calls get constants. What the loader calls before `main` touches nothing but one atomic flag.

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
