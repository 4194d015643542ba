//! A connection with a fast path, as its application sees it.

use std::cell::RefCell;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::SocketAddrV4;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use drystone_extension::demux::Filter;
use drystone_extension::handler::{FlowId, Image, Settings};
use drystone_handlers::{Device, Region, Ring};

use super::block::{BYTES, Block, Counts, Word};
use super::connection::{Connection, LONGEST, State};
use super::segment::End;
use crate::host::Host;
use crate::inner::{Inner, random};

/// Where predicted segments are processed.
#[derive(Debug)]
pub enum Place<'a> {
    /// In this process, by Drystone's engine: the fragments of IP, of TCP, and possibly of the application.
    Engine(&'a Image),
    /// By a handler elsewhere, such as in Linux's kernel, with its region and its ring `events`, by which it wakes the
    /// application when data has arrived. One connection at a time.
    Elsewhere(Region, Ring),
    /// Nowhere: the library processes all segments.
    Library,
}

/// A connection with a fast path. It blocks, as [`Stream`](crate::Stream) does.
pub struct FastStream<D: Device> {
    host: Host<D>,
    number: u64,
    block: Block,
    flow: Option<FlowId>,
    ring: Option<RefCell<Ring>>,
    patience: Duration,
}

impl<D: Device> Host<D> {
    /// Connects to a port in the same network, or behind the gateway.
    ///
    /// # Errors
    /// There is no listener, no answer, or no such handler.
    pub fn connect_fast(&self, to: SocketAddrV4, place: Place<'_>) -> Result<FastStream<D>> {
        let peer = End { hardware: self.hardware_of(*to.ip())?, address: to };
        let port = self.inner().free_port();
        let stream = self.begin(port, Some(peer), place)?;
        stream.until(|connection| match connection.state {
            State::Open => Some(Ok(())),
            State::Over(why) => Some(Err(Error::from(why.unwrap_or(ErrorKind::ConnectionReset)))),
            _ => None,
        })?;
        Ok(stream)
    }

    /// Waits for one connection to a port, for at most the time `most`.
    ///
    /// # Errors
    /// No connection has arrived, or there can be no such handler.
    pub fn accept_fast(&self, port: u16, place: Place<'_>, most: Duration) -> Result<FastStream<D>> {
        let mut stream = self.begin(port, None, place)?;
        let patience = std::mem::replace(&mut stream.patience, most);
        stream.until(|connection| (connection.state == State::Open).then_some(Ok(())))?;
        stream.patience = patience;
        Ok(stream)
    }

    fn begin(&self, port: u16, peer: Option<End>, place: Place<'_>) -> Result<FastStream<D>> {
        if let Place::Elsewhere(region, _) = &place {
            self.await_region(region)?;
        }
        let mut inner = self.inner();
        let own = inner.end(port);
        let (region, flow, ring) = placed(&mut inner, own, place)?;
        if region.length() < BYTES {
            let what = format!("its region has {} bytes: a control block takes {BYTES}", region.length());
            return Err(Error::new(ErrorKind::InvalidInput, what));
        }
        let block = Block::new(region);
        // Another connection may have used it.
        block.clear();
        let connection = Connection::new(block.clone(), own, peer, random()? as u32);
        let number = inner.add_fast(connection);
        let (host, ring, patience) = (self.clone(), ring.map(RefCell::new), Duration::from_secs(30));
        Ok(FastStream { host, number, block, flow, ring, patience })
    }
}

impl<D: Device> Host<D> {
    /// Waits until the previous connection with this region has ended.
    fn await_region(&self, region: &Region) -> Result<()> {
        let is_free = |inner: &mut Inner<D>| {
            let has_it = |connection: &Connection| connection.block.address() == region.address();
            (!inner.all_fast().any(has_it)).then_some(Ok(()))
        };
        self.until(Duration::from_secs(5), is_free).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Error::new(ErrorKind::ResourceBusy, "another connection has this region"),
            _ => error,
        })
    }
}

type Placed = (Region, Option<FlowId>, Option<Ring>);

