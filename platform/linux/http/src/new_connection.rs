//! A new connection of a client, until its first bytes tell its protocol: HTTP/1.1, with a request that may ask for a
//! WebSocket, or HTTP/2. Then hyper has it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;

use super::export::Exports;
use super::held::Pace;
use super::io::Io;
use super::reply::MOST_HEAD;
use super::requests::respond;
use super::surroundings::Surroundings;
use super::task::Task;
use super::upgrade::Upgrade;
use super::web_socket::accept;
use drystone_net::socket::Socket;
use drystone_reactor::{Handler, Reactor, weakly};

/// How long a request's head may take, and a connection may be idle.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long, and for how many bytes, a client may go on sending after its last answer.
const LEAVING: Duration = Duration::from_secs(5);
const MOST_UNHEARD: usize = 64 << 20;

/// How HTTP/2 begins.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Most concurrent requests over one connection (HTTP/2).
const MOST_STREAMS: u32 = 128;

/// See the head of this file.
pub(super) struct NewConnection {
    reactor: Rc<Reactor>,
    exports: Rc<Exports>,
    socket: Rc<Socket>,
    /// The client's address, and whether it came by TLS.
    client: (SocketAddr, bool),
    state: RefCell<State>,
}

struct State {
    /// `None`: the protocol is known.
    io: Option<Io>,
    bytes: Vec<u8>,
    until: Instant,
}

enum Kind {
    /// More bytes are needed.
    Unknown,
    Requests,
    Requests2,
}

impl NewConnection {
    /// Reads until the protocol is known.
    pub(super) fn open(reactor: &Rc<Reactor>, exports: Rc<Exports>, io: Io, client: (SocketAddr, bool)) {
        let until = Instant::now() + PATIENCE;
        let socket = io.socket.clone();
        let state = RefCell::new(State { io: Some(io), bytes: Vec::new(), until });
        let new = Rc::new(NewConnection { reactor: reactor.clone(), exports, socket, client, state });
        reactor.handle(new.socket.source(), new.clone());
        let late = weakly(&Rc::downgrade(&new), |new| new.ready());
        reactor.at(until, late);
        new.ready();
    }

    fn look(&self) -> io::Result<Option<(Kind, Io)>> {
        let State { io, bytes, until } = &mut *self.state.borrow_mut();
        let Some(mut reading) = io.take() else { return Ok(None) };
        loop {
            let kind = kind(bytes);
            if !matches!(kind, Kind::Unknown) {
                reading.unread(&std::mem::take(bytes));
                return Ok(Some((kind, reading)));
            }
            let scratch = &mut *self.reactor.scratch.borrow_mut();
            match reading.read(scratch) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => bytes.extend_from_slice(&scratch[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && *until > Instant::now() => {
                    *io = Some(reading);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn end(&self) {
        self.socket.close();
        self.reactor.unhandle(self.socket.source());
    }

    fn pass(&self, kind: Kind, io: Io) {
        let reactor = &self.reactor;
        let (exports, socket) = (self.exports.clone(), self.socket.clone());
        let (peer, is_secure) = (self.client.0.to_string().into(), self.client.1);
        match kind {
            Kind::Unknown => {}
            Kind::Requests => {
                let (all, heard, holdings) = (reactor.clone(), socket.clone(), exports.holdings.clone());
                Task::start(reactor, socket, move |handle| {
                    let (clock, upgrade) = (handle.clock.clone(), Upgrade::default());
                    let mut builder = http1::Builder::new();
                    builder.timer(handle.clock.clone()).header_read_timeout(PATIENCE).max_buf_size(MOST_HEAD);
                    let (task, pace) = (handle.clone(), Pace::default());
                    let (pacing, upgrading) = (pace.clone(), Some(upgrade.clone()));
                    let at = Rc::new(Surroundings {
                        exports,
                        task,
                        pace: pacing,
                        upgrade: upgrading,
                        peer,
                        is_secure,
                    });
                    let service = service_fn(move |request| respond(at.clone(), request));
                    let connection = builder.serve_connection(io, service).without_shutdown();
                    async move {
                        // Errors of a connection are its client's, and are ignored.
                        let served = pace.keep(PATIENCE, &clock, connection).await;
                        if let Some(Ok(mut parts)) = served {
                            if let Some(agreed) = upgrade.take() {
                                parts.io.unread(&parts.read_buf);
                                handle.let_go();
                                return accept(agreed, parts.io, &holdings);
                            }
                            parts.io.finish();
                        }
                        clock.within(LEAVING, hear_out(&all, &heard)).await;
                    }
                });
            }
            Kind::Requests2 => {
                Task::start(reactor, socket, move |handle| {
                    let mut builder = http2::Builder::new(handle.spawner.clone());
                    builder.timer(handle.clock.clone()).max_concurrent_streams(MOST_STREAMS);
                    builder.max_header_list_size(MOST_HEAD as u32).keep_alive_interval(PATIENCE);
                    let (clock, pace) = (handle.clock.clone(), Pace::default());
                    let pacing = pace.clone();
                    let at =
                        Surroundings { exports, task: handle, pace: pacing, upgrade: None, peer, is_secure };
                    let at = Rc::new(at);
                    let service = service_fn(move |request| respond(at.clone(), request));
                    let connection = builder.serve_connection(io, service);
                    async move { drop(pace.keep(PATIENCE, &clock, connection).await) }
                });
            }
        }
    }
}

/// Reads on after the last answer. If a connection is closed with something unread, the kernel resets it, and a client
/// that was refused while it still sent would not get the answer that says why.
async fn hear_out(reactor: &Reactor, socket: &Socket) {
    socket.finish();
    let mut left = MOST_UNHEARD;
    poll_fn(|_| {
        while left > 0 {
            match socket.read_in_turn(&mut reactor.scratch.borrow_mut()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Ok(0) | Err(_) => break,
                Ok(length) => left = left.saturating_sub(length),
            }
        }
        Poll::Ready(())
    })
    .await;
}

fn kind(bytes: &[u8]) -> Kind {
    if bytes.starts_with(PREFACE) {
        Kind::Requests2
    } else if PREFACE.starts_with(bytes) {
        Kind::Unknown
    } else {
        // hyper refuses whatever is no request.
        Kind::Requests
    }
}

impl Handler for NewConnection {
    fn ready(&self) {
        match self.look() {
            Ok(None) => {}
            Ok(Some((kind, io))) => self.pass(kind, io),
            Err(_) => self.end(),
        }
    }
}
