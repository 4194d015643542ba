//! Connections to an HTTP service, each of which carries one request after another.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::error::Error;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use drystone_runtime::far::Waker;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::http::response::Parts;
use hyper::rt::Executor;

use super::io::Io;
use super::service::Service;
use super::task::{Handle, Task};
use drystone_net::stream_dial::StreamDial;
use drystone_reactor::{Expectation, Handler};

/// Most pieces of a reply's body that wait to be taken.
const MOST_WAITING: usize = 8;

/// A request that was sent.
pub(super) struct Sent {
    pump: Waker,
    reply: RefCell<Option<Reply>>,
    /// The body, if it is taken in pieces.
    pieces: Option<RefCell<VecDeque<Piece>>>,
    expectation: Cell<Option<Expectation>>,
    way: RefCell<Option<Way>>,
}

/// A piece of a reply's body; `None`: its end.
pub(super) type Piece = Result<Option<Bytes>, String>;

/// What carries the request.
enum Way {
    Dial(#[expect(dead_code, reason = "dropped, it is given up")] Rc<StreamDial>),
    Connection(Handle),
}

/// Head and body, or why there are none. A body in pieces isn't there.
type Reply = Result<(Parts, Bytes), String>;

impl Sent {
    /// The reply, once.
    pub(super) fn reply(&self) -> Option<Reply> {
        self.reply.borrow_mut().take()
    }

    /// The next piece of the body.
    pub(super) fn piece(&self) -> Option<Piece> {
        let piece = self.pieces.as_ref()?.borrow_mut().pop_front()?;
        let task = match &*self.way.borrow() {
            Some(Way::Connection(task)) => Some(task.clone()),
            _ => None,
        };
        if let Some(task) = task {
            task.run();
        }
        Some(piece)
    }

    fn done(&self, reply: Reply) {
        *self.reply.borrow_mut() = Some(reply);
        self.end();
    }

    fn end(&self) {
        self.expectation.take();
        self.way.take();
        self.pump.wake();
    }

    /// The reply isn't needed any more: ends the request.
    pub(super) fn give_up(&self) {
        self.expectation.take();
        let way = self.way.take();
        if let Some(Way::Connection(task)) = way {
            task.end();
        }
    }

    /// Brings the body piece by piece, as they are taken.
    async fn bring(&self, head: Parts, mut body: Incoming, pieces: &RefCell<VecDeque<Piece>>) {
        *self.reply.borrow_mut() = Some(Ok((head, Bytes::new())));
        self.pump.wake();
        loop {
            let piece = match body.frame().await {
                None => Ok(None),
                Some(Err(error)) => Err(said(&error)),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => Ok(Some(data)),
                    Err(_) => continue,
                },
            };
            let has_room = || pieces.borrow().len() < MOST_WAITING;
            poll_fn(|_| if has_room() { Poll::Ready(()) } else { Poll::Pending }).await;
            let is_last = !matches!(piece, Ok(Some(_)));
            pieces.borrow_mut().push_back(piece);
            if is_last {
                return self.end();
            }
            self.pump.wake();
        }
    }
}

impl Handler for Sent {
    /// It takes too long, if it is still under way.
    fn ready(&self) {
        self.give_up();
    }
}

/// A service's connections.
pub(super) struct ClientConnections {
    pub(super) service: Rc<Service>,
    /// Connections without a request under way.
    idle: RefCell<Vec<Rc<ClientConnection>>>,
}

struct ClientConnection {
    connections: Weak<ClientConnections>,
    /// The next request.
    next: RefCell<Option<Job>>,
    task: RefCell<Option<Handle>>,
    is_over: Cell<bool>,
}

struct Job {
    request: Request<Full<Bytes>>,
    limit: usize,
    sent: Rc<Sent>,
}

impl ClientConnections {
    pub(super) fn new(service: Rc<Service>) -> Rc<ClientConnections> {
        Rc::new(ClientConnections { service, idle: RefCell::default() })
    }

    /// Sends a request, over a connection that is idle or a new one. The reply's body is taken as a whole, or else
    /// `in_pieces`.
    pub(super) fn send(
        self: &Rc<ClientConnections>,
        request: Result<Request<Full<Bytes>>, String>,
        in_pieces: bool,
        pump: Waker,
    ) -> Rc<Sent> {
        let expectation = Cell::new(Some(self.service.reactor.expect()));
        let pieces = in_pieces.then(RefCell::default);
        let sent =
            Rc::new(Sent { pump, reply: RefCell::default(), pieces, expectation, way: RefCell::default() });
        let limit = self.service.options.limit;
        match request {
            Ok(request) => self.begin(Job { request, limit, sent: sent.clone() }),
            Err(why) => sent.done(Err(why)),
        }
        sent
    }

