//! An address on a wire.

use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drystone_handlers::{Device, Station};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::inner::{Inner, Settings};
use crate::rarp;

/// See the head of this file. Clones are the same host.
pub struct Host<D>(Arc<Shared<D>>);

struct Shared<D> {
    inner: Mutex<Inner<D>>,
    /// The device's, to wait at while others work.
    descriptor: OwnedFd,
}

impl<D> Clone for Host<D> {
    fn clone(&self) -> Self {
        Host(self.0.clone())
    }
}

impl<D: Device> Host<D> {
    /// A host at a device. What arrives goes to the station's handlers first; what they pass on, and all else, comes to
    /// the host.
    ///
    /// # Errors
    /// The address makes no sense, or there is no descriptor left.
    pub fn new(mut station: Station<D>, settings: &Settings) -> Result<Host<D>> {
        let descriptor = station.device().as_fd().try_clone_to_owned()?;
        let inner = Inner::new(station, settings)?;
        Ok(Host(Arc::new(Shared { inner: Mutex::new(inner), descriptor })))
    }

    /// Answers from now on who asks by RARP which address it has.
    pub fn serve_rarp(&self, server: rarp::Server) {
        self.inner().reverse = Some(server);
    }

    /// Something about the station: to attach handlers, or to see what became of them.
    pub fn with_station<T>(&self, deed: impl FnOnce(&mut Station<D>) -> T) -> T {
        deed(self.inner().station())
    }

    /// Which hardware takes what is for an address: its own, or the gateway's.
    ///
    /// # Errors
    /// Nobody says so.
    pub(crate) fn hardware_of(&self, address: Ipv4Addr) -> Result<[u8; 6]> {
        const REACHED: Duration = Duration::from_secs(3);
        let next = self.inner().next_hop(address)?;
        let found = self.until(REACHED, |inner| match inner.neighbours.get(&next) {
            Some(Some(hardware)) => Some(Ok(*hardware)),
            Some(None) => None,
            None => inner.ask_for(next).err().map(Err),
        });
        let mut inner = self.inner();
        // A machine may get other hardware until it is asked for again.
        inner.neighbours.remove(&next);
        found.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Error::new(
                ErrorKind::HostUnreachable,
                format!("nobody says by ARP which hardware {next} has"),
            ),
            _ => error,
        })
    }

    /// Does what is to be done now: with what has come, and with what has its time.
    ///
    /// # Errors
    /// The device is gone.
    pub fn turn(&self) -> Result<()> {
        self.inner().turn().map(|_| ())
    }

    /// Works until something is so, for so long at most.
    ///
    /// # Errors
    /// It wasn't so in time, or the device is gone.
    pub(crate) fn until<T>(
        &self,
        most: Duration,
        look: impl FnMut(&mut Inner<D>) -> Option<Result<T>>,
    ) -> Result<T> {
        self.until_or(most, None, look)
    }

    /// The same, where something may also happen when a descriptor can be read.
    pub(crate) fn until_or<T>(
        &self,
        most: Duration,
        bell: Option<BorrowedFd<'_>>,
        mut look: impl FnMut(&mut Inner<D>) -> Option<Result<T>>,
    ) -> Result<T> {
        let end = Instant::now() + most;
        loop {
            let pause = {
                let mut inner = self.inner();
                inner.turn()?;
                let result = look(&mut inner);
                // What it has just been given to send.
                let has_arrived = inner.turn()?;
                if let Some(result) = result {
                    return result;
                }
                // Whoever is near answers at once, and then nothing more arrives.
                if has_arrived { Duration::ZERO } else { inner.pause() }
            };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.wait_or(pause.min(left), bell)?;
        }
    }

    /// Waits until something arrives, for so long at most.
    ///
    /// # Errors
    /// There are too many descriptors.
    pub fn wait(&self, most: Duration) -> Result<()> {
        self.wait_or(most, None)
    }

    fn wait_or(&self, most: Duration, bell: Option<BorrowedFd<'_>>) -> Result<()> {
        let most = Timespec::try_from(most).map_err(Error::other)?;
        let device = self.0.descriptor.as_fd();
        let both = [device, bell.unwrap_or(device)].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match poll(&mut both.clone(), Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner<D>> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
