//! A host: an IP address on a wire.

use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drystone_handlers::{Device, Station};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::inner::{Inner, Settings};
use crate::rarp;

/// A host. Clones are handles to the same host.
pub struct Host<D>(Arc<Shared<D>>);

struct Shared<D> {
    inner: Mutex<Inner<D>>,
    /// A duplicate of the device's descriptor, for waiting without the lock.
    descriptor: OwnedFd,
}

impl<D> Clone for Host<D> {
    fn clone(&self) -> Self {
        Host(self.0.clone())
    }
}

impl<D: Device> Host<D> {
    /// A host on a device. Frames go to the station's handlers first. What they pass on, and all other frames, come to
    /// the host.
    ///
    /// # Errors
    /// The address is invalid, or there is no descriptor left.
    pub fn new(mut station: Station<D>, settings: &Settings) -> Result<Host<D>> {
        let descriptor = station.device().as_fd().try_clone_to_owned()?;
        let inner = Inner::new(station, settings)?;
        Ok(Host(Arc::new(Shared { inner: Mutex::new(inner), descriptor })))
    }

    /// From now on answers RARP requests.
    pub fn serve_rarp(&self, server: rarp::Server) {
        self.inner().reverse = Some(server);
    }

    /// Accesses the station, to attach handlers or to see their results.
    pub fn with_station<T>(&self, deed: impl FnOnce(&mut Station<D>) -> T) -> T {
        deed(self.inner().station())
    }

    /// The hardware address for an IP address: the machine's own, or the gateway's.
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) fn hardware_of(&self, address: Ipv4Addr) -> Result<[u8; 6]> {
        const REACHED: Duration = Duration::from_secs(3);
        let next = self.inner().next_hop(address)?;
        let found = self.until(REACHED, |inner| match inner.neighbours.get(&next) {
            Some(Some(hardware)) => Some(Ok(*hardware)),
            Some(None) => None,
            None => inner.ask_for(next).err().map(Err),
        });
        let mut inner = self.inner();
        // A machine's hardware may have changed by the time it is asked for again.
        inner.neighbours.remove(&next);
        found.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Error::new(
                ErrorKind::HostUnreachable,
                format!("nobody says by ARP which hardware {next} has"),
            ),
            _ => error,
        })
    }

    /// Processes what has arrived, and what is due.
    ///
    /// # Errors
    /// The device is gone.
    pub fn turn(&self) -> Result<()> {
        self.inner().turn().map(|_| ())
    }

    /// Works until `look` gives a result, for at most the time `most`.
    ///
    /// # Errors
    /// There was no result in time, or the device is gone.
    pub(crate) fn until<T>(
        &self,
        most: Duration,
        look: impl FnMut(&mut Inner<D>) -> Option<Result<T>>,
    ) -> Result<T> {
        self.until_or(most, None, look)
    }

    /// As [`until`](Host::until), but also wakes when `bell` can be read.
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
                // Sends what `look` has queued.
                let has_arrived = inner.turn()?;
                if let Some(result) = result {
                    return result;
                }
                // A close peer answers at once, before there is a reason to wait.
                if has_arrived { Duration::ZERO } else { inner.pause() }
            };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.wait_or(pause.min(left), bell)?;
        }
    }

    /// Waits until something arrives, for at most the time `most`.
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