    fn begin(self: &Rc<ClientConnections>, job: Job) {
        let idle =
            std::iter::from_fn(|| self.idle.borrow_mut().pop()).find(|connection| !connection.is_over.get());
        match idle {
            Some(connection) => connection.take(job),
            None => self.open(job),
        }
    }

    fn open(self: &Rc<ClientConnections>, job: Job) {
        let sent = job.sent.clone();
        let begin = {
            let connections = Rc::downgrade(self);
            move |io| match io {
                Ok(io) => ClientConnection::begin(connections, io, job),
                Err(why) => job.sent.done(Err(why)),
            }
        };
        let dial = self.service.dial(begin);
        *sent.way.borrow_mut() = Some(Way::Dial(dial));
    }
}

impl Drop for ClientConnections {
    fn drop(&mut self) {
        self.idle.take().iter().for_each(|connection| connection.hang_up());
    }
}

impl ClientConnection {
    /// Uses a connection that was made.
    fn begin(connections: Weak<ClientConnections>, io: Io, job: Job) {
        let connection = Rc::new(ClientConnection {
            connections,
            next: RefCell::new(Some(job)),
            task: RefCell::default(),
            is_over: Cell::default(),
        });
        Task::start(&io.reactor.clone(), io.socket.clone(), move |handle| {
            *connection.task.borrow_mut() = Some(handle.clone());
            async move {
                if let Err(error) = connection.work(io, &handle).await {
                    connection.fail(&said(&error));
                }
                connection.is_over.set(true);
            }
        });
    }

    fn take(&self, job: Job) {
        *self.next.borrow_mut() = Some(job);
        self.run();
    }

    fn run(&self) {
        let task = self.task.borrow().clone();
        if let Some(task) = task {
            task.run();
        }
    }

    /// Ends an idle connection.
    fn hang_up(&self) {
        self.is_over.set(true);
        self.run();
    }

    fn fail(&self, why: &str) {
        let job = self.next.borrow_mut().take();
        if let Some(job) = job {
            job.sent.done(Err(why.into()));
        }
    }

    async fn work(self: &Rc<ClientConnection>, io: Io, handle: &Handle) -> hyper::Result<()> {
        let (mut sender, driver) = handshake(io).await?;
        let connection = self.clone();
        handle.spawner.execute(async move {
            // A request under way gets the error, too.
            drop(driver.await);
            connection.is_over.set(true);
        });
        let mut is_new = true;
        while let Some(job) = poll_fn(|_| self.poll_next()).await {
            *job.sent.way.borrow_mut() = Some(Way::Connection(handle.clone()));
            let unsent = carry(&mut sender, job).await;
            if let (Some(job), Some(connections)) = (unsent, self.connections.upgrade()) {
                // The server may have closed a connection that was idle.
                self.is_over.set(true);
                match is_new {
                    true => job.sent.done(Err("the server has closed the connection".into())),
                    false => connections.begin(job),
                }
                break;
            }
            if sender.is_closed() {
                break;
            }
            is_new = false;
            if let Some(connections) = self.connections.upgrade() {
                connections.idle.borrow_mut().push(self.clone());
            }
        }
        Ok(())
    }

    fn poll_next(&self) -> Poll<Option<Job>> {
        match self.next.borrow_mut().take() {
            Some(job) => Poll::Ready(Some(job)),
            None if self.is_over.get() || self.connections.strong_count() == 0 => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

/// Carries a request out; it is returned if it could not be sent.
async fn carry(sender: &mut SendRequest<Full<Bytes>>, job: Job) -> Option<Job> {
    let Job { request, limit, sent } = job;
    match sender.try_send_request(request).await {
        Ok(response) => {
            let (head, body) = response.into_parts();
            if let Some(pieces) = &sent.pieces {
                sent.bring(head, body, pieces).await;
            } else {
                let body = Limited::new(body, limit).collect().await;
                let reply = body.map(|body| (head, body.to_bytes())).map_err(|error| error.to_string());
                sent.done(reply);
            }
            None
        }
        Err(mut error) => match error.take_message() {
            Some(request) => Some(Job { request, limit, sent }),
            None => {
                sent.done(Err(said(error.error())));
                None
            }
        },
    }
}

/// An error with its cause.
fn said(error: &hyper::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
