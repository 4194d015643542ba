//! Clients of the chat: all say something, and each hears what all have said.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Clients of the room.
pub const CLIENTS: usize = 20;

/// What each says.
const TEXT: &str = "hello";

/// The timeout of what is to be heard.
const PATIENCE: Duration = Duration::from_secs(10);

/// Nobody says anything any more when it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(200);

/// Texts a second that are delivered, each of them to every client.
pub fn rate(address: SocketAddr, duration: Duration) -> Result<f64, String> {
    talk(address, duration).map_err(|error| format!("{address}: {error}"))
}

fn talk(address: SocketAddr, duration: Duration) -> io::Result<f64> {
    let mut clients = (0..CLIENTS).map(|n| join(address, n)).collect::<io::Result<Vec<_>>>()?;
    clients.iter_mut().try_for_each(hear_the_rest)?;
    let mut heard = vec![0; CLIENTS * frame("c00").len()];
    let (mut begin, mut delivered) = (Instant::now(), 0);
    for round in 0.. {
        clients.iter_mut().try_for_each(|client| client.write_all(&masked(TEXT)))?;
        for client in &mut clients {
            client.read_exact(&mut heard)?;
            check(&heard)?;
        }
        delivered += CLIENTS * CLIENTS;
        if round == 10 {
            (begin, delivered) = (Instant::now(), 0);
        } else if begin.elapsed() >= duration {
            break;
        }
    }
    Ok(delivered as f64 / begin.elapsed().as_secs_f64())
}

fn name(n: usize) -> String {
    format!("c{n:02}")
}

/// Opens a WebSocket.
fn join(address: SocketAddr, n: usize) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET /talk?name={} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        name(n)
    )?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    if head.starts_with("HTTP/1.1 101 ") { Ok(stream) } else { Err(io::Error::other(head.into_owned())) }
}

/// Passes over all that is heard before it is quiet.
fn hear_the_rest(client: &mut TcpStream) -> io::Result<()> {
    client.set_read_timeout(Some(QUIET))?;
    let mut scratch = [0; 64 << 10];
    loop {
        match client.read(&mut scratch) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    client.set_read_timeout(Some(PATIENCE))
}

/// A text from a client: masked, as it must be, by zeros.
fn masked(text: &str) -> Vec<u8> {
    [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], text.as_bytes()].concat()
}

/// What each hears when somebody has said it.
fn frame(name: &str) -> Vec<u8> {
    let json = format!(r#"{{"name":"{name}","text":"{TEXT}"}}"#);
    [&[0x81, json.len() as u8], json.as_bytes()].concat()
}

/// Everybody is heard once, in whatever order.
fn check(heard: &[u8]) -> io::Result<()> {
    let mut frames: Vec<&[u8]> = heard.chunks_exact(heard.len() / CLIENTS).collect();
    frames.sort();
    let is_right = frames.iter().enumerate().all(|(n, heard)| *heard == frame(&name(n)));
    if is_right {
        return Ok(());
    }
    Err(io::Error::other(format!("wrong texts: {}", String::from_utf8_lossy(heard))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_must_be_heard_once() {
        let all =
            |order: &mut dyn Iterator<Item = usize>| order.flat_map(|n| frame(&name(n))).collect::<Vec<u8>>();
        assert!(check(&all(&mut (0..CLIENTS).rev())).is_ok());
        assert!(check(&all(&mut (0..CLIENTS).map(|n| n.min(CLIENTS - 2)))).is_err());
    }
}