/// The region for the control block. A handler in this process is attached, and runs from now on.
fn placed<D: Device>(inner: &mut Inner<D>, own: End, place: Place<'_>) -> Result<Placed> {
    let image = match place {
        Place::Elsewhere(region, ring) => return Ok((region, None, Some(ring))),
        Place::Library => return Ok((Region::new(None, BYTES)?, None, None)),
        Place::Engine(image) => image,
    };
    let invalid = |what: String| Error::new(ErrorKind::InvalidInput, what);
    let region = Region::new(None, image.region_bytes() as usize)?;
    let settings = Settings { key: random()?, ..Settings::default() };
    let handler = drystone_handlers::handler(image, &region, settings).map_err(invalid)?;
    let filter = Filter::ethernet().ipv4().destination(own.address.ip().octets()).tcp();
    let filter = filter.destination_port(own.address.port());
    let flow = inner.station().flows.attach(0, filter, handler).map_err(invalid)?;
    Ok((region, Some(flow), None))
}

impl<D: Device> FastStream<D> {
    /// Counts of the segments so far.
    pub fn counts(&self) -> Counts {
        self.block.counts()
    }

    /// The other end's address.
    pub fn peer(&self) -> Option<SocketAddrV4> {
        self.host.inner().fast(self.number).and_then(|connection| connection.peer_address())
    }

    fn until<T>(&self, mut look: impl FnMut(&mut Connection) -> Option<Result<T>>) -> Result<T> {
        let look = |inner: &mut Inner<D>| match inner.fast(self.number) {
            Some(connection) => look(connection),
            None => Some(Err(ErrorKind::NotConnected.into())),
        };
        let Some(ring) = &self.ring else { return self.host.until(self.patience, look) };
        self.until_told(&mut ring.borrow_mut(), look)
    }

    /// As [`until`](FastStream::until), but also wakes when a handler elsewhere has news.
    fn until_told<T>(
        &self,
        ring: &mut Ring,
        mut look: impl FnMut(&mut Inner<D>) -> Option<Result<T>>,
    ) -> Result<T> {
        let bell = ring.as_fd().try_clone_to_owned()?;
        self.block.set(Word::Waits, 1);
        let result = self.host.until_or(self.patience, Some(bell.as_fd()), |inner| {
            while ring.hear().is_some() {}
            look(inner)
        });
        self.block.set(Word::Waits, 0);
        result
    }
}

impl<D: Device> Read for FastStream<D> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let block = &self.block;
        self.until(|connection| match (block.take_come(buffer), connection.state) {
            (0, State::Over(Some(why))) => Some(Err(why.into())),
            (0, _) if connection.their_end => Some(Ok(0)),
            (0, _) => None,
            (count, _) => {
                connection.tell_of_room();
                Some(Ok(count))
            }
        })
    }
}

impl<D: Device> Write for FastStream<D> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let block = &self.block;
        self.until(|connection| {
            if let State::Over(why) = connection.state {
                return Some(Err(why.unwrap_or(ErrorKind::BrokenPipe).into()));
            }
            let _turn = block.turn();
            let count = block.say(bytes);
            (count > 0 || bytes.is_empty()).then_some(Ok(count))
        })
    }

    /// Waits until the other side has acknowledged all data.
    fn flush(&mut self) -> Result<()> {
        let block = &self.block;
        self.until(|connection| match connection.state {
            _ if block.number(Word::Acknowledged) == block.number(Word::Said) => Some(Ok(())),
            State::Over(why) => Some(Err(why.unwrap_or(ErrorKind::BrokenPipe).into())),
            _ => None,
        })
    }
}

impl Connection {
    /// Announces new room to the other side, if the last announcement was small.
    fn tell_of_room(&mut self) {
        let block = self.block.clone();
        let told = block.number(Word::Told).wrapping_sub(block.number(Word::Next)) as usize;
        if self.state == State::Open && told < 2 * LONGEST && block.room() >= 4 * LONGEST {
            let _turn = block.turn();
            self.acknowledge();
        }
    }
}

impl<D: Device> Drop for FastStream<D> {
    fn drop(&mut self) {
        let mut inner = self.host.inner();
        if let Some(flow) = self.flow {
            // From now on no segment is predicted.
            inner.station().flows.detach(flow);
        }
        if let Some(connection) = inner.fast(self.number) {
            connection.wants_end = true;
            connection.left = Some(Instant::now());
        }
    }
}
