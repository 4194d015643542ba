//! Standard output and error: a pipe, a socket or a terminal that nobody reads, or that is stopped, doesn't stop the
//! program. What one of them takes at once is written, without making it non-blocking for others who have it too; then
//! its reader is waited for with everything else. Terminals can't be asked for that, so the program opens them once
//! more for itself.
//!
//! # Soundness
//!
//! The system calls get bytes that are there, and structures of their own.

use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::rc::Rc;

use mio::unix::SourceFd;

use crate::standard::write_all;
use drystone_reactor::{Handler, Reactor};

/// A pipe that has room for anything has room for so many bytes.
const ROOM: usize = 4096;

/// See the head of this file.
pub(crate) struct Outlet {
    fd: RawFd,
    /// The same terminal, opened anew: writing to it never waits.
    own: Option<OwnedFd>,
    /// Somebody else decides when there is room.
    has_reader: bool,
    /// What is written has to wait until the reactor says that there is room.
    is_full: Cell<bool>,
    source: Cell<Option<usize>>,
    reactor: Rc<Reactor>,
}

impl Outlet {
    pub(crate) fn new(fd: RawFd, reactor: &Rc<Reactor>) -> Rc<Outlet> {
        let own = opened_anew(fd);
        Rc::new(Outlet {
            fd: own.as_ref().map_or(fd, AsRawFd::as_raw_fd),
            has_reader: own.is_some() || has_reader(fd),
            own,
            is_full: Cell::new(false),
            source: Cell::new(None),
            reactor: reactor.clone(),
        })
    }

    /// Writes what can be written without waiting; answers how many bytes.
    pub(crate) fn write(self: &Rc<Outlet>, bytes: &[u8]) -> io::Result<usize> {
        if !self.has_reader {
            return write_all(self.fd, bytes).map(|()| bytes.len());
        }
        let mut written = 0;
        while written < bytes.len() && !self.is_full.get() {
            match self.write_some(&bytes[written..]) {
                Ok(some) => written += some,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.expect_room()?,
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    fn write_some(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.own.is_some() {
            return self.write_now(bytes);
        }
        let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        // SAFETY: see the head of this file; -1 is where the file is.
        let written = unsafe { libc::pwritev2(self.fd, &raw const part, 1, -1, libc::RWF_NOWAIT) };
        match usize::try_from(written) {
            Ok(written) => Ok(written),
            Err(_) => match io::Error::last_os_error() {
                error if is_unknown(&error) => self.write_little(bytes),
                error => Err(error),
            },
        }
    }

    /// For kernels that can't be told not to wait, and where a domain may not tell them.
    fn write_little(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut entry = libc::pollfd { fd: self.fd, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one entry.
        if unsafe { libc::poll(&mut entry, 1, 0) } == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.write_now(&bytes[..bytes.len().min(ROOM)])
    }

    fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: see the head of this file.
        let written = unsafe { libc::write(self.fd, bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(written).map_err(|_| io::Error::last_os_error())
    }

    /// The reactor tells when there is room.
    fn expect_room(self: &Rc<Outlet>) -> io::Result<()> {
        self.is_full.set(true);
        if self.source.get().is_none() {
            let source = self.reactor.watch(&mut SourceFd(&self.fd))?;
            self.source.set(Some(source));
            self.reactor.handle(source, self.clone());
        }
        Ok(())
    }

    /// Whether it waits for room.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// Waits for room, and for nothing else.
    pub(crate) fn wait(&self) {
        let mut entry = libc::pollfd { fd: self.fd, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one entry.
        unsafe { libc::poll(&mut entry, 1, -1) };
        self.is_full.set(false);
    }

    /// The program has ended.
    pub(crate) fn end(&self) {
        if let Some(source) = self.source.take() {
            self.reactor.unwatch(source, &mut SourceFd(&self.fd));
        }
    }
}

impl Handler for Outlet {
    fn ready(&self) {
        self.is_full.set(false);
    }
}

fn is_unknown(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL | libc::EPERM))
}

fn has_reader(fd: RawFd) -> bool {
    // SAFETY: all zeros is such a structure.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: see the head of this file.
    let is_known = unsafe { libc::fstat(fd, &raw mut status) == 0 };
    is_known && matches!(status.st_mode & libc::S_IFMT, libc::S_IFIFO | libc::S_IFSOCK)
}

/// A terminal, opened once more so that writing to it never waits. Who may not open it waits.
fn opened_anew(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: nothing is read or written.
    if unsafe { libc::isatty(fd) } == 0 {
        return None;
    }
    // The other side of a terminal: to open that makes a new one.
    let mut number: libc::c_uint = 0;
    // SAFETY: it is written, and nothing else.
    if unsafe { libc::ioctl(fd, libc::TIOCGPTN, &raw mut number) } == 0 {
        return None;
    }
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(format!("/proc/self/fd/{fd}")).ok().map(OwnedFd::from)
}

/// What the system tells on standard error, also while nobody reads that. Nobody waits for it, so when too much does,
/// what comes is counted instead.
pub(crate) struct Errors {
    outlet: Rc<Outlet>,
    rest: RefCell<Vec<u8>>,
    lost: Cell<usize>,
}

/// So many bytes wait at most.
const MOST: usize = 4 << 20;

impl Errors {
    pub(crate) fn new(reactor: &Rc<Reactor>) -> Errors {
        let outlet = Outlet::new(libc::STDERR_FILENO, reactor);
        Errors { outlet, rest: RefCell::default(), lost: Cell::new(0) }
    }

    pub(crate) fn tell(&self, bytes: &[u8]) {
        let mut rest = self.rest.borrow_mut();
        if rest.len() + bytes.len() > MOST {
            self.lost.set(self.lost.get() + 1);
        } else {
            rest.extend_from_slice(bytes);
        }
        drop(rest);
        self.go_on();
    }

    /// Writes what has had to wait, if there is room; whether nothing is left.
    pub(crate) fn go_on(&self) -> bool {
        let mut rest = self.rest.borrow_mut();
        if rest.is_empty() {
            return true;
        }
        // Who can't write there can't say so either.
        let written = self.outlet.write(&rest).unwrap_or(rest.len());
        rest.drain(..written);
        let lost = if rest.is_empty() { self.lost.take() } else { 0 };
        if lost > 0 {
            rest.extend_from_slice(
                format!("error: {lost} messages more, which nobody has read in time\n").as_bytes(),
            );
        }
        rest.is_empty()
    }

    /// Whether something waits for a reader.
    pub(crate) fn is_full(&self) -> bool {
        self.outlet.is_full()
    }

    /// The program has ended: all that is left is written.
    pub(crate) fn end(&self) {
        while !self.go_on() {
            if self.outlet.is_full() {
                self.outlet.wait();
            }
        }
        self.outlet.end();
    }
}
