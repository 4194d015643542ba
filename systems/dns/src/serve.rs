//! Serves the questions that the handler leaves to the process, from sockets and from the handler.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use drystone_handlers::{Client, Limits, Service, Sockets};

use crate::Zone;
use crate::message::response;

/// The most connections; for a further one, the one that was answered longest ago is closed.
const CONNECTIONS: usize = 128;
/// The time in which a query must arrive and its answer be taken; after so much silence a connection is closed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The zone that is being served.
pub struct Current(RwLock<Arc<Zone>>);

impl Current {
    /// Serves this zone first.
    pub fn new(zone: Zone) -> Arc<Current> {
        Arc::new(Current(RwLock::new(Arc::new(zone))))
    }

    /// The present zone.
    pub fn zone(&self) -> Arc<Zone> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves another zone from now on.
    pub fn replace(&self, zone: Arc<Zone>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = zone;
    }
}

/// Serves sockets on threads of their own.
pub fn by_sockets(sockets: Sockets, current: &Arc<Current>) {
    let (of_udp, of_tcp) = (current.clone(), current.clone());
    let converse = move |client: &Client| connection(client, &of_tcp);
    // Queries are short, so their bytes need no limit.
    let limits = Limits { connections: CONNECTIONS, bytes: usize::MAX };
    sockets.serve(limits, move |query| answers(&of_udp.zone(), query), converse);
}

/// Answers questions that the handler passes on, as long as its interface exists.
///
/// # Errors
/// The interface is gone.
pub fn passed(service: &mut Service, current: &Current) -> Result<()> {
    service.serve(|query| answers(&current.zone(), query))
}

fn answers(zone: &Zone, query: &[u8]) -> Vec<Vec<u8>> {
    response(zone, query, true).into_iter().collect()
}

/// Serves a TCP connection: messages, each after its length.
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

/// Fills the buffer before a deadline, even if the client sends a byte now and then.
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
