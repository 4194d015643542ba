//! The process: what the handler leaves to it, by sockets and where the handler runs.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use drystone_handlers::{Client, Limits, Service, Sockets};

use crate::Zone;
use crate::message::response;

/// For each that comes when there are more, the one that was answered longest ago is let go.
const CONNECTIONS: usize = 128;
/// A query has to be there, and its answer taken, within so long; who says nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// The zone that is served now.
pub struct Current(RwLock<Arc<Zone>>);

impl Current {
    /// This one, at first.
    pub fn new(zone: Zone) -> Arc<Current> {
        Arc::new(Current(RwLock::new(Arc::new(zone))))
    }

    /// The zone of now.
    pub fn zone(&self) -> Arc<Zone> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has another one be served from now on.
    pub fn replace(&self, zone: Arc<Zone>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = zone;
    }
}

/// Serves what comes by sockets, in threads of their own.
pub fn by_sockets(sockets: Sockets, current: &Arc<Current>) {
    let (of_udp, of_tcp) = (current.clone(), current.clone());
    let converse = move |client: &Client| connection(client, &of_tcp);
    // Whatever they say is short.
    let limits = Limits { connections: CONNECTIONS, bytes: usize::MAX };
    sockets.serve(limits, move |query| answers(&of_udp.zone(), query), converse);
}

/// Answers what the handler passes on, as long as its interface is there.
///
/// # Errors
/// It has gone.
pub fn passed(service: &mut Service, current: &Current) -> Result<()> {
    service.serve(|query| answers(&current.zone(), query))
}

fn answers(zone: &Zone, query: &[u8]) -> Vec<Vec<u8>> {
    response(zone, query, true).into_iter().collect()
}

/// Messages behind their lengths.
fn connection(client: &Client, current: &Current) -> Result<()> {
    let mut stream = client.stream();
    stream.set_nodelay(true)?;
    loop {
        let end = Instant::now() + PATIENCE;
        let mut length = [0; 2];
        read_until(stream, &mut length, end)?;
        let mut query = vec![0; u16::from_be_bytes(length).into()];
        read_until(stream, &mut query, end)?;
        let Some(response) = response(&current.zone(), &query, false) else { return Ok(()) };
        let length = u16::try_from(response.len()).map_err(Error::other)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&[&length.to_be_bytes()[..], &response].concat())?;
        client.served();
    }
}

/// Reads as much, if it comes in time: also from who sends a byte now and then.
fn read_until(mut stream: &TcpStream, mut buffer: &mut [u8], end: Instant) -> Result<()> {
    while !buffer.is_empty() {
        let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        stream.set_read_timeout(Some(left.ok_or(ErrorKind::TimedOut)?))?;
        let count = stream.read(buffer)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[count..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sends_a_byte_now_and_then_is_given_up_too() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let mut slow = TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens");
        let (stream, _) = listener.accept().expect("somebody came");
        std::thread::spawn(move || {
            while slow.write_all(&[7]).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let begin = Instant::now();
        let error =
            read_until(&stream, &mut [0; 1000], begin + Duration::from_millis(300)).expect_err("it is slow");
        assert!(matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock), "{error}");
        assert!((300..3000).contains(&begin.elapsed().as_millis()), "{:?}", begin.elapsed());
    }
}
