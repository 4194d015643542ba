//! Standard output and error. If nothing reads a pipe, socket or terminal, or it is stopped, the program goes on. Bytes
//! that fit are written at once, without making the file non-blocking for other programs that share it. Then the
//! reactor waits for room. Terminals don't support such writes, so the program opens them once more for itself.
//!
//! # Soundness
//!
//! The system calls get valid bytes and structures of their own.

use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::rc::Rc;

use mio::unix::SourceFd;

use crate::standard::write_all;
use drystone_reactor::{Direction, Handler, Reactor, reason};
use drystone_runtime::native::Waiter;

/// Bytes that a pipe with any room has room for.
const ROOM: usize = 4096;

/// An output that may have to wait for its reader.
pub(crate) struct Outlet {
    fd: RawFd,
    /// The same terminal, opened again as non-blocking.
    own: Option<OwnedFd>,
    /// A reader decides when there is room.
    has_reader: bool,
    /// Writing has to wait until the reactor reports room.
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

    /// Writes what can be written without waiting. Returns how many bytes.
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

    /// For kernels without non-blocking writes, and for domains that may not use them.
    fn write_little(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut entry = libc::pollfd { fd: self.fd, events: libc::POLLOUT, revents: 0 };
        // SAFETY: the array has one entry.
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

    /// Has the reactor report when there is room.
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

    /// Waits for room only.
    pub(crate) fn wait(&self) {
        let mut entry = libc::pollfd { fd: self.fd, events: libc::POLLOUT, revents: 0 };
        // SAFETY: the array has one entry.
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

/// A terminal, opened again so that writing to it never waits. A program that may not open it has to wait.
fn opened_anew(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: nothing is read or written.
    if unsafe { libc::isatty(fd) } == 0 {
        return None;
    }
    // The controlling side of a pseudoterminal can't be reopened: that would make a new one.
    let mut number: libc::c_uint = 0;
    // SAFETY: the call writes to `number`, and to nothing else.
    if unsafe { libc::ioctl(fd, libc::TIOCGPTN, &raw mut number) } == 0 {
        return None;
    }
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(format!("/proc/self/fd/{fd}")).ok().map(OwnedFd::from)
}

/// Standard error: the system's messages, and what the program writes there. The program never waits for a reader, only
/// components that write much. If too many bytes of the system's messages wait, further ones are only counted.
pub(crate) struct Errors {
    outlet: Rc<Outlet>,
    reactor: Rc<Reactor>,
    /// Where those wait that write much.
    source: usize,
    rest: RefCell<Vec<u8>>,
    /// At least the bytes of the system's messages in `rest`, and at most all of its bytes.
    told: Cell<usize>,
    lost: Cell<usize>,
    /// Why nothing can be written any more.
    failure: RefCell<Option<io::Error>>,
}

/// Most bytes of the system's messages that wait.
const MOST: usize = 4 << 20;

impl Errors {
    pub(crate) fn new(reactor: &Rc<Reactor>) -> Rc<Errors> {
        let outlet = Outlet::new(libc::STDERR_FILENO, reactor);
        let (rest, told, lost, failure) = Default::default();
        let (reactor, source) = (reactor.clone(), reactor.source());
        Rc::new(Errors { outlet, reactor, source, rest, told, lost, failure })
    }

    /// A message of the system.
    pub(crate) fn tell(&self, bytes: &[u8]) {
        let told = self.told.get() + bytes.len();
        if told > MOST {
            self.lost.set(self.lost.get() + 1);
        } else {
            self.told.set(told);
            self.rest.borrow_mut().extend_from_slice(bytes);
        }
        self.go_on();
    }

    /// Takes what the program writes. It is written when the program waits next, after what it has written to standard
    /// output before.
    pub(crate) fn add(&self, bytes: &[u8]) {
        if self.failure.borrow().is_none() {
            self.rest.borrow_mut().extend_from_slice(bytes);
        }
    }

    /// How many bytes wait.
    pub(crate) fn unsent(&self) -> usize {
        self.rest.borrow().len()
    }

    /// Why nothing can be written any more.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.borrow().as_ref().map(reason)
    }

    /// The process is woken when less waits.
    pub(crate) fn wait_for_room(&self, waiter: Waiter) {
        self.reactor.wait_for(waiter, Some((self.source, Direction::Write)), None);
    }

    /// Writes waiting messages as far as there is room. Returns whether none are left.
    pub(crate) fn go_on(&self) -> bool {
        let mut rest = self.rest.borrow_mut();
        if rest.is_empty() {
            return true;
        }
        let written = self.outlet.write(&rest).unwrap_or_else(|error| {
            *self.failure.borrow_mut() = Some(error);
            rest.len()
        });
        rest.drain(..written);
        self.told.set(self.told.get().min(rest.len()));
        let lost = if rest.is_empty() { self.lost.take() } else { 0 };
        if lost > 0 {
            rest.extend_from_slice(
                format!("error: {lost} messages more, which nobody has read in time\n").as_bytes(),
            );
        }
        if written > 0 {
            self.reactor.wake(self.source, Direction::Write);
        }
        rest.is_empty()
    }

    /// Whether something waits to be written.
    pub(crate) fn is_pending(&self) -> bool {
        self.unsent() > 0
    }

    /// Writes all that is left: the program has ended.
    pub(crate) fn end(&self) {
        while !self.go_on() {
            if self.outlet.is_full() {
                self.outlet.wait();
            }
        }
        self.outlet.end();
    }
}
