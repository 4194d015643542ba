//! Very many clients of one server, served by one thread: who reads, what has come, and when.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Registry, Token};

/// How long a crowd waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Clients, numbered in the order in which they came.
pub struct Crowd {
    poll: Poll,
    events: Events,
    clients: Vec<Client>,
    scratch: Vec<u8>,
}

/// One connection.
struct Client {
    stream: mio::net::TcpStream,
    /// What has come of a line.
    begun: Vec<u8>,
    ended: bool,
}

/// What came for a client.
pub enum Event<'a> {
    /// A line, without its end.
    Line(&'a str),
    /// Nothing more will come.
    End,
}

impl Crowd {
    /// Nobody yet.
    pub fn new() -> Crowd {
        raise_limit();
        Crowd {
            poll: Poll::new().expect("the kernel can poll"),
            events: Events::with_capacity(1024),
            clients: Vec::new(),
            scratch: vec![0; 64 * 1024],
        }
    }

    /// How many clients there are.
    pub fn len(&self) -> usize {
        self.clients.len()
    }

    /// One more client.
    pub fn connect(&mut self, address: SocketAddr) -> usize {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_nonblocking(true).expect("a socket");
        let stream = mio::net::TcpStream::from_std(stream);
        self.clients.push(Client { stream, begun: Vec::new(), ended: false });
        let number = self.clients.len() - 1;
        register(self.poll.registry(), &mut self.clients[number], number);
        number
    }

    /// Sends all of it; there must be room.
    pub fn send(&mut self, client: usize, text: &str) {
        self.clients[client].stream.write_all(text.as_bytes()).expect("there is room for a few lines");
    }

    /// Hands all that comes to `take` until that says TRUE.
    ///
    /// # Panics
    ///
    /// If it takes too long.
    pub fn serve(&mut self, what: &str, mut take: impl FnMut(usize, Event<'_>) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut done = false;
        while !done {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain: {what}");
            if let Err(error) = self.poll.poll(&mut self.events, Some(left)) {
                assert_eq!(error.kind(), io::ErrorKind::Interrupted);
                continue;
            }
            for event in &self.events {
                let number = event.token().0;
                done |= self.clients[number].read(&mut self.scratch, |event| take(number, event));
            }
        }
    }

    /// All go, in the order in which they came.
    pub fn leave(&mut self) {
        self.clients.clear();
    }
}

impl Client {
    /// Reads what there is, to the last byte: the kernel tells only once of it.
    fn read(&mut self, scratch: &mut [u8], mut take: impl FnMut(Event<'_>) -> bool) -> bool {
        let mut done = false;
        while !self.ended {
            match self.stream.read(scratch) {
                Ok(0) => self.ended = true,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.ended = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
                Ok(n) => {
                    let mut rest = &scratch[..n];
                    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                        self.begun.extend_from_slice(&rest[..end]);
                        done |= take(Event::Line(str::from_utf8(&self.begun).expect("UTF-8")));
                        self.begun.clear();
                        rest = &rest[end + 1..];
                    }
                    self.begun.extend_from_slice(rest);
                    continue;
                }
            }
            done |= take(Event::End);
        }
        done
    }
}

fn register(registry: &Registry, client: &mut Client, number: usize) {
    registry.register(&mut client.stream, Token(number), Interest::READABLE).expect("room to poll");
}

/// As many open files as this process may have.
fn raise_limit() {
    let mut files = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid structure.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut files) == 0 {
            files.rlim_cur = files.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &files);
        }
    }
}
