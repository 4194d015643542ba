//! Coalesces wake-ups of sessions: one signal for all that has come since a session last looked. A bell carries no
//! messages; the session looks for them by itself. All of it runs on one thread, but `async-nats` wants it `Send`.

use std::mem::take;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Wake;

use async_nats::Event;
use tokio::sync::Notify;

/// Why a connection is over, if no other reason is known.
pub(super) const CUT: &str = "the connection to NATS is cut";

/// The reactor's sources of the sessions whose bells have rung.
#[derive(Default)]
pub(super) struct News {
    sources: Mutex<Vec<usize>>,
    come: Notify,
}

impl News {
    fn add(&self, source: usize) {
        let sources = &mut *self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if !sources.contains(&source) {
            sources.push(source);
            self.come.notify_one();
        }
    }

    /// Those sources, once.
    pub(super) fn take(&self) -> Vec<usize> {
        take(&mut *self.sources.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until there are some. It may end while there are none.
    pub(super) async fn come(&self) {
        self.come.notified().await;
    }
}

/// Wakes a session, and keeps what is known of its connection.
pub(super) struct Bell {
    /// The session's source.
    source: usize,
    news: Arc<News>,
    /// Why the connection is over.
    failure: OnceLock<String>,
    /// The server's last complaint.
    complaint: Mutex<Option<String>>,
}

impl Bell {
    /// A bell for the session with that source.
    pub(super) fn new(source: usize, news: &Arc<News>) -> Arc<Bell> {
        let (failure, complaint) = Default::default();
        Arc::new(Bell { source, news: news.clone(), failure, complaint })
    }

    /// Wakes the session.
    pub(super) fn ring(&self) {
        self.news.add(self.source);
    }

    /// Why the connection is over, if it is.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }

    /// The server's last complaint, once.
    pub(super) fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Something has become of the connection.
    pub(super) fn tell(&self, event: &Event) {
        let why = match event {
            Event::Disconnected | Event::Closed => CUT.to_string(),
            Event::SlowConsumer(_) => "messages came faster than this program takes them".to_string(),
            Event::ServerError(error) => {
                let complaint = &mut *self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
                *complaint = Some(error.to_string());
                return;
            }
            _ => return,
        };
        self.failure.get_or_init(|| why);
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
