//! The thread on which `async-nats` runs: a connection to NATS, and what can be asked of it. What comes and goes over it is
//! taken and put by the home thread itself, without a hop in between: [`Bell`] is what wakes that.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, Subscriber};
use tokio::runtime::{self, Runtime};
use tokio::sync::{mpsc, oneshot};

use super::access::Access;
use crate::reactor::Signal;
use crate::reason::reason;

/// How long one server may take to be reached, and all of them.
const TRY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(8);

/// How long it may take at the end to send what was said last.
const FAREWELL: Duration = Duration::from_secs(2);

/// Messages that wait for this program: more than all lines together are allowed to have on their way.
const WAITING: usize = 1 << 18;

/// Wakes the home thread, once for all that has come since it looked last.
pub(super) struct Bell {
    signal: Signal,
    is_rung: AtomicBool,
    /// Why the connection is over.
    failure: Mutex<Option<String>>,
    /// What the server has complained of last.
    complaint: Mutex<Option<String>>,
}

impl Bell {
    pub(super) fn new(signal: Signal) -> Arc<Bell> {
        let (is_rung, failure, complaint) = Default::default();
        Arc::new(Bell { signal, is_rung, failure, complaint })
    }

    pub(super) fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::AcqRel) {
            self.signal.tell();
        }
    }

    /// The home thread looks at all there is, after this.
    pub(super) fn hush(&self) {
        self.is_rung.store(false, Ordering::Release);
    }

    /// Why the connection is over, if it is.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the server has complained of, once.
    pub(super) fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn tell(&self, event: &Event) {
        let why = match event {
            Event::Disconnected | Event::Closed => "the connection to NATS is cut".to_string(),
            Event::SlowConsumer(_) => "messages came faster than this program takes them".to_string(),
            Event::ServerError(error) => {
                let complaint = &mut *self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
                *complaint = Some(error.to_string());
                return;
            }
            _ => return,
        };
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.ring();
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

/// Something that the engine does.
pub(super) struct Task<T>(Receiver<T>);

impl<T> Task<T> {
    /// What has come of it, once.
    pub(super) fn poll(&self) -> Option<Result<T, String>> {
        match self.0.try_recv() {
            Ok(result) => Some(Ok(result)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err("the connection to NATS is cut".to_string())),
        }
    }

    /// Waits for it.
    pub(super) fn wait(&self) -> Result<T, String> {
        self.0.recv_timeout(PATIENCE * 2).map_err(|error| match error {
            RecvTimeoutError::Timeout => "NATS doesn't answer".to_string(),
            RecvTimeoutError::Disconnected => "the connection to NATS is cut".to_string(),
        })
    }
}

/// See the head of this file. When it is dropped, the connection goes with its thread.
pub(super) struct Engine {
    runtime: runtime::Handle,
    bell: Arc<Bell>,
    /// Kept by what has still to be done at the end.
    busy: mpsc::Sender<()>,
    stop: oneshot::Sender<Option<Client>>,
    thread: JoinHandle<()>,
}

/// A connection.
pub(super) struct Connected {
    pub(super) client: Client,
    /// What comes for this program's own subjects.
    pub(super) inbox: Subscriber,
    /// What these begin with.
    pub(super) prefix: String,
}

impl Engine {
    /// Begins to connect.
    ///
    /// # Errors
    /// The system has no room for a thread.
    pub(super) fn start(
        access: Access,
        bell: &Arc<Bell>,
    ) -> Result<(Engine, Task<Result<Connected, String>>), String> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| reason(&error))?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let (busy, idle) = mpsc::channel(1);
        let thread = thread::Builder::new().name("nats".into()).spawn(move || run(&runtime, stopped, idle));
        let thread = thread.map_err(|error| reason(&error))?;
        let engine = Engine { runtime: handle, bell: bell.clone(), busy, stop, thread };
        let connecting = engine.begin(connect(access, bell.clone()));
        Ok((engine, connecting))
    }

    /// Lets it do something, and ring the bell when it is done.
    pub(super) fn begin<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Task<T> {
        let (sender, receiver) = sync_channel(1);
        let bell = self.bell.clone();
        self.runtime.spawn(async move {
            let _ = sender.send(work.await);
            // Before it rings, so that a result that never comes is seen, too.
            drop(sender);
            bell.ring();
        });
        Task(receiver)
    }

    /// While this is kept, there is something to come to an end before the engine does, if the time is enough.
    pub(super) fn busy(&self) -> mpsc::Sender<()> {
        self.busy.clone()
    }

    /// Ends it after what was said last has been sent, if the time is enough.
    pub(super) fn finish(self, client: Option<Client>) {
        let Engine { busy, stop, thread, .. } = self;
        drop(busy);
        let _ = stop.send(client);
        // It has nothing to tell, even if it has gone wrong.
        let _ = thread.join();
    }
}

fn run(runtime: &Runtime, stopped: oneshot::Receiver<Option<Client>>, mut idle: mpsc::Receiver<()>) {
    runtime.block_on(async {
        // An error: nobody wants it any more, and it has nothing to end in good order.
        let Ok(client) = stopped.await else { return };
        let farewell = async {
            while idle.recv().await.is_some() {}
            if let Some(client) = client {
                let _ = client.flush().await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    });
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
        Ok(Connected { client, inbox, prefix })
    };
    let connected = tokio::time::timeout(PATIENCE, connected).await;
    connected.unwrap_or_else(|_| Err("NATS doesn't answer".to_string()))
}
