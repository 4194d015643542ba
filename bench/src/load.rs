//! Clients of a server, all on one thread. Each sends one or several requests, waits for the answers, and repeats. They
//! do as little as possible, because the server is measured: of the answers, only beginning, end and length are
//! checked.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};

/// The exchange that a client repeats.
pub struct Exchange {
    /// The bytes of the requests.
    pub requests: Vec<u8>,
    /// The number of requests.
    pub count: usize,
    /// The beginning of the answers.
    pub begin: Vec<u8>,
    /// The end of the answers.
    pub end: Vec<u8>,
    /// The length of all answers in bytes.
    pub length: usize,
}

/// The timeout of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// One connection.
struct Client {
    stream: mio::net::TcpStream,
    /// The answers' bytes so far.
    answers: Vec<u8>,
}

/// Answers a second, with a connection for each exchange, once all of them have been answered.
pub fn rate(address: SocketAddr, exchanges: &[Exchange], duration: Duration) -> Result<f64, String> {
    clients(address, exchanges, duration).map_err(|error| format!("{address}: {error}"))
}

fn clients(address: SocketAddr, exchanges: &[Exchange], duration: Duration) -> io::Result<f64> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let mut clients = Vec::with_capacity(exchanges.len());
    for (number, exchange) in exchanges.iter().enumerate() {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = mio::net::TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(number), Interest::READABLE)?;
        stream.write_all(&exchange.requests)?;
        clients.push(Client { stream, answers: Vec::with_capacity(2 * exchange.length) });
    }
    let mut scratch = vec![0; 64 * 1024];
    let (mut rounds, mut answered) = (0, 0);
    let mut begin = None;
    loop {
        poll.poll(&mut events, Some(PATIENCE))?;
        if events.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        for event in &events {
            let number = event.token().0;
            if clients[number].go_on(&exchanges[number], &mut scratch)? {
                rounds += 1;
                answered += exchanges[number].count;
            }
        }
        let now = Instant::now();
        match begin {
            None if rounds >= 2 * clients.len() => (begin, answered) = (Some(now), 0),
            Some(begin) if now - begin >= duration => {
                return Ok(answered as f64 / (now - begin).as_secs_f64());
            }
            _ => {}
        }
    }
}

impl Client {
    /// Reads what has arrived. If the answers are complete, sends the next requests and returns true.
    fn go_on(&mut self, exchange: &Exchange, scratch: &mut [u8]) -> io::Result<bool> {
        loop {
            match self.stream.read(scratch) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    self.answers.extend_from_slice(&scratch[..n]);
                    if self.answers.len() >= exchange.length {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let Exchange { begin, end, length, .. } = exchange;
        if self.answers.len() > *length || !self.answers.starts_with(begin) || !self.answers.ends_with(end) {
            let answers = String::from_utf8_lossy(&self.answers);
            return Err(io::Error::other(format!("wrong answers: {}", &answers[..answers.len().min(300)])));
        }
        self.answers.clear();
        // The send buffer is empty, so there is room.
        self.stream.write_all(&exchange.requests)?;
        Ok(true)
    }
}

/// The whole answer to one HTTP request.
pub fn answer(address: SocketAddr, request: &str) -> Result<String, String> {
    let fail = |error: io::Error| format!("{address}: {error}");
    let mut stream = TcpStream::connect(address).map_err(fail)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(fail)?;
    stream.write_all(request.as_bytes()).map_err(fail)?;
    let mut answer = String::new();
    let mut bytes = [0; 4096];
    while !is_whole(&answer) {
        match stream.read(&mut bytes).map_err(fail)? {
            0 => return Err(format!("{address}: no whole answer: {answer}")),
            n => answer += &String::from_utf8_lossy(&bytes[..n]),
        }
    }
    Ok(answer)
}

fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    let length =
        fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).map(|(_, value)| value).next();
    length.and_then(|length| length.parse().ok()) == Some(body.len())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that answers every byte with two.
    fn doubling() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                thread::spawn(move || {
                    let mut bytes = [0; 100];
                    while let Ok(n @ 1..) = stream.read(&mut bytes) {
                        let doubled: Vec<u8> = bytes[..n].iter().flat_map(|&byte| [byte, byte]).collect();
                        if stream.write_all(&doubled).is_err() {
                            break;
                        }
                    }
                });
            }
        });
        address
    }

    fn exchange(end: &[u8]) -> Exchange {
        Exchange { requests: b"abc".into(), count: 3, begin: b"aa".into(), end: end.into(), length: 6 }
    }

    #[test]
    fn answers_are_counted() {
        let exchanges: Vec<_> = (0..10).map(|_| exchange(b"bcc")).collect();
        assert!(rate(doubling(), &exchanges, Duration::from_millis(20)).unwrap() > 1000.0);
    }

    #[test]
    fn wrong_answers_are_refused() {
        let error = rate(doubling(), &[exchange(b"bbc")], Duration::from_millis(20)).unwrap_err();
        assert!(error.ends_with("wrong answers: aabbcc"), "{error}");
    }
}
