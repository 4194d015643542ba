//! The process: what the handler leaves to it, by sockets and where the handler runs.

use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use drystone_handlers::{Service, Sockets};

use crate::Zone;
use crate::message::response;

/// More connections are closed at once.
const CONNECTIONS: usize = 128;
/// Who says nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves what comes by sockets, in threads of their own.
pub fn by_sockets(sockets: Sockets, zone: &Arc<Zone>) {
    let (of_udp, of_tcp) = (zone.clone(), zone.clone());
    let converse = move |stream| connection(stream, &of_tcp);
    sockets.serve(CONNECTIONS, move |query| answers(&of_udp, query), converse);
}

/// Answers what the handler passes on, as long as its interface is there.
///
/// # Errors
/// It has gone.
pub fn passed(service: &mut Service, zone: &Zone) -> Result<()> {
    service.serve(|query| answers(zone, query))
}

fn answers(zone: &Zone, query: &[u8]) -> Vec<Vec<u8>> {
    response(zone, query, true).into_iter().collect()
}

/// Messages behind their lengths.
fn connection(mut stream: TcpStream, zone: &Zone) -> Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let mut query = vec![0; u16::from_be_bytes(length).into()];
        stream.read_exact(&mut query)?;
        let Some(response) = response(zone, &query, false) else { return Ok(()) };
        let length = u16::try_from(response.len()).map_err(std::io::Error::other)?;
        stream.write_all(&[&length.to_be_bytes()[..], &response].concat())?;
    }
}
