//! A connection with a fast path, as its application has it.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use drystone_extension::demux::Filter;
use drystone_extension::handler::{FlowId, Image, Settings};
use drystone_handlers::{Device, Region};

use super::block::{BYTES, Block, Counts, Word};
use super::connection::{Connection, LONGEST, State};
use super::segment::End;
use crate::host::{Host, Inner, random};

/// Where what is predicted is done.
#[derive(Debug)]
pub enum Place<'a> {
    /// In this process, by Drystone's engine: the fragments of IP, TCP and, perhaps, of the application.
    Engine(&'a Image),
    /// By a handler that runs elsewhere, such as in Linux's kernel, and whose region this is. One connection at a time.
    Elsewhere(Region),
    /// Nowhere: all is done by the library.
    Library,
}

/// A connection with a fast path. It blocks, as [`Stream`](crate::Stream) does.
pub struct FastStream<D: Device> {
    host: Host<D>,
    number: u64,
    block: Block,
    flow: Option<FlowId>,
    patience: Duration,
}

impl<D: Device> Host<D> {
    /// Connects to a port in the same network, or behind the gateway.
    ///
    /// # Errors
    /// Nobody listens there, nobody answers, or the handler can't be.
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

    /// Waits for one connection to a port, for so long at most.
    ///
    /// # Errors
    /// None comes, or the handler can't be.
    pub fn accept_fast(&self, port: u16, place: Place<'_>, most: Duration) -> Result<FastStream<D>> {
        let mut stream = self.begin(port, None, place)?;
        let patience = std::mem::replace(&mut stream.patience, most);
        stream.until(|connection| (connection.state == State::Open).then_some(Ok(())))?;
        stream.patience = patience;
        Ok(stream)
    }

    fn begin(&self, port: u16, peer: Option<End>, place: Place<'_>) -> Result<FastStream<D>> {
        let mut inner = self.inner();
        let own = inner.end(port);
        let (region, flow) = placed(&mut inner, own, place)?;
        if region.length() < BYTES {
            let what = format!("its region has {} bytes: a control block takes {BYTES}", region.length());
            return Err(Error::new(ErrorKind::InvalidInput, what));
        }
        let block = Block::new(region);
        // Another connection may have had it.
        block.clear();
        let connection = Connection::new(block.clone(), own, peer, random()? as u32);
        let number = inner.add_fast(connection);
        Ok(FastStream { host: self.clone(), number, block, flow, patience: Duration::from_secs(30) })
    }
}

/// The region in which the control block lies; a handler that has it runs from now on.
fn placed<D: Device>(inner: &mut Inner<D>, own: End, place: Place<'_>) -> Result<(Region, Option<FlowId>)> {
    let image = match place {
        Place::Elsewhere(region) => return Ok((region, None)),
        Place::Library => return Ok((Region::new(None, BYTES)?, None)),
        Place::Engine(image) => image,
    };
    let invalid = |what: String| Error::new(ErrorKind::InvalidInput, what);
    let region = Region::new(None, image.region_bytes() as usize)?;
    let settings = Settings { key: random()?, ..Settings::default() };
    let handler = drystone_handlers::handler(image, &region, settings).map_err(invalid)?;
    let filter = Filter::ethernet().ipv4().destination(own.address.ip().octets()).tcp();
    let filter = filter.destination_port(own.address.port());
    let flow = inner.station().flows.attach(0, filter, handler).map_err(invalid)?;
    Ok((region, Some(flow)))
}

impl<D: Device> FastStream<D> {
    /// What became of its segments so far.
    pub fn counts(&self) -> Counts {
        self.block.counts()
    }

    /// Who is at the other end.
    pub fn peer(&self) -> Option<SocketAddrV4> {
        self.host.inner().fast(self.number).and_then(|connection| connection.peer_address())
    }

    /// Whether handlers tell their application (by the ring `events`) that something has come, because that sleeps.
    pub fn tell(&self, waits: bool) {
        self.block.set(Word::Waits, waits.into());
    }

    fn until<T>(&self, mut look: impl FnMut(&mut Connection) -> Option<Result<T>>) -> Result<T> {
        self.host.until(self.patience, |inner| match inner.fast(self.number) {
            Some(connection) => look(connection),
            None => Some(Err(ErrorKind::NotConnected.into())),
        })
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

    /// Waits until the other side has all.
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
    /// Tells the other side that there is room again, if it was told of little.
    fn tell_of_room(&mut self) {
        let block = self.block.clone();
        let _turn = block.turn();
        let told = block.number(Word::Told).wrapping_sub(block.number(Word::Next)) as usize;
        if self.state == State::Open && told < 2 * LONGEST && block.room() >= 4 * LONGEST {
            self.acknowledge();
        }
    }
}

impl<D: Device> Drop for FastStream<D> {
    fn drop(&mut self) {
        let mut inner = self.host.inner();
        if let Some(flow) = self.flow {
            // Whatever comes now isn't predicted.
            inner.station().flows.detach(flow);
        }
        if let Some(connection) = inner.fast(self.number) {
            connection.wants_end = true;
            connection.left = Some(Instant::now());
        }
    }
}
