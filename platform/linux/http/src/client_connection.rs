//! Connections to an HTTP service, each of which carries one request after another.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use drystone_runtime::far::Waker;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::rt::Executor;
use hyper::{Request, StatusCode};

use super::io::Io;
use super::service::Service;
use super::task::{Handle, Task};
use drystone_net::stream_dial::StreamDial;
use drystone_reactor::{Expectation, Handler};

/// A request that was sent.
pub(super) struct Sent {
    pump: Waker,
    reply: RefCell<Option<Reply>>,
    expectation: Cell<Option<Expectation>>,
    way: Cell<Option<Way>>,
}

/// What carries the request.
enum Way {
    Dial(#[expect(dead_code, reason = "dropped, it is given up")] Rc<StreamDial>),
    Connection(Handle),
}

/// Status and body, or why there are none.
type Reply = Result<(StatusCode, Bytes), String>;

impl Sent {
    /// The reply, once.
    pub(super) fn reply(&self) -> Option<Reply> {
        self.reply.borrow_mut().take()
    }

    fn done(&self, reply: Reply) {
        *self.reply.borrow_mut() = Some(reply);
        self.expectation.take();
        self.way.take();
        self.pump.wake();
    }

    /// The reply isn't needed any more: ends the request.
    pub(super) fn give_up(&self) {
        self.expectation.take();
        if let Some(Way::Connection(task)) = self.way.take() {
            task.end();
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

    /// Sends a request, over a connection that is idle or a new one.
    pub(super) fn send(self: &Rc<ClientConnections>, name: &str, body: Bytes, pump: Waker) -> Rc<Sent> {
        let service = &self.service;
        let expectation = Cell::new(Some(service.reactor.expect()));
        let sent = Rc::new(Sent { pump, reply: RefCell::default(), expectation, way: Cell::default() });
        let request = match request(service, name, body) {
            Ok(request) => request,
            Err(error) => {
                sent.done(Err(error.to_string()));
                return sent;
            }
        };
        let job = Job { request, limit: service.options.limit, sent: sent.clone() };
        let idle =
            std::iter::from_fn(|| self.idle.borrow_mut().pop()).find(|connection| !connection.is_over.get());
        match idle {
            Some(connection) => connection.take(job),
            None => self.open(job),
        }
        sent
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
        sent.way.set(Some(Way::Dial(self.service.dial(begin))));
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
        while let Some(job) = poll_fn(|_| self.poll_next()).await {
            job.sent.way.set(Some(Way::Connection(handle.clone())));
            carry(&mut sender, job).await;
            if sender.is_closed() {
                break;
            }
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

async fn carry(sender: &mut SendRequest<Full<Bytes>>, job: Job) {
    let reply = async {
        let response = sender.send_request(job.request).await.map_err(|error| said(&error))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), job.limit).collect().await;
        Ok((status, body.map_err(|error| error.to_string())?.to_bytes()))
    };
    let reply = reply.await;
    job.sent.done(reply);
}

/// An error with its cause.
fn said(error: &hyper::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn request(service: &Service, name: &str, body: Bytes) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let mut request = Request::post(format!("{}/{name}", service.place.path));
    request = request.header(HOST, &service.authority).header(CONTENT_TYPE, "application/json");
    if let Some(token) = &service.options.token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    request.body(Full::new(body))
}
