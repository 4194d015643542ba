//! The NATS client: `async-nats` on a `tokio` runtime, on the home's thread. While there is an [`Engine`], `tokio`
//! sleeps in the kernel in place of the reactor, whose epoll it watches too. Tasks run while the program waits or
//! polls, and ring the [`Bell`] of the session that they concern. All sessions share the engine, which ends with the
//! last.

use std::cell::RefCell;
use std::future::Future;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Subscriber};
use futures_util::future::poll_fn;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::access::Access;
use super::bell::{Bell, CUT, News};
use drystone_reactor::reason;
use drystone_reactor::{Reactor, Sleeper};

/// How long a try to reach one server may take, and to reach any of them.
const TRY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(8);

/// How long it may take, when the program has ended, to send its last messages.
const FAREWELL: Duration = Duration::from_secs(2);

/// Most messages that wait in a subscription: more than all streams together may have on their way.
const WAITING: usize = 1 << 18;

/// A task of the engine.
pub(super) struct Task<T> {
    engine: Rc<Engine>,
    result: RefCell<oneshot::Receiver<T>>,
}

impl<T> Task<T> {
    /// Its result, once it is there.
    pub(super) fn poll(&self) -> Option<Result<T, String>> {
        match self.result.borrow_mut().try_recv() {
            Ok(result) => Some(Ok(result)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => Some(Err(CUT.to_string())),
        }
    }

    /// Blocks until its result is there.
    ///
    /// # Errors
    /// It takes too long, or the engine has ended.
    pub(super) fn wait(&self) -> Result<T, String> {
        let result = &mut *self.result.borrow_mut();
        match self.engine.runtime().block_on(async { timeout(PATIENCE * 2, result).await }) {
            Ok(result) => result.map_err(|_| CUT.to_string()),
            Err(_) => Err("NATS doesn't answer".to_string()),
        }
    }
}

/// Counts the tasks of a session that have to end before it does: each keeps a sender.
pub(super) struct Unfinished(mpsc::Sender<()>, mpsc::Receiver<()>);

impl Unfinished {
    /// For a task.
    pub(super) fn one(&self) -> mpsc::Sender<()> {
        self.0.clone()
    }

    async fn come_to_an_end(self) {
        let Unfinished(sender, mut receiver) = self;
        drop(sender);
        while receiver.recv().await.is_some() {}
    }
}

/// A connection that was just made.
pub(super) struct Connected {
    pub(super) client: Client,
    /// Messages to this program's own subjects.
    pub(super) inbox: Subscriber,
    /// The prefix of these subjects.
    pub(super) prefix: String,
    pub(super) unfinished: Unfinished,
}

/// The engine that all sessions share, while one of them needs it.
#[derive(Clone, Default)]
pub(super) struct Engines(Rc<RefCell<Weak<Engine>>>);

impl Engines {
    /// The engine; a new one if there is none.
    ///
    /// # Errors
    /// The system has no more file descriptors.
    pub(super) fn get(&self, reactor: &Rc<Reactor>) -> Result<Rc<Engine>, String> {
        let shared = &mut *self.0.borrow_mut();
        if let Some(engine) = shared.upgrade() {
            return Ok(engine);
        }
        let engine = Rc::new(Engine::new(reactor)?);
        *shared = Rc::downgrade(&engine);
        reactor.entrust(shared.clone());
        Ok(engine)
    }
}

/// See the head of this file.
pub(super) struct Engine {
    /// `None`: it ends.
    runtime: Option<Runtime>,
    reactor: AsyncFd<Epoll>,
    news: Arc<News>,
}

/// The reactor's epoll.
struct Epoll(Rc<Reactor>);

impl AsRawFd for Epoll {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Engine {
    fn new(reactor: &Rc<Reactor>) -> Result<Engine, String> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| reason(&error))?;
        let inside = runtime.enter();
        // SAFETY: the descriptor stays open and the same for as long as the reactor lives, which `Epoll` keeps.
        let reactor = unsafe { AsyncFd::register_with_interest(Epoll(reactor.clone()), Interest::READABLE) };
        let reactor = reactor.map_err(|error| reason(&error.into()))?;
        drop(inside);
        Ok(Engine { runtime: Some(runtime), reactor, news: Arc::default() })
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it hasn't ended")
    }

    /// A bell for the session with that source.
    pub(super) fn bell(&self, source: usize) -> Arc<Bell> {
        Bell::new(source, &self.news)
    }

    /// Begins to connect.
    pub(super) fn connect(
        self: &Rc<Self>,
        access: Access,
        bell: &Arc<Bell>,
    ) -> Task<Result<Connected, String>> {
        self.begin(bell, connect(access, bell.clone()))
    }

    /// Begins a task, which rings the bell when it is done.
    pub(super) fn begin<T: Send + 'static>(
        self: &Rc<Self>,
        bell: &Arc<Bell>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        let (sender, receiver) = oneshot::channel();
        let bell = bell.clone();
        self.runtime().spawn(async move {
            // The receiver may have been dropped.
            let _ = sender.send(work.await);
            bell.ring();
        });
        Task { engine: self.clone(), result: RefCell::new(receiver) }
    }

    /// Ends a connection when its last messages have been sent, or take too long.
    pub(super) fn finish(&self, client: &Client, unfinished: Unfinished) {
        let farewell = async {
            unfinished.come_to_an_end().await;
            let _ = client.flush().await;
        };
        // If they take too long there is nobody left to be told.
        let _ = self.runtime().block_on(async { timeout(FAREWELL, farewell).await });
    }

    /// Whether the reactor's epoll has events, once.
    fn calls_reactor(&self, context: &mut Context<'_>) -> bool {
        match self.reactor.poll_read_ready(context) {
            Poll::Ready(Ok(mut ready)) => {
                ready.clear_ready();
                true
            }
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }

    /// Runs the tasks that can go on, and polls the sockets.
    async fn turn(&self) {
        yield_now().await;
        // The reactor polls its epoll after this in any case.
        poll_fn(|context| Poll::Ready(self.calls_reactor(context))).await;
    }

    async fn sleep(&self) {
        let mut news = pin!(self.news.come());
        poll_fn(|context| match self.calls_reactor(context) {
            true => Poll::Ready(()),
            false => news.as_mut().poll(context),
        })
        .await;
    }
}

impl Sleeper for Engine {
    fn go_on(&self, limit: Option<Duration>) -> Vec<usize> {
        self.runtime().block_on(async {
            match limit {
                None => self.sleep().await,
                Some(Duration::ZERO) => self.turn().await,
                Some(limit) => timeout(limit, self.sleep()).await.unwrap_or_default(),
            }
        });
        self.news.take()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Without waiting for a host's look-up.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

async fn connect(access: Access, bell: Arc<Bell>) -> Result<Connected, String> {
    let options = ConnectOptions::new()
        .name("drystone")
        .connection_timeout(TRY)
        .subscription_capacity(WAITING)
        .event_callback(move |event| {
            bell.tell(&event);
            std::future::ready(())
        });
    let connected = async {
        let client = access.connect(options).await?;
        let prefix = client.new_inbox();
        let inbox = client.subscribe(format!("{prefix}.*")).await.map_err(|error| error.to_string())?;
        let (sender, receiver) = mpsc::channel(1);
        Ok(Connected { client, inbox, prefix, unfinished: Unfinished(sender, receiver) })
    };
    let connected = timeout(PATIENCE, connected).await;
    connected.unwrap_or_else(|_| Err("NATS doesn't answer".to_string()))
}
